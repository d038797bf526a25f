"""Questions (entities against all others) and documents (the largest class against all others)."""

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import LABELLED
from benchmarks.measure import shared_data
from filbert import Forest

SETS = {"questions": "qc const", "documents": "inex 2005"}
N_PART = 1000  # trees of training, validation and test each
N_SPLITS = 5

Labels = NDArray[np.int64]


@cache
def examples(name: str) -> tuple[Forest, Labels]:
    """Return all trees, and 1 for those of the class."""
    labels, texts = zip(*LABELLED[SETS[name]](shared_data()), strict=True)
    wanted = Counter(labels).most_common(1)[0][0] if name == "documents" else "ENTY"
    if wanted not in labels:
        raise SystemExit(f"{SETS[name]} has no class {wanted}, but {sorted(set(labels))[:10]}")
    return Forest(texts), np.array([int(label == wanted) for label in labels])


def parts(name: str, seed: int, n: int) -> list[tuple[Any, Labels]]:
    """Return training, validation and test data of n trees each, at random."""
    forest, y = examples(name)
    order = np.random.default_rng(seed).permutation(len(forest))
    return [(forest[order[i * n : (i + 1) * n]], y[order[i * n : (i + 1) * n]]) for i in range(3)]
