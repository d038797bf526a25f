"""Filbert's tests."""
