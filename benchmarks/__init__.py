"""Scripts that measure what Filbert claims: each writes its figures to benchmarks/results/."""
