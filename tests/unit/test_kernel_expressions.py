"""Every kernel expression is what the same expression gives on dense arrays."""

import numpy as np
from hypothesis import assume, given
from sklearn.base import clone

from filbert import kernels
from filbert.kernels import Kernel
from tests.kernel_expressions import as_examples, expressions, parts, unsigned
from tests.profiles import n_examples
from tests.reference.expressions import Array, Parts, evaluate

SLOW = n_examples(150)
RANGE = 1e250  # the reference multiplies doubles


def sizes(kernel: Kernel, X: Parts, Y: Parts) -> Array:
    """How large the numbers are that are added and subtracted; within range."""
    found = evaluate(unsigned(kernel), X, Y)
    assume(np.isfinite(found).all() and found.max(initial=0) < RANGE)
    assume(found[found > 0].min(initial=1) > 1 / RANGE)
    return found


@SLOW
@given(expressions(), parts(), parts())
def test_the_matrix_of_two_sets(kernel: Kernel, X: Parts, Y: Parts) -> None:
    errors = np.abs(kernel(as_examples(X), as_examples(Y)) - evaluate(kernel, X, Y))
    assert (errors <= 1e-10 * sizes(kernel, X, Y)).all()


@SLOW
@given(expressions(), parts())
def test_the_matrix_of_one_set(kernel: Kernel, X: Parts) -> None:
    values = kernel(as_examples(X))
    allowed = 1e-10 * sizes(kernel, X, X)
    assert (np.abs(values - evaluate(kernel, X, X)) <= allowed).all()
    assert (np.abs(values - values.T) <= allowed).all()
    assert (np.abs(values.diagonal() - kernel.diag(as_examples(X))) <= allowed.diagonal()).all()
    # Positive semi-definite, with all examples of the same size.
    scale = np.sqrt(np.maximum(sizes(kernel, X, X).diagonal(), 1e-100))
    assert np.linalg.eigvalsh(values / np.outer(scale, scale)).min() > -1e-9


@SLOW
@given(expressions(), expressions())
def test_kernels_are_values(kernel: Kernel, other: Kernel) -> None:
    for same in (clone(kernel), eval(repr(kernel), vars(kernels).copy())):
        assert same == kernel
        assert hash(same) == hash(kernel)
        assert repr(same) == repr(kernel)
    assert (kernel == other) == (repr(kernel) == repr(other))
    assert kernel.set_params() is kernel
    assert clone(kernel).get_params().keys() == kernel.get_params().keys()
