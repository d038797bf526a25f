"""Explanations to look at: a self-contained HTML file, a notebook's output, text."""
