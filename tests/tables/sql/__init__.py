"""Tests of queries that users give as text."""
