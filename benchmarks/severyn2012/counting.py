"""How often uSVM and SDAG call Delta, counted without computing any.

Delta is called for the pairs of nodes that have the same production (STK) or label (PTK): of a
sampled tree with each tree of each plane (uSVM), or with each distinct node of each plane (SDAG).
All strategies see the same samples and planes. So where one of them was run, the calls of these two
follow from how often each production occurs, however long they would take to run.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.severyn2012.training import Event
from filbert import Forest
from filbert.kernels import PartialTree, TreeKernel

Counts = NDArray[np.int64]


class DeltaCounter:
    """Counts along the events of a training."""

    def __init__(self, kernel: TreeKernel, X: Forest) -> None:
        arrays = X.to_arrays()
        begin = np.concatenate([[0], arrays["child_ends"]]).astype(np.int64)
        classes = _classes(kernel, arrays, begin)
        nodes = _occurrences(arrays, begin)
        has_delta = classes >= 0
        self.nodes = nodes[:, has_delta]  # trees by nodes
        self.classes = classes[has_delta]
        self.n_classes = int(classes.max()) + 1
        by_class = self.nodes @ _indicators(self.classes, self.n_classes)
        self.with_itself = np.asarray(by_class.multiply(by_class).sum(axis=1)).ravel()

    def calls(self, events: list[Event]) -> dict[str, Counts]:
        """Return the calls until the end of each iteration, by strategy."""
        usvm = sdag = 0
        totals: list[tuple[int, int]] = []
        planes: list[tuple[Counts, Counts]] = []  # by class: occurrences, distinct nodes
        for what, numbers in events:
            if what == "keep":
                planes = [planes[j] for j in numbers]
                continue
            occurrences, distinct = self._by_class(numbers)
            if what == "score":
                usvm += sum(int(occurrences @ plane) for plane, _ in planes)
                sdag += sum(int(occurrences @ plane) for _, plane in planes)
                totals.append((usvm, sdag))
            else:
                # A plane with itself: pairs of trees once, and each tree with itself.
                usvm += (int(occurrences @ occurrences) + int(self.with_itself[numbers].sum())) // 2
                sdag += int(occurrences @ distinct)
                planes.append((occurrences, distinct))
        return dict(zip(("usvm", "sdag"), np.array(totals, dtype=np.int64).T, strict=True))

    def _by_class(self, trees: NDArray[np.uint32]) -> tuple[Counts, Counts]:
        nodes = np.asarray(self.nodes[trees].sum(axis=0)).ravel()
        occurrences = np.bincount(self.classes, weights=nodes, minlength=self.n_classes)
        distinct = np.bincount(self.classes[nodes > 0], minlength=self.n_classes)
        return occurrences.astype(np.int64), distinct.astype(np.int64)


def _classes(kernel: TreeKernel, arrays: dict[str, NDArray[Any]], begin: Counts) -> Counts:
    """Return the production or label of each node, as a number; -1 where there is no Delta."""
    labels = arrays["node_labels"].astype(np.int64)
    if isinstance(kernel, PartialTree):
        return labels
    numbers: dict[tuple[int, ...], int] = {}
    classes = np.full(len(labels), -1)
    below = labels[arrays["children"]].tolist()
    for node, label in enumerate(labels.tolist()):
        children = below[begin[node] : begin[node + 1]]
        if children:
            classes[node] = numbers.setdefault((label, *children), len(numbers))
    return classes


def _occurrences(arrays: dict[str, NDArray[Any]], begin: Counts) -> sp.csr_array:
    """Return how often each tree has each node, going down all trees at once."""
    node = arrays["roots"].astype(np.int64)
    tree = np.arange(len(node))
    found: list[tuple[Counts, Counts]] = []
    while len(node):
        found.append((tree, node))
        n_children = begin[node + 1] - begin[node]
        ends = np.cumsum(n_children)
        step = np.arange(int(ends[-1])) - np.repeat(ends - n_children, n_children)
        place = np.repeat(begin[node], n_children) + step
        tree, node = np.repeat(tree, n_children), arrays["children"][place].astype(np.int64)
    trees, nodes = (np.concatenate(part) for part in zip(*found, strict=True))
    shape = (len(arrays["roots"]), len(begin) - 1)
    return sp.csr_array((np.ones(len(trees), dtype=np.int64), (trees, nodes)), shape=shape)


def _indicators(classes: Counts, n_classes: int) -> sp.csr_array:
    ones = np.ones(len(classes), dtype=np.int64)
    return sp.csr_array((ones, (np.arange(len(classes)), classes)), shape=(len(classes), n_classes))
