"""Exact search for the trees that are most similar to a query."""
