"""What a model has learnt and why it decides as it does, as plain data."""

from filbert.explain.data import Explanation
from filbert.explain.explain import explain

__all__ = ["Explanation", "explain"]
