"""Sections of the benchmark of losses, one file each."""
