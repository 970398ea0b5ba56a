"""Computations for counted chains."""
