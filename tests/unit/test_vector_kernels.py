"""Kernels of vectors: dense and sparse alike; errors tell the place in a bad matrix."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from filbert import Examples
from filbert.errors import InvalidParameterError, KernelOverflowError
from filbert.kernels import RBF, Linear, Polynomial, VectorKernel, matrices

Array = np.ndarray[Any, Any]
KERNELS = [
    Linear(),
    Linear(normalize=False),
    Polynomial(3),
    Polynomial(2, coef0=0, gamma=0.5, normalize=False),
    RBF(0.3),
]
SPARSE = [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array]


def matrix(seed: int, n: int = 7, columns: int = 5) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)) * (rng.random((n, columns)) < 0.5)
    X[2] = 0
    return X


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_sparse_is_dense(kernel: VectorKernel) -> None:
    A, B = matrix(0), matrix(1, n=4)
    for make in SPARSE:
        np.testing.assert_allclose(kernel(make(A)), kernel(A), atol=1e-14)
        np.testing.assert_allclose(kernel(make(A), make(B)), kernel(A, B), atol=1e-14)
        np.testing.assert_allclose(kernel(make(A), B), kernel(A, B), atol=1e-14)
        np.testing.assert_allclose(kernel(A, make(B)), kernel(A, B), atol=1e-14)
        np.testing.assert_allclose(kernel.diag(make(A)), kernel(A).diagonal(), atol=1e-14)


def test_values_are_scikit_learns() -> None:
    A, B = matrix(0), matrix(1)
    np.testing.assert_allclose(
        Polynomial(3, gamma=0.5, coef0=2, normalize=False)(A, B),
        polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=2),
    )
    np.testing.assert_allclose(RBF(0.7)(A, B), rbf_kernel(A, B, gamma=0.7))
    np.testing.assert_allclose(Linear(normalize=False)(A, B), A @ B.T)


def test_what_else_is_a_matrix() -> None:
    A = np.array([[1, 2], [0, 1]])
    expected = A @ A.T
    for same in (
        A.tolist(),
        A.astype(np.float32),
        A.astype(object),
        sp.csr_array(A),
        A[::-1][::-1],
    ):
        assert Linear(normalize=False)(same).tolist() == expected.tolist()
    assert Linear(normalize=False)(A > 0).tolist() == [[2.0, 1.0], [1.0, 1.0]]
    assert Linear()(np.empty((0, 3))).shape == (0, 0)
    assert Linear()(np.empty((2, 0))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert RBF()(sp.csr_array((2, 0))).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_entries_that_are_given_twice_are_added() -> None:
    twice = sp.csr_array(([1.0, 2.0, 5.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel(twice), kernel(np.array([[3.0, 0.0], [0.0, 5.0]])))
    assert twice.nnz == 3  # what was given is left as it was


def test_the_input_is_not_changed() -> None:
    A = matrix(0)
    for given in (A.copy(), sp.csr_array(A)):
        before = given.copy()
        for kernel in KERNELS:
            kernel(given)
            kernel.diag(given)
        assert abs(given - before).sum() == 0


def test_numbers_of_features_may_be_large() -> None:
    """As hashes are: neither memory nor time grows with the number of columns."""
    n = 2**40
    A = sp.csr_array(([1.0, 2.0, 3.0], [5, n - 1, 5], [0, 2, 3]), shape=(2, n))
    B = sp.csr_array(([4.0], [5], [0, 1]), shape=(1, 6))  # narrower: the rest are zeros
    assert Linear(normalize=False)(A).tolist() == [[5.0, 3.0], [3.0, 9.0]]
    assert Linear(normalize=False)(A, B).tolist() == [[4.0], [12.0]]
    assert Polynomial(2, normalize=False)(B, A).tolist() == [[25.0, 169.0]]
    assert RBF(0.1)(A, A).diagonal().tolist() == [1.0, 1.0]


def test_many_rows_in_blocks() -> None:
    A = sp.csr_array(sp.random(3000, 50, density=0.05, random_state=0))
    values = Linear(normalize=False)(A)  # 72 MB, in two blocks
    np.testing.assert_allclose(values[[0, 1499, 2999]], (A[[0, 1499, 2999]] @ A.T).toarray())


def test_normalised_values_do_not_overflow() -> None:
    X = np.array([[1e30, 0.0], [1e30, 1e30]])
    np.testing.assert_allclose(Polynomial(100)(X)[0, 1], 0.5**50)
    assert Polynomial(100).diag(X).tolist() == [1.0, 1.0]
    for kernel in (Polynomial(100, normalize=False), Linear(normalize=False)):
        for compute in (kernel, kernel.diag):
            with pytest.raises(KernelOverflowError, match=r"beyond the range .* scale features"):
                compute(X * 1e130)
    with pytest.raises(KernelOverflowError):
        Linear()(X * 1e130)


def test_distances_of_dense_vectors_that_nearly_agree() -> None:
    X = np.array([[1e6, 1e6], [1e6 + 1e-3, 1e6]])
    distance = (X[1, 0] - X[0, 0]) ** 2
    np.testing.assert_allclose(RBF(1e6)(X)[0, 1], np.exp(-1e6 * distance), rtol=1e-10)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, *SPARSE], ids=lambda make: make.__name__)
def test_values_that_are_no_numbers(make: Any, value: float) -> None:
    A = matrix(0)
    A[5, 3] = value
    place = rf"column 3 of sample 5 is {value}: fill it in"
    for compute in (Linear(), RBF().diag, lambda X: Polynomial()(matrix(1), X)):
        with pytest.raises(InvalidParameterError, match=place):
            compute(make(A))
    with pytest.raises(InvalidParameterError, match="column 3 of sample 5 of part 'f' is"):
        Linear().on("f")(Examples(f=make(A)))


@pytest.mark.parametrize("index", [-1, 5, 2**31 - 1])
def test_columns_out_of_range(index: int) -> None:
    bad = sp.csr_array(matrix(0, n=4))
    bad.indices[-1] = index
    message = rf"sample 3 has a feature in column {index}, but columns are numbered from 0 to 4"
    for compute in (Linear(), Linear().diag, lambda X: RBF()(matrix(1), X)):
        with pytest.raises(InvalidParameterError, match=message):
            compute(bad)


def test_damaged_sparse_matrices() -> None:
    by_column = sp.csc_array(matrix(0))
    by_column.indices[0] = 1000
    with pytest.raises(InvalidParameterError, match=r"a damaged sparse matrix: .* build it again"):
        Linear()(by_column)
    pointers = sp.csr_array(matrix(0))
    pointers.indptr[1] = 99
    with pytest.raises(InvalidParameterError, match="a damaged sparse matrix"):
        Linear()(pointers)


@pytest.mark.parametrize(
    "wrong",
    [
        [1.0, 2.0],
        [[1.0, 2.0], [1.0]],
        [["a", "b"]],
        [[1 + 2j]],
        np.zeros((2, 2, 2)),
        "(S a)",
        ["(S a)"],
        None,
        5,
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        sp.csr_array([[1 + 2j]]),
        sp.coo_array(np.ones(3)),
    ],
    ids=repr,
)
def test_what_is_no_matrix(wrong: Any) -> None:
    with pytest.raises(InvalidParameterError, match="needs vectors, an array or a sparse matrix"):
        Linear()(wrong)


def test_vectors_of_different_length() -> None:
    with pytest.raises(InvalidParameterError, match="vectors of 5 and of 3 features"):
        Linear()(matrix(0), matrix(0, columns=3))
    with pytest.raises(InvalidParameterError, match="vectors of 5 and of 3 features"):
        Linear()(matrix(0), sp.csr_array(matrix(0, columns=3)))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Polynomial(0), "Polynomial: degree must be an integer from 1 to 100, got 0"),
        (Polynomial(2.0), "degree must be an integer .* got 2.0"),  # type: ignore[arg-type]
        (Polynomial(coef0=-1), "Polynomial: coef0 must be not negative and finite, got -1"),
        (Polynomial(gamma=0), "Polynomial: gamma must be positive and finite, got 0"),
        (RBF(-1), "RBF: gamma must be positive"),
        (RBF(np.nan), "RBF: gamma must be positive and finite, got nan"),
        (RBF("1"), "RBF: gamma .* got '1'"),  # type: ignore[arg-type]
        (Linear(normalize=1), "Linear: normalize must be True or False, got 1"),  # type: ignore[arg-type]
    ],
)
def test_parameters(kernel: VectorKernel, message: str) -> None:
    for compute in (kernel, kernel.diag):
        with pytest.raises(InvalidParameterError, match=message):
            compute([[1.0]])


# ---------------------------------------------------------------- in blocks


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("steps", [1, 100, 1000])
def test_blocks_of_rows_change_nothing(
    kernel: VectorKernel, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = matrix(0, n=23), matrix(1, n=11)
    whole, other = kernel(X), kernel(Y, X)
    monkeypatch.setattr(matrices, "_STEPS", steps)
    np.testing.assert_allclose(kernel(X), whole, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(kernel(Y, X), other, rtol=1e-13, atol=1e-15)
    products = matrices.products(X, X)
    assert (products == products.T).all()


def test_a_block_of_rows_is_short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy and SciPy notice Ctrl-C between calls only."""
    monkeypatch.setattr(matrices, "_STEPS", 2000)
    X, work = np.ones((50, 7)), []

    def of_pairs(x: Any, y: Any) -> Any:
        work.append(x.shape[0] * y.shape[0] * y.shape[1])
        return x @ y.T

    np.testing.assert_allclose(matrices.in_blocks(of_pairs, X, X.copy()), X @ X.T)
    assert max(work) <= 2000
    assert sum(work) == 50 * 50 * 7
