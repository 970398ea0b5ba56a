"""Arbitrary arguments and broken files: a result or a VeilError, nothing else, and nothing charged."""
