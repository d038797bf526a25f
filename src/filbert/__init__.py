"""Filbert: learning from trees with tree kernels.

Names are imported when they are first used, so that ``import filbert`` and the help of the command
line take no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filbert.corpus.parts import Parts
    from filbert.corpus.sources import parts
    from filbert.examples import Examples
    from filbert.explanations.data import Explanation
    from filbert.explanations.explain import explain
    from filbert.forest import Forest
    from filbert.learners.embedding import DistributedTreeEmbedding
    from filbert.learners.fragments import FragmentVectorizer
    from filbert.learners.kernel_matrix import KernelMatrix
    from filbert.learners.logistic import TreeLogisticRegression
    from filbert.learners.pattern_vectorizer import PatternVectorizer
    from filbert.learners.perceptron import TreePerceptron
    from filbert.learners.ranker import TreeRanker
    from filbert.learners.svm import TreeSVC
    from filbert.learners.svm_search import TreeSVCCV
    from filbert.learners.svr import TreeSVR
    from filbert.learners.symbol_selection import SymbolSelector
    from filbert.learners.tree_features import TreeFeatures
    from filbert.merging import merge_streams
    from filbert.persist import inspect, load, save
    from filbert.read.escape import escape_label as escape
    from filbert.reading import read_examples
    from filbert.reading_trees import read_trees
    from filbert.search.index import TreeIndex
    from filbert.streaming import stream
    from filbert.streaming_trees import stream_trees
    from filbert.tree import Tree
    from filbert.writing import write_examples
    from filbert.writing_trees import write_trees

    __version__: str

# The module of each public name, and its name there if it is another: the imports above.
_HOMES = {
    "DistributedTreeEmbedding": "learners.embedding",
    "Examples": "examples",
    "Explanation": "explanations.data",
    "Forest": "forest",
    "FragmentVectorizer": "learners.fragments",
    "KernelMatrix": "learners.kernel_matrix",
    "Parts": "corpus.parts",
    "PatternVectorizer": "learners.pattern_vectorizer",
    "SymbolSelector": "learners.symbol_selection",
    "Tree": "tree",
    "TreeFeatures": "learners.tree_features",
    "TreeIndex": "search.index",
    "TreeLogisticRegression": "learners.logistic",
    "TreePerceptron": "learners.perceptron",
    "TreeRanker": "learners.ranker",
    "TreeSVC": "learners.svm",
    "TreeSVCCV": "learners.svm_search",
    "TreeSVR": "learners.svr",
    "escape": "read.escape:escape_label",
    "explain": "explanations.explain",
    "inspect": "persist",
    "load": "persist",
    "merge_streams": "merging",
    "parts": "corpus.sources",
    "read_examples": "reading",
    "read_trees": "reading_trees",
    "save": "persist",
    "stream": "streaming",
    "stream_trees": "streaming_trees",
    "write_examples": "writing",
    "write_trees": "writing_trees",
}
_MODULES = (
    "clones",
    "datasets",
    "errors",
    "explanations",
    "fragments",
    "kernels",
    "metrics",
    "persist",
    "testing",
    "transform",
)

__all__ = [
    "DistributedTreeEmbedding",
    "Examples",
    "Explanation",
    "Forest",
    "FragmentVectorizer",
    "KernelMatrix",
    "Parts",
    "PatternVectorizer",
    "SymbolSelector",
    "Tree",
    "TreeFeatures",
    "TreeIndex",
    "TreeLogisticRegression",
    "TreePerceptron",
    "TreeRanker",
    "TreeSVC",
    "TreeSVCCV",
    "TreeSVR",
    "__version__",
    "escape",
    "explain",
    "inspect",
    "load",
    "merge_streams",
    "parts",
    "read_examples",
    "read_trees",
    "save",
    "stream",
    "stream_trees",
    "write_examples",
    "write_trees",
]


def __getattr__(name: str) -> Any:
    """Import a public name or module, and keep it."""
    if name == "__version__":
        value: Any = import_module("importlib.metadata").version("filbert")
    elif name in _HOMES:
        module, _, own_name = _HOMES[name].partition(":")
        value = getattr(import_module(f"filbert.{module}"), own_name or name)
    elif name in _MODULES:
        return import_module(f"filbert.{name}")
    else:
        raise AttributeError(f"module 'filbert' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
