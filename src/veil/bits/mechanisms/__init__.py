"""Mechanisms on tables of bits."""
