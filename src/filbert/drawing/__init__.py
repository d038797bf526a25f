"""Trees to look at: as text with lines, and as SVG."""
