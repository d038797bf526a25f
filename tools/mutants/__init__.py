"""Bugs made on purpose, to see whether the tests catch them."""
