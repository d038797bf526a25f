"""The sections of benchmarks/quality.py."""
