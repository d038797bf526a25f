"""Random kernel expressions, and examples to evaluate them on."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from filbert import Examples, Forest, kernels
from filbert.kernels import (
    RBF,
    AllPairs,
    EachPart,
    Kernel,
    Linear,
    PartialTree,
    Polynomial,
    Preference,
    Sequence,
    SubsetTree,
    Subtree,
)
from tests.reference.expressions import Parts
from tests.reference.trees import write
from tests.strategies import forests

TREES = ("text", "hypothesis")
VECTORS = ("dense", "sparse")
N_FEATURES = 4

_decays = st.sampled_from([0.1, 0.4, 0.9, 1.0])
_some = st.sampled_from([0.25, 0.5, 1.0])


def tree_kernels() -> st.SearchStrategy[Kernel]:
    """Kernels of trees, on no part yet."""
    flag = st.booleans()
    return st.one_of(
        st.builds(Subtree, _decays, normalize=flag),
        st.builds(SubsetTree, _decays, include_leaves=flag, normalize=flag),
        st.builds(
            PartialTree, _decays, _decays, penalty=st.sampled_from(["span", "gaps"]), normalize=flag
        ),
        st.builds(
            Sequence,
            _decays,
            length=st.sampled_from([None, 1, 2, 3]),
            of=st.sampled_from(["leaves", "preorder"]),
            normalize=flag,
        ),
    )


def vector_kernels() -> st.SearchStrategy[Kernel]:
    """Kernels of vectors, on no part yet."""
    flag = st.booleans()
    return st.one_of(
        st.builds(Linear, normalize=flag),
        st.builds(
            Polynomial,
            st.integers(1, 3),
            coef0=st.sampled_from([0.0, 0.5, 1]),
            gamma=_some,
            normalize=flag,
        ),
        st.builds(RBF, _some),
    )


def _over_parts(kernel: st.SearchStrategy[Kernel], parts: tuple[str, ...]) -> Any:
    return st.one_of(
        st.builds(lambda k, part: k.on(part), kernel, st.sampled_from(parts)),
        st.builds(EachPart, kernel, st.just(parts)),
        st.builds(AllPairs, kernel, st.just(parts), st.sampled_from([None, (1.0, 0.5)])),
    )


def plain_kernels() -> st.SearchStrategy[Kernel]:
    """Kernels of parts, not yet combined."""
    return _over_parts(tree_kernels(), TREES) | _over_parts(vector_kernels(), VECTORS)


def signed_kernels() -> st.SearchStrategy[Kernel]:
    """Kernels in which parts cancel out."""
    both = st.tuples(tree_kernels(), st.just(TREES)) | st.tuples(vector_kernels(), st.just(VECTORS))
    weights = st.tuples(st.sampled_from([-1.0, -0.5]), st.just(1.0))
    return st.builds(lambda pair: Preference(*pair), both) | st.builds(
        lambda pair, c: AllPairs(*pair, c), both, weights
    )


def expressions() -> st.SearchStrategy[Kernel]:
    """All operators, over kernels of two parts of trees and two of features."""

    def grown(kernel: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
        return st.one_of(
            _combined(kernel),
            st.builds(lambda k: k.normalized(), kernel),
            st.builds(kernels.Normalized, kernel),
        )

    # What cancels out has values of which only rounding is left: not to be divided by.
    whole = st.recursive(plain_kernels(), grown, max_leaves=5)
    return st.recursive(whole | signed_kernels(), _combined, max_leaves=2)


def _combined(kernel: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    return st.one_of(
        st.builds(lambda a, b: a + b, kernel, kernel),
        st.builds(lambda a, b: a * b, kernel, kernel),
        st.builds(lambda c, k: c * k, st.sampled_from([0, 0.5, 3]), kernel),
        st.builds(lambda k, p: k**p, kernel, st.integers(1, 3)),
        st.builds(lambda k, c: k + c, kernel, st.sampled_from([0, 1.5])),
        st.builds(lambda c, k: c + k, st.sampled_from([0, 2]), kernel),
    )


@st.composite
def parts(draw: st.DrawFn, max_size: int = 4) -> Parts:
    """Examples for the reference: trees, and features that are not negative and often 0."""
    n = draw(st.integers(1, max_size))
    vector = st.lists(st.sampled_from([0.0, 0.0, 1.0, 0.5, 3.0]), min_size=4, max_size=4)
    both = draw(forests(2 * n, 2 * n, max_nodes=7))  # one alphabet, and near-duplicates across
    return {
        "text": both[:n],
        "hypothesis": both[n:],
        "dense": draw(st.lists(vector, min_size=n, max_size=n)),
        "sparse": draw(st.lists(vector, min_size=n, max_size=n)),
    }


def as_examples(X: Parts) -> Examples:
    """The same for Filbert."""
    return Examples(
        text=Forest(map(write, X["text"])),
        hypothesis=Forest(map(write, X["hypothesis"])),
        dense=np.array(X["dense"]),
        sparse=sp.csr_array(np.array(X["sparse"])),
    )


def unsigned(kernel: Any) -> Any:
    """The same expression with all that is subtracted added: how much rounding may matter."""
    if isinstance(kernel, Preference):
        return AllPairs(kernel.kernel, kernel.parts)
    if isinstance(kernel, AllPairs) and kernel.weights is not None:
        return AllPairs(kernel.kernel, kernel.parts, tuple(map(abs, kernel.weights)))
    inner = kernel.get_params(deep=False)
    kernels_within = {k: unsigned(v) for k, v in inner.items() if isinstance(v, Kernel)}
    return type(kernel)(**{**inner, **kernels_within})
