"""A kind of data that lives in the tests: one folder, and one line that registers it."""
