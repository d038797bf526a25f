"""Questions (entities against all others) and documents (the largest class against all others)."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import LABELLED
from benchmarks.measure import shared_data
from filbert import Forest

SETS = {
    "questions": "qc const",  # words below a symbol TERM, as in the paper
    "documents": "inex 2005",
    "questions without TERM": "qc const",
}
N_PART = 1000  # trees of training, validation and test each
N_SPLITS = 5

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """Training data, and validation and test data one after the other, as many trees of each."""

    X: Forest
    y: Labels
    X_others: Forest
    y_others: Labels


@cache
def examples(name: str) -> tuple[Forest, Labels]:
    """Return all trees, and 1 for those of the class."""
    labels, texts = zip(*LABELLED[SETS[name]](shared_data()), strict=True)
    if name == "questions":
        texts = tuple(re.sub(r" ([^\s()]+)", r" (TERM \1)", text) for text in texts)
    wanted = Counter(labels).most_common(1)[0][0] if name == "documents" else "ENTY"
    return Forest(texts), np.array([int(label == wanted) for label in labels])


def parts(name: str, seed: int, n: int) -> Parts:
    """Return three times n trees at random."""
    forest, y = examples(name)
    order = np.random.default_rng(seed).permutation(len(forest))
    train, others = order[:n], order[n : 3 * n]
    return Parts(forest[train], y[train], forest[others], y[others])
