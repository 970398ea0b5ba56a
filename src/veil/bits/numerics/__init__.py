"""Computations for tables of bits."""
