"""Questions (entities against others), documents and HTML (the largest class against others)."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import LABELLED, Labelled, column
from benchmarks.measure import shared_data
from filbert import Forest


def html_fragments(data: Path) -> Labelled:
    """Parts of HTML pages of 20 to 100 elements, by the program that wrote the page."""
    paths = [f"html-docs/fragment.{part}.tsv.xz" for part in ("train", "test")]
    return zip(column(paths, 1, data), column(paths, 2, data), strict=True)


SETS: dict[str, Callable[[Path], Labelled]] = {
    "questions": LABELLED["qc const"],  # words below a symbol TERM, as in the paper
    "documents": LABELLED["inex 2005"],
    "questions without TERM": LABELLED["qc const"],
    "HTML fragments": html_fragments,
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
    labels, texts = zip(*SETS[name](shared_data()), strict=True)
    if name == "questions":
        texts = tuple(re.sub(r" ([^\s()]+)", r" (TERM \1)", text) for text in texts)
    wanted = "ENTY" if name.startswith("questions") else Counter(labels).most_common(1)[0][0]
    return Forest(texts), np.array([int(label == wanted) for label in labels])


def parts(name: str, seed: int, n: int) -> Parts:
    """Return three times n trees at random."""
    forest, y = examples(name)
    order = np.random.default_rng(seed).permutation(len(forest))
    train, others = order[:n], order[n : 3 * n]
    return Parts(forest[train], y[train], forest[others], y[others])
