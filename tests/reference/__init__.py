"""Slow, plain programs that the fast ones have to agree with; none of them uses Filbert."""
