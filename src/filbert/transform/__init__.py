"""Transformers that clean up trees before learning, also in a scikit-learn Pipeline.

Each takes what learners take as X and returns a :class:`~filbert.Forest`, or
:class:`~filbert.Examples` for Examples. Nothing is learnt, and rows stay aligned. A distinct
subtree is rewritten once, however many trees contain it.

>>> from sklearn.pipeline import make_pipeline
>>> clean = make_pipeline(StripEmpties(), StripFunctionTags(), LowerCaseLeaves())
>>> clean.transform(["(S (NP-SBJ (NNP Kim)) (VP (VBD slept) (NP-TMP (-NONE- *))))"])[0]
<Tree (S (NP (NNP kim)) (VP (VBD slept)))>
"""

from filbert.transform.binary import Binarise, Unbinarise
from filbert.transform.cut import CutBelow, CutDepth, DropWords
from filbert.transform.drop import DropLabels, StripEmpties
from filbert.transform.labels import LowerCaseLeaves, MapLabels, MapLeaves, StripFunctionTags
from filbert.transform.mark import MarkNodes
from filbert.transform.mark_path import MarkPath
from filbert.transform.order import SortChildren
from filbert.transform.unary import CollapseUnary, ExpandUnary

__all__ = [
    "Binarise",
    "CollapseUnary",
    "CutBelow",
    "CutDepth",
    "DropLabels",
    "DropWords",
    "ExpandUnary",
    "LowerCaseLeaves",
    "MapLabels",
    "MapLeaves",
    "MarkNodes",
    "MarkPath",
    "SortChildren",
    "StripEmpties",
    "StripFunctionTags",
    "Unbinarise",
]
