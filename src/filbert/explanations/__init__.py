"""What a model has learnt and why it decides as it does, as plain data."""

from filbert.explanations.data import Explanation
from filbert.explanations.explain import explain

__all__ = ["Explanation", "explain"]
