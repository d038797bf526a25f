"""The kernel of trees that are long unary chains, which has an algorithm of its own."""

import numpy as np
import pytest

from filbert import Forest
from filbert.kernels import SubsetTree
from filbert.model import SupportVectorModel

N = 17_400  # more than 3e8 pairs of nodes of one production
BOTTOM = "(X (d e) (f g))"


def text(labels: list[str], bottom: str) -> str:
    return "".join(f"({label} " for label in labels) + bottom + ")" * len(labels)


def kernel_of_chains(a: list[str], b: list[str], decay: float) -> float:
    """The sum over all pairs of nodes, row by row: Delta = decay (1 + Delta of the children)."""
    numbers: dict[tuple[str, str], int] = {}

    def productions(labels: list[str]) -> list[int]:
        pairs = zip(labels, [*labels[1:], "X"], strict=True)
        return [numbers.setdefault(pair, len(numbers)) for pair in pairs]

    of_a, of_b = productions(a), np.array(productions(b))
    bottom = decay * (1 + decay) ** 2
    row = np.zeros(len(b) + 1)
    row[-1] = bottom
    total = bottom + 2 * decay
    for production in reversed(of_a):
        row[:-1] = np.where(of_b == production, decay * (1 + row[1:]), 0.0)
        row[-1] = 0.0
        total += row.sum()
    return total


def test_chains_are_compared_pair_by_pair() -> None:
    """Runs of equal labels with others between them: prefixes of all lengths, whole and cut."""
    decay = 0.9995
    first = ["a"] * 5000 + ["b"] + ["a"] * N + ["c", "b"] + ["a"] * 9
    second = ["b"] + ["a"] * N + ["c"] + ["a"] * 37 + ["b"] + ["a"] * 9
    kernel = SubsetTree(decay, normalize=False)
    found = kernel([text(first, BOTTOM)], [text(second, BOTTOM)])[0, 0]
    assert found == pytest.approx(kernel_of_chains(first, second, decay), rel=1e-10)


def test_a_chain_with_itself() -> None:
    """Delta is the number of productions that two nodes have in common, m in so many pairs."""
    kernel = SubsetTree(1.0, normalize=False)
    K = kernel(Forest([text(["a"] * N, "a"), text(["a"] * N, "b")]))
    m = np.arange(1, N + 1)
    but_last = m[:-1]
    assert K[0, 0] == (m * (2 * (N - m) + 1)).sum()
    # With another leaf, the last production differs from all others.
    assert K[0, 1] == (but_last * 2 * (N - but_last)).sum()
    assert K[1, 1] == (but_last * 2 * (N - 1 - but_last)).sum() + m.sum()


def test_long_chains_get_a_score_for_each_class() -> None:
    chains = Forest([text(["a"] * N, "a"), text(["a"] * N + ["b"], BOTTOM)])
    coef = np.array([[1.0, 2.0], [3.0, -4.0]])
    kernel = SubsetTree(1.0, normalize=False)
    scores = SupportVectorModel(kernel, chains, coef, np.zeros(2)).decision_function(chains)
    np.testing.assert_allclose(scores, kernel(chains) @ coef.T, rtol=1e-10)
