"""Draw trees as text and as SVG."""
