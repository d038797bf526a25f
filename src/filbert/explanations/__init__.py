"""Explanations of models and their decisions, as plain data."""

from filbert.explanations.data import Explanation
from filbert.explanations.explain import explain

__all__ = ["Explanation", "explain"]
