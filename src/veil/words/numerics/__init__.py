"""The numerics of words: graphs, tables, counts, certificates, balanced weights."""
