"""Synthetic sequences from a released chain."""
