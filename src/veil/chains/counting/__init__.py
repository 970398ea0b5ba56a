"""Counting transitions where the data is."""
