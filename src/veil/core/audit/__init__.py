"""Attacks on one's own mechanisms, on made-up neighbours."""
