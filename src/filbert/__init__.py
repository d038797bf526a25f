"""Filbert: learning from trees with tree kernels."""

from importlib.metadata import version

from filbert.examples import Examples
from filbert.explanations import Explanation, explain
from filbert.forest import Forest
from filbert.learners.embedding import DistributedTreeEmbedding
from filbert.learners.fragments import FragmentVectorizer
from filbert.learners.perceptron import TreePerceptron
from filbert.learners.svm import TreeSVC
from filbert.learners.symbol_selection import SymbolSelector
from filbert.merging import merge_streams
from filbert.persist import load, save
from filbert.reading import read_examples, stream
from filbert.tree import Tree

__version__ = version("filbert")
__all__ = [
    "DistributedTreeEmbedding",
    "Examples",
    "Explanation",
    "Forest",
    "FragmentVectorizer",
    "SymbolSelector",
    "Tree",
    "TreePerceptron",
    "TreeSVC",
    "__version__",
    "explain",
    "load",
    "merge_streams",
    "read_examples",
    "save",
    "stream",
]
