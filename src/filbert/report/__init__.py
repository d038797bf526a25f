"""Show explanations: as a self-contained HTML file, in notebooks, as text."""
