"""Mechanisms on counted transitions."""
