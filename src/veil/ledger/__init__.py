"""Budgets of datasets, kept in a database."""
