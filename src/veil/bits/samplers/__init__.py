"""Samplers of bits."""
