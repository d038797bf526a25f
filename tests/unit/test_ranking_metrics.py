"""Measures of rankings and parses, against plain programs and scikit-learn."""

import json
import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from filbert.errors import InvalidParameterError
from filbert.metrics import (
    count_brackets,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg,
    pairwise_accuracy,
    precision_at_k,
    recall_at_k,
)
from tests.profiles import n_examples

Candidates = list[tuple[int, int, int]]  # y, score and group
CANDIDATES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=15
)


def ranked_groups(candidates: Candidates) -> list[list[int]]:
    """The targets of each group in the order of scores, the worst of equal scores first."""
    names = sorted({group for _, _, group in candidates})
    groups = [[(-s, y) for y, s, g in candidates if g == name] for name in names]
    return [[y for _, y in sorted(group)] for group in groups]


def of_relevant(measure: Callable[[list[int]], float]) -> Callable[[Candidates], float | None]:
    def mean(candidates: Candidates) -> float | None:
        values = [measure(ys) for ys in ranked_groups(candidates) if max(ys) > 0]
        return sum(values) / len(values) if values else None

    return mean


def naive_ndcg(ys: list[int]) -> float:
    def total(order: list[int]) -> float:
        return sum(y / np.log2(rank + 2) for rank, y in enumerate(order))

    return total(ys) / total(sorted(ys, reverse=True))


def naive_precisions(ys: list[int]) -> float:
    at = [sum(y > 0 for y in ys[: r + 1]) / (r + 1) for r, y in enumerate(ys) if y > 0]
    return sum(at) / len(at)


def naive_pairs(candidates: Candidates) -> float | None:
    found = [
        (s > t) + (s == t) / 2
        for y, s, g in candidates
        for z, t, h in candidates
        if g == h and y > z
    ]
    return sum(found) / len(found) if found else None


@pytest.mark.parametrize(
    ("measure", "naive"),
    [
        (ndcg, of_relevant(naive_ndcg)),
        (mean_reciprocal_rank, of_relevant(lambda ys: 1 / (1 + [y > 0 for y in ys].index(True)))),
        (mean_average_precision, of_relevant(naive_precisions)),
        (
            lambda *all: precision_at_k(*all, k=2),
            of_relevant(lambda ys: sum(y > 0 for y in ys[:2]) / 2),
        ),
        (
            lambda *all: recall_at_k(*all, k=2),
            of_relevant(lambda ys: sum(y > 0 for y in ys[:2]) / sum(y > 0 for y in ys)),
        ),
        (pairwise_accuracy, naive_pairs),
    ],
    ids=["ndcg", "mrr", "map", "p@2", "r@2", "pairs"],
)
@n_examples(40)
@given(candidates=CANDIDATES)
def test_measures_are_those_of_plain_programs(
    measure: Any, naive: Any, candidates: Candidates
) -> None:
    y, scores, group = map(list, zip(*candidates, strict=True))
    expected = naive(candidates)
    if expected is None:
        with pytest.raises(InvalidParameterError):
            measure(y, scores, group)
    else:
        assert measure(y, scores, group) == pytest.approx(expected, rel=1e-12)


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 30), rng.permutation(30)
    assert ndcg(y, scores) == pytest.approx(ndcg_score([y], [scores]))
    assert ndcg(y, scores, k=5) == pytest.approx(ndcg_score([y], [scores], k=5))
    exponential = ndcg_score([2.0**y - 1], [scores])
    assert ndcg(y, scores, gain="exponential") == pytest.approx(exponential)
    assert mean_average_precision(y, scores) == pytest.approx(
        average_precision_score(y > 0, scores)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndcg([1, -1], [0, 1]), "y must not be negative"),
        (lambda: ndcg([1, 0], [0, 1], gain="none"), "gain must be"),  # type: ignore[arg-type]
        (lambda: ndcg([1, 0], [0, 1], k=0), "k must be a positive integer"),
        (lambda: ndcg([1, 0], [0, np.nan]), "scores must be finite; for sample 1 it is nan"),
        (lambda: ndcg([2000, 0], [0, 1], gain="exponential"), "2.y is too large for y = 2000"),
        (lambda: ndcg(["1", "x"], [0, 1]), "y must have numbers; for sample 1 it is 'x'"),
        (lambda: ndcg([], []), "there are no candidates"),
        (lambda: ndcg([1, 0, 1], [0, 1]), r"got shapes \(3,\) and \(2,\)"),
        (lambda: mean_reciprocal_rank([0, 0], [0, 1]), "nothing to measure"),
        (lambda: pairwise_accuracy([1, 1], [0, 1]), "no two candidates"),
        (lambda: precision_at_k([1, 0], [0, 1], group=[1]), "one name for each of 2 examples"),
    ],
)
def test_bad_input(call: Callable[[], float], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        call()


# ---------------------------------------------------------------- brackets

GOLD = "(TOP (S (NP-SBJ (D the) (N cat)) (VP (V sat) (PRT (RP down)) (, ,)) (. .)))"


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (GOLD, (4, 4, 4)),
        (GOLD.replace("PRT", "ADVP").replace("TOP", "ROOT"), (4, 4, 4)),  # the same labels
        (GOLD.replace("NP-SBJ", "NP=2"), (4, 4, 4)),
        (GOLD.replace("NP-SBJ", "QP"), (3, 4, 4)),
        # Punctuation is left out, wherever it hangs and whatever the parser takes it for.
        ("(S (NP (D the) (N cat)) (VP (V sat) (PRT (RP down))) (X (N ,)) (. .))", (4, 4, 4)),
        ("(S (S (NP (D the) (N cat))) (VP (V sat) (ADVP (RP down))) (, ,) (. .))", (4, 5, 4)),
        ("(S (D the) (N cat) (V sat) (RP down) (, ,) (. .))", (1, 1, 4)),
    ],
)
def test_brackets(parse: str, expected: tuple[int, int, int]) -> None:
    counts = count_brackets([GOLD], [parse])
    assert (counts.matched[0], counts.guessed[0], counts.gold[0]) == expected
    assert counts.exact == (len(set(expected)) == 1)
    assert counts.precision == expected[0] / expected[1]
    assert counts.recall == expected[0] / expected[2]


def test_brackets_of_several_sentences() -> None:
    flat = "(S (D the) (N cat) (V sat) (RP down) (, ,) (. .))"
    counts = count_brackets([GOLD, GOLD], [GOLD, flat])
    assert counts.f1 == pytest.approx(2 * 5 / (5 + 8))
    assert counts.exact == 0.5
    assert counts[[0]].f1 == 1
    nothing = count_brackets([], [])
    assert (nothing.f1, nothing.precision, nothing.exact) == (0, 0, 0)


def test_empty_words_are_left_out() -> None:
    gold = "(S (NP (-NONE- *)) (VP (V go) (NP (-NONE- *T*) (N home))))"
    counts = count_brackets([gold], ["(S (VP (V go) (NP (N home))))"])
    assert (counts.matched[0], counts.guessed[0], counts.gold[0]) == (3, 3, 3)


def test_deep_parses() -> None:
    deep = "(A " * 5_000 + "(N x)" + ")" * 5_000
    assert count_brackets([deep], [deep]).matched.tolist() == [5_000]


def test_other_sentences() -> None:
    with pytest.raises(InvalidParameterError, match="sentence 1: the words of the gold tree are"):
        count_brackets([GOLD, GOLD], [GOLD, GOLD.replace("cat", "dog")])
    with pytest.raises(InvalidParameterError, match="2 gold trees, but 1 parses"):
        count_brackets([GOLD, GOLD], [GOLD])


@pytest.mark.shared
def test_brackets_of_a_parser(shared_dir: Path) -> None:
    path = shared_dir / "data/rerank-ewt/test.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        sentences = [json.loads(line) for line in islice(lines, 25)]
    found = [(s, c) for s in sentences for c in s["candidates"]]
    punctuation = (",", ":", "``", "''", ".", "HYPH", "NFP")
    counts = count_brackets(
        [s["gold"] for s, _ in found], [c["tree"] for _, c in found], punctuation=punctuation
    )
    assert counts.matched.tolist() == [c["match"] for _, c in found]
    assert counts.guessed.tolist() == [c["guess"] for _, c in found]
    assert counts.gold.tolist() == [s["n_gold"] for s, _ in found]
