"""Error bars for chains that were counted."""
