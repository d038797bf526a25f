"""Questions and semantic roles, split as the paper splits them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.datasets import LABELLED
from benchmarks.measure import shared_data
from benchmarks.pighin2010 import paper
from filbert import Forest
from filbert.datasets import srl_boundary

Labels = NDArray[Any]

ROLES = {f"ARG{i}" for i in range(6)}
SEED = 0


@dataclass(frozen=True)
class Data:
    """What is learnt from, and what it is tested on."""

    X: Forest
    y: Labels
    X_test: Forest
    y_test: Labels

    def development(self) -> "Data":
        """Return one example in ten of the training set to test on, by class, and the others."""
        n = np.arange(len(self.y))
        fit, dev = train_test_split(n, test_size=0.1, stratify=self.y, random_state=SEED)
        return Data(self.X[fit], self.y[fit], self.X[dev], self.y[dev])

    def against_the_rest(self, label: str) -> "Data":
        """Return the problem of one class, which is True."""
        return Data(self.X, self.y == label, self.X_test, self.y_test == label)


def questions() -> Data:
    """Split all questions anew, as the paper does: the given test set is easier."""
    return random_split(SEED)


@cache
def random_split(seed: int) -> Data:
    labels, trees = zip(*LABELLED["qc const"](shared_data()), strict=True)
    X, y = Forest(trees), np.array(labels)
    n = np.arange(len(y))
    n_test = min(paper.N_TEST, len(y) // 4)  # fewer only in a quick run
    train, test = train_test_split(n, test_size=n_test, stratify=y, random_state=seed)
    return Data(X[train], y[train], X[test], y[test])


@cache
def given_questions() -> Data:
    """Take the split that is usual elsewhere."""
    labels, trees = zip(*LABELLED["qc const"](shared_data()), strict=True)
    X, y = Forest(trees), np.array(labels)
    n = len(y) - 500
    return Data(X[:n], y[:n], X[n:], y[n:])


@cache
def roles() -> Data:
    """Core roles of verbs' arguments, one example for each argument."""

    def part(name: str) -> tuple[Forest, Labels]:
        examples = srl_boundary(shared_data() / f"srl-ewt/{name}.jsonl.xz", rule="VC", task="role")
        core = ((label, tree) for label, tree in examples if label in ROLES)
        labels, trees = zip(*core, strict=True)
        return Forest(trees), np.array(labels)

    return Data(*part("train"), *part("test"))
