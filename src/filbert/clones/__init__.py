"""Clone classes: groups of equal or similar trees, subtrees that are repeated, and differences."""

from filbert.clones.alignment import Alignment, Side, align
from filbert.clones.classes import CloneClass, clone_classes
from filbert.clones.page import clones_to_html
from filbert.clones.pairs import similar_pairs
from filbert.clones.shared import shared_fragment
from filbert.clones.subtrees import RepeatedSubtree, repeated_subtrees

__all__ = [
    "Alignment",
    "CloneClass",
    "RepeatedSubtree",
    "Side",
    "align",
    "clone_classes",
    "clones_to_html",
    "repeated_subtrees",
    "shared_fragment",
    "similar_pairs",
]
