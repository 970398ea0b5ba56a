"""Where a table lives, and how one query is run there."""
