"""Graphs as sets of numbered pairs of nodes, and the mathematics on them."""
