"""Clone classes: groups of equal or similar trees, and subtrees that are repeated."""

from filbert.clones.classes import CloneClass, clone_classes
from filbert.clones.pairs import similar_pairs
from filbert.clones.shared import shared_fragment
from filbert.clones.subtrees import RepeatedSubtree, repeated_subtrees

__all__ = [
    "CloneClass",
    "RepeatedSubtree",
    "clone_classes",
    "repeated_subtrees",
    "shared_fragment",
    "similar_pairs",
]
