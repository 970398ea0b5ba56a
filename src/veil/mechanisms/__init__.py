"""One file a mechanism, its proof in a .md beside it."""
