"""Fragments: the pieces of trees that a kernel counts, and the most important ones of a model."""

from filbert.fragments.data import Fragment, Fragments
from filbert.fragments.mined import Criterion, MinedFragments
from filbert.fragments.mining import mine, weight_norm
from filbert.fragments.rules import Search, check_rules

__all__ = [
    "Criterion",
    "Fragment",
    "Fragments",
    "MinedFragments",
    "Search",
    "check_rules",
    "mine",
    "weight_norm",
]
