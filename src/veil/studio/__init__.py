"""The workbench in the browser: from a table to a private release, without writing code."""
