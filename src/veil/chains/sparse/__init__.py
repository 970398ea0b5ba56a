"""Chains of many states: tables of counts of which only the large cells are drawn and kept."""
