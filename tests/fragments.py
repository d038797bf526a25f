"""What the tests of fragments share: models for the core and for the reference."""

from collections.abc import Iterable, Sequence
from random import Random

import numpy as np
from hypothesis import strategies as st

from filbert import Forest
from filbert.fragments import Fragment
from filbert.kernels import PartialTree, TreeKernel
from filbert.model import SupportVectorModel
from tests.reference.mining import Model
from tests.reference.trees import Node, write
from tests.strategies import forests, subset_trees, tree_kernels

TOLERANCE = 1e-10

DECAYS = st.sampled_from([1.0, 0.4, 0.05]) | st.floats(0.05, 1.0)
SUBSET_TREES = subset_trees(DECAYS)
KERNELS = tree_kernels(DECAYS, 3)


def coefficients(rng: Random, n: int) -> list[float]:
    """Of both signs, now and then 0; never all."""
    values = [rng.gauss(0, 1) * (rng.random() < 0.9) for _ in range(n)]
    return values if any(values) else [1.0] * n


@st.composite
def models(
    draw: st.DrawFn,
    kernels: st.SearchStrategy[TreeKernel] = KERNELS,
    max_size: int = 6,
    max_nodes: int = 9,
) -> Model:
    """Small models. A tree may be there several times, with several coefficients."""
    kernel = draw(kernels)
    most = min(max_nodes, 7) if isinstance(kernel, PartialTree) else max_nodes
    trees = draw(forests(1, max_size, most))
    return Model(kernel, trees, coefficients(Random(draw(st.integers(0, 2**32))), len(trees)))


def filled(rng: Random) -> Node:
    """One shape with different leaves, so that what trees share cancels out and what is below not.

    Among random trees one in fifty shows that a greedy search is not complete; of these one in two.
    """

    def slot(label: str) -> Node:
        leaf = Node(rng.choice("xy"))
        return Node(label, (Node("D", (leaf,)) if rng.random() < 0.5 else leaf,))

    return Node("S", tuple(slot(label) for label in "ABC"[: rng.choice((2, 3, 3))]))


@st.composite
def alike_models(draw: st.DrawFn) -> Model:
    """Models of such trees."""
    kernel = draw(KERNELS)
    rng = Random(draw(st.integers(0, 2**32)))
    n = draw(st.integers(3, 5 if isinstance(kernel, PartialTree) else 8))
    return Model(kernel, [filled(rng) for _ in range(n)], coefficients(rng, n))


def forest_of(trees: Iterable[Node]) -> Forest:
    return Forest(map(write, trees))


def native(*models: Model) -> SupportVectorModel:
    """The same for the core; several have the same trees, and are one problem each."""
    coef = np.array([model.coef for model in models], dtype=float)
    first = models[0]
    return SupportVectorModel(first.kernel, forest_of(first.trees), coef, np.zeros(len(models)))


def node_of(fragment: Fragment) -> Node:
    """A fragment as the reference has it, which does not tell open nodes from leaves."""
    children: list[list[Node]] = [[] for _ in fragment.labels]
    for i in reversed(range(len(fragment.labels))):
        node = Node(fragment.labels[i], tuple(reversed(children[i])))
        if i > 0:
            children[fragment.parents[i]].append(node)
    return node


def nodes_of(fragments: Sequence[Fragment]) -> list[Node]:
    """Each of several fragments, which differ."""
    found = [node_of(fragment) for fragment in fragments]
    assert len(set(found)) == len(found), "a fragment was given twice"
    return found
