"""What the faults are tried on: small data, and every learner."""

import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from filbert import (
    DistributedTreeEmbedding,
    Forest,
    FragmentVectorizer,
    KernelMatrix,
    SymbolSelector,
    TreeFeatures,
    TreeLogisticRegression,
    TreePerceptron,
    TreeRanker,
    TreeSVC,
    TreeSVR,
    save,
)
from filbert.kernels import PartialTree, SubsetTree, Subtree

# How each learner is made. The planes are learners of their own, and so are the perceptron's ways.
LEARNERS: dict[str, Callable[[], Any]] = {
    "TreeSVC": lambda: TreeSVC(random_state=0),
    "TreeSVC of partial trees": lambda: TreeSVC(PartialTree(), random_state=0),
    "TreeSVC on rows": lambda: TreeSVC(PartialTree(), engine="rows", random_state=0),
    "TreeSVC of a sum": lambda: TreeSVC(SubsetTree() + Subtree(), random_state=0),
    "TreeSVC by usvm": lambda: TreeSVC(strategy="usvm", random_state=0),
    "TreeSVC by sdag": lambda: TreeSVC(strategy="sdag", random_state=0),
    "TreeSVC by sdag+": lambda: TreeSVC(strategy="sdag+", random_state=0),
    "TreeLogisticRegression": lambda: TreeLogisticRegression(random_state=0),
    "TreeSVR": lambda: TreeSVR(random_state=0),
    "TreeRanker": lambda: TreeRanker(random_state=0),
    "TreePerceptron by factors": lambda: TreePerceptron(n_epochs=3),
    "TreePerceptron online": lambda: TreePerceptron(engine="online", n_epochs=3),
    "TreePerceptron that forgets": lambda: TreePerceptron(max_nodes=60, n_epochs=3),
    "FragmentVectorizer": lambda: FragmentVectorizer(TreeSVC(random_state=0), min_frequency=1),
    "SymbolSelector": lambda: SymbolSelector(n_symbols=2),
    "DistributedTreeEmbedding": lambda: DistributedTreeEmbedding(64, random_state=0),
    "TreeFeatures": TreeFeatures,
    "KernelMatrix": KernelMatrix,
}


def random_trees(n: int, depth: int = 3, seed: int = 0) -> list[str]:
    """Return bracketed trees of few labels."""
    rng = Random(seed)

    def tree(depth: int) -> str:
        label = rng.choice("abcd")
        if depth == 0 or rng.random() < 0.2:
            return f"({label} {rng.choice('uvwx')})"
        return f"({label} {' '.join(tree(depth - 1) for _ in range(rng.randint(1, 3)))})"

    return [tree(depth) for _ in range(n)]


def data(n: int, depth: int = 3, seed: int = 0) -> tuple[Forest, np.ndarray[Any, Any]]:
    """Return trees with labels that depend on them, up to some noise."""
    texts = random_trees(n, depth, seed)
    rng = np.random.default_rng(seed)
    y = np.array([text.count("a") > text.count("b") for text in texts]).astype(int)
    return Forest(texts), np.where(rng.random(n) < 0.1, 1 - y, y)


def fitted(name: str, X: Forest, y: Any, n_jobs: int | None = 1) -> Any:
    """Return a learner that was trained."""
    learner = LEARNERS[name]()
    if "n_jobs" in learner.get_params(deep=False):
        learner.set_params(n_jobs=n_jobs)
    return trained(learner, X, y)


def trained(learner: Any, X: Forest, y: Any) -> Any:
    """Train a learner, a ranker on two groups of examples."""
    if isinstance(learner, TreeRanker):
        return learner.fit(X, y, group=np.arange(len(X)) % 2)
    return learner.fit(X, y)


def values_of(learner: Any, X: Forest) -> Any:
    """Return what a trained learner says of trees."""
    for method in ("decision_function", "predict", "transform"):
        if hasattr(learner, method):
            values = getattr(learner, method)(X)
            return values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    return learner.kernel_(X)  # of a SymbolSelector


def same_values(a: Any, b: Any, X: Forest) -> bool:
    """Whether two learners say the same of trees to the last bit; for trees, of their texts."""
    ours, theirs = values_of(a, X), values_of(b, X)
    if ours.dtype == object:
        return [str(value) for value in ours] == [str(value) for value in theirs]
    return bool(np.array_equal(ours, theirs))


def bytes_of(model: Any) -> bytes:
    """Return the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.filbert"
        save(model, path)
        return path.read_bytes()


def digest(model: Any) -> str:
    """Return a hash of a model's file."""
    return sha256(bytes_of(model)).hexdigest()
