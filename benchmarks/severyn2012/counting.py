"""How often the strategies call Delta, counted without computing any.

Delta is called for the pairs of nodes that have the same production (STK) or label (PTK): of a
sampled tree with each tree of each plane (uSVM), with each distinct node of each plane (SDAG), or
with each distinct node of all planes (SDAG+, which also has to call it for each new plane). All see
the same samples and planes. So where these are known, the calls follow from how often each
production occurs, however long they would take.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.severyn2012.training import Event
from filbert import Forest
from filbert.kernels import PartialTree, TreeKernel

Counts = NDArray[np.int64]

N_PARTS = 16  # of a new plane, see core/learn/plane_store.cpp


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
        usvm = sdag = sdag_plus = 0
        totals: list[tuple[int, int, int]] = []
        planes: list[tuple[Counts, Counts, Counts]] = []  # by class: occurrences, distinct; nodes
        n_planes_with = np.zeros(len(self.classes), dtype=np.int64)  # by node
        for what, numbers in events:
            if what == "keep":
                planes = [planes[j] for j in numbers]
                n_planes_with[:] = 0
                for _, _, nodes in planes:
                    n_planes_with[nodes] += 1
                continue
            occurrences, distinct, nodes = self._by_class(numbers)
            if what == "score":
                usvm += sum(int(occurrences @ plane) for plane, _, _ in planes)
                sdag += sum(int(occurrences @ plane) for _, plane, _ in planes)
                sdag_plus += int(occurrences @ self._distinct(n_planes_with))
                totals.append((usvm, sdag, sdag_plus))
                continue
            # A plane with itself: pairs of trees once, and each tree with itself.
            usvm += (int(occurrences @ occurrences) + int(self.with_itself[numbers].sum())) // 2
            sdag += int(occurrences @ distinct)
            planes.append((occurrences, distinct, nodes))
            n_planes_with[nodes] += 1
            # The new plane with all: a few parts, each a DAG, with the DAG of all planes.
            for part in _parts(numbers):
                sdag_plus += int(self._by_class(part)[1] @ self._distinct(n_planes_with))
        names = ("usvm", "sdag", "sdag+")
        return dict(zip(names, np.array(totals, dtype=np.int64).T, strict=True))

    def _distinct(self, n_planes_with: Counts) -> Counts:
        counted = np.bincount(self.classes[n_planes_with > 0], minlength=self.n_classes)
        return counted.astype(np.int64)

    def _by_class(self, trees: NDArray[np.uint32]) -> tuple[Counts, Counts, Counts]:
        """Return by class all nodes of some trees and distinct ones, and the latter themselves."""
        counts = np.asarray(self.nodes[trees].sum(axis=0)).ravel()
        occurrences = np.bincount(self.classes, weights=counts, minlength=self.n_classes)
        nodes = np.flatnonzero(counts)
        distinct = np.bincount(self.classes[nodes], minlength=self.n_classes)
        return occurrences.astype(np.int64), distinct.astype(np.int64), nodes


def _parts(trees: NDArray[np.uint32]) -> list[NDArray[np.uint32]]:
    n_parts = min(N_PARTS, len(trees))
    ends = np.arange(n_parts + 1) * len(trees) // max(1, n_parts)
    return [trees[a:b] for a, b in pairwise(ends)]


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
