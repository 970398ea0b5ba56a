"""Queries that users give as text: one SELECT and nothing else, and which of them work row by row."""
