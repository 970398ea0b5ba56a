"""The counts of a hostile review, made again by independent means: nothing may lie above what is claimed.

Each study compares what Veil charges with a truth that is found without Veil's own reductions: closed forms
in ball arithmetic, exact convolutions, enumeration, databases that are edited row by row. `make evidence`
runs them at the review's numbers, `make test` a small part of each.
"""
