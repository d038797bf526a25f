"""Fragments: the pieces of trees that a kernel counts, and the most important ones of a model."""

from filbert.fragments.data import Fragment, Fragments
from filbert.fragments.mined import Criterion, MinedFragments
from filbert.fragments.mining import mine, weight_norm
from filbert.fragments.recurring import (
    RecurringFragments,
    iter_recurring_fragments,
    recurring_fragments,
)
from filbert.fragments.rules import Search, check_rules

__all__ = [
    "Criterion",
    "Fragment",
    "Fragments",
    "MinedFragments",
    "RecurringFragments",
    "Search",
    "check_rules",
    "iter_recurring_fragments",
    "mine",
    "recurring_fragments",
    "weight_norm",
]
