"""Kernels of examples with several trees or vectors of one kind: entailment and ranking."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from filbert import Examples, Forest, TreeSVC, load, read_examples, save
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.kernels import (
    RBF,
    AllPairs,
    EachPart,
    Kernel,
    Linear,
    Preference,
    Sequence,
    SubsetTree,
)
from filbert.persist import parameters

TEXTS = ["(S (N a) (V b))", "(S (N a) (V c))", "(Q (N d))"]
OTHERS = ["(S (N a) (V c))", "(Q (N a))", "(Q (N d))"]
K = SubsetTree(normalize=False)


@pytest.fixture
def pairs() -> Examples:
    return Examples(t=Forest(TEXTS), h=Forest(OTHERS), lex=[[0.5], [0.0], [2.0]])


def test_parts_of_the_same_name(pairs: Examples) -> None:
    """PK_S(p1, p2) = K(t1, t2) + K(h1, h2), and the product of both pairs' Lex."""
    pk = EachPart(K, ("t", "h"))
    expected = K(TEXTS) + K(OTHERS)
    np.testing.assert_allclose(pk(pairs), expected)
    np.testing.assert_allclose(pk(pairs[:2], pairs), expected[:2])
    np.testing.assert_allclose(pk.diag(pairs), expected.diagonal())
    lex = np.array([0.5, 0.0, 2.0])
    np.testing.assert_allclose(
        (pk + Linear(normalize=False).on("lex"))(pairs), expected + np.outer(lex, lex)
    )


def test_each_part_is_a_sum() -> None:
    kernel = EachPart(0.5 * SubsetTree() + 1, ("t", "h"))
    one, two = 0.5 * SubsetTree().on("t") + 1, 0.5 * SubsetTree().on("h") + 1
    assert kernel.expanded() == one + two
    assert EachPart(K, ("t",)).expanded() == K.on("t")


def test_all_pairs_of_parts(pairs: Examples) -> None:
    cross = K(TEXTS, OTHERS)
    np.testing.assert_allclose(
        AllPairs(K, ("t", "h"))(pairs), K(TEXTS) + K(OTHERS) + cross + cross.T
    )
    weighted = AllPairs(K, ("t", "h"), weights=(2, -0.5))
    expected = 4 * K(TEXTS) + 0.25 * K(OTHERS) - cross - cross.T
    np.testing.assert_allclose(weighted(pairs), expected)
    np.testing.assert_allclose(weighted(pairs, pairs[1:]), expected[:, 1:])
    np.testing.assert_allclose(weighted.diag(pairs), expected.diagonal())
    np.testing.assert_allclose(AllPairs(K, ("h",))(pairs), K(OTHERS))
    assert AllPairs(K, ("t", "h"))(pairs[:0], pairs).shape == (0, 3)


def test_all_pairs_of_vectors() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 100, 4))
    found = AllPairs(Linear(normalize=False), ("x", "y"))(Examples(x=X, y=Y))
    np.testing.assert_allclose(found, (X + Y) @ (X + Y).T, atol=1e-12)
    difference = Preference(Linear(normalize=False), ("x", "y"))
    np.testing.assert_allclose(difference(Examples(x=X, y=Y)), (X - Y) @ (X - Y).T, atol=1e-12)
    np.testing.assert_allclose(difference.diag(Examples(x=X, y=Y)), ((X - Y) ** 2).sum(axis=1))


def test_preferences(pairs: Examples) -> None:
    kernel = Preference(K, ("t", "h"))
    cross = K(TEXTS, OTHERS)
    np.testing.assert_allclose(kernel(pairs), K(TEXTS) + K(OTHERS) - cross - cross.T, atol=1e-15)
    exchanged = Examples(t=pairs["h"], h=pairs["t"])
    np.testing.assert_allclose(kernel(exchanged, pairs), -kernel(pairs), atol=1e-15)
    assert kernel.diag(pairs)[2] == 0  # two equal candidates
    normalized = kernel.normalized()
    assert normalized(pairs)[2].tolist() == [0.0, 0.0, 0.0]
    assert normalized.diag(pairs).tolist() == [1.0, 1.0, 0.0]


def test_ranking_by_preferences() -> None:
    """A candidate is better the more of its words are x; pairs are in any order."""
    rng = np.random.default_rng(0)
    words = rng.choice(list("xyz"), (2, 150, 4))
    first, second = (
        Forest(f"(S {' '.join(f'(N {w})' for w in row)})" for row in half) for half in words
    )
    better = (words[0] == "x").sum(axis=1) - (words[1] == "x").sum(axis=1)
    X, y = Examples(first=first, second=second)[better != 0], better[better != 0] > 0
    kernel = Preference(SubsetTree(), ("first", "second"))
    model = TreeSVC(kernel, strategy="usvm", C=10.0, fit_intercept=False, random_state=0)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_as_values() -> None:
    for kernel, text in (
        (EachPart(Linear(), ["a", "b"]), "EachPart(Linear(normalize=True), ('a', 'b'))"),
        (AllPairs(Linear(), ("a",)), "AllPairs(Linear(normalize=True), ('a',))"),
        (AllPairs(RBF(), ("a",), (np.float64(2),)), "AllPairs(RBF(gamma=1.0), ('a',), (2.0,))"),
        (Preference(Linear(), ("a", "b")), "Preference(Linear(normalize=True), ('a', 'b'))"),
    ):  # fmt: skip
        assert repr(kernel) == text
        assert clone(kernel) == kernel
        assert hash(clone(kernel)) == hash(kernel)
    assert EachPart(Linear(), ("a", "b")) != AllPairs(Linear(), ("a", "b"))
    assert Preference(Linear(), ("a", "b")) != Preference(Linear(), ("b", "a"))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (EachPart(K, ()), "EachPart: parts must be a tuple of different names"),
        (EachPart(K, "text"), "parts must be a tuple of different names, got 'text'"),  # type: ignore[arg-type]
        (AllPairs(K, ("t", "t")), "AllPairs: parts must be a tuple of different names"),
        (AllPairs(K, ("t", 1)), "AllPairs: parts must be a tuple of different names"),  # type: ignore[arg-type]
        (AllPairs(K.on("t"), ("t", "h")), r"SubsetTree.* already has a part; leave it out"),
        (EachPart(1 + 2 * K.on("t"), ("t", "h")), "already has a part"),
        (EachPart(EachPart(K, ("t",)), ("t", "h")), "already has a part"),
        (AllPairs(K, ("t", "h"), (1,)), r"a finite number for each of the 2 parts, got \(1,\)"),
        (AllPairs(K, ("t", "h"), (1, np.nan)), "weights must be None or a finite number"),
        (AllPairs(K, ("t", "h"), (1, "2")), "weights must be None or a finite number"),  # type: ignore[arg-type]
        (AllPairs(K, ("t", "h"), 3), "weights must be None or a finite number"),  # type: ignore[arg-type]
        (Preference(K, ("t",)), "Preference: parts must be two names"),  # type: ignore[arg-type]
        (Preference(3, ("t", "h")), "Preference: kernel must be a kernel, got 3"),  # type: ignore[arg-type]
        (EachPart(K, ("t", "words")), "needs a part 'words', but the examples have 't', 'h'"),
        (AllPairs(K, ("t", "words")), "needs a part 'words', but the examples have 't', 'h'"),
    ],
)  # fmt: skip
def test_what_is_refused(pairs: Examples, kernel: Kernel, message: str) -> None:
    for compute in (kernel, kernel.diag):
        with pytest.raises(InvalidParameterError, match=message):
            compute(pairs)


def test_parts_of_different_kinds(pairs: Examples) -> None:
    for compute in (AllPairs(K, ("t", "lex")), AllPairs(K, ("t", "lex")).diag):
        with pytest.raises(InputTypeError, match="parts are both trees and matrices"):
            compute(pairs)
    with pytest.raises(InputTypeError, match="needs trees, but part 'lex' is a matrix"):
        EachPart(K, ("t", "lex"))(pairs)
    with pytest.raises(InvalidParameterError, match="needs Examples with these parts, got Forest"):
        AllPairs(K, ("t", "h"))(pairs["t"])
    with pytest.raises(InvalidParameterError, match="names its parts"):
        AllPairs(K, ("t", "h")).on("t")


# ---------------------------------------------------------------- textual entailment

RTE: dict[str, Any] = {
    "label": "entails",
    "tree": ["text_tree", "hypothesis_tree"],
    "features": "lex",
}
PK_LEX = EachPart(SubsetTree(), ("text_tree", "hypothesis_tree")) + Linear(normalize=False).on(
    "lex"
)


def test_entailment_pairs_are_read(tmp_path: Path) -> None:
    lines = [
        {"id": i, "entails": bool(i % 2), "text_tree": t, "hypothesis_tree": h, "lex": lex}
        for i, (t, h, lex) in enumerate(zip(TEXTS, OTHERS, [0.5, 0, 1], strict=True))
    ]
    path = tmp_path / "rte.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    X, y = read_examples(path, **RTE)
    assert y.tolist() == [False, True, False]
    assert X["lex"].toarray().tolist() == [[0.5], [0.0], [1.0]]
    np.testing.assert_allclose(
        PK_LEX(X), SubsetTree()(TEXTS) + SubsetTree()(OTHERS) + np.outer(*[[0.5, 0, 1]] * 2)
    )


@pytest.mark.shared
def test_entailment(shared_dir: Path) -> None:
    """Zanzotto & Dell'Arciprete 2012, section 5.2.1, on RTE-2."""
    X, y = read_examples(shared_dir / "data/rte/rte2.dev.jsonl.xz", **RTE)
    assert X.shape == (400,)
    assert y.sum() == 210
    assert list(X.parts) == ["text_tree", "hypothesis_tree", "lex"]
    assert 0 <= X["lex"].min() <= X["lex"].max() <= 1
    values = PK_LEX(X)
    lex = X["lex"].toarray()
    text, hypothesis = X["text_tree"], X["hypothesis_tree"]
    expected = SubsetTree()(text) + SubsetTree()(hypothesis) + lex @ lex.T
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    assert np.linalg.eigvalsh(values).min() > -1e-9


# ---------------------------------------------------------------- machines


@pytest.fixture(scope="module")
def either() -> tuple[Examples, Any]:
    """Pairs of which one tree has an `a`, and such that have none."""
    rng = np.random.default_rng(0)
    first, second = rng.choice(list("ab"), (2, 60))
    X = Examples(
        t=Forest(f"(S {w} (N {w}))" for w in first), h=Forest(f"(S (N {w}))" for w in second)
    )
    return X, (first == "a") | (second == "a")


def test_one_decay_for_both_parts(either: tuple[Examples, Any]) -> None:
    X, y = either
    grid: Any = {"kernel__kernel__decay": [0.1, 0.6]}
    model = TreeSVC(EachPart(SubsetTree(), ("t", "h")), strategy="usvm", C=10.0, random_state=0)
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_.kernel.expanded().left.decay in (0.1, 0.6)


@pytest.mark.parametrize(
    "kernel",
    [
        EachPart(SubsetTree(), ("t", "h")),
        AllPairs(SubsetTree(normalize=False), ("t", "h"), (1.0, 0.5)),
        Preference(SubsetTree(), ("t", "h")) + EachPart(Sequence(length=1), ("t", "h")),
        Sequence(0.3).on("t") * Sequence(of="preorder").on("h"),
    ],
    ids=repr,
)
def test_models_are_saved(either: tuple[Examples, Any], kernel: Kernel, tmp_path: Path) -> None:
    X, y = either
    model = TreeSVC(kernel, strategy="usvm", random_state=0, C=1.0).fit(X[:40], y[:40])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.kernel == kernel
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    decisions = kernel(X, X[:40][model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parts": ["t", 3]}, r"parts cannot be \['t', 3\]"),
        ({"parts": "th"}, "parts cannot be 'th'"),
        ({"parts": ["t"]}, "each of the 1 parts"),
        ({"weights": [1.0, None]}, r"weights cannot be \[1.0, None\]"),
        ({"weights": [1.0, True]}, "weights must be None or a finite number"),
        ({"weights": 5}, "weights cannot be 5"),
    ],
)
def test_parts_in_files_are_checked(change: dict[str, Any], message: str) -> None:
    stored = parameters.kernel_to_json(AllPairs(Linear(), ("t", "h"), (1.0, np.float64(0.5))))
    assert parameters.kernel_from_json(stored) == AllPairs(Linear(), ("t", "h"), (1.0, 0.5))
    stored["parameters"] |= change
    with pytest.raises(InvalidParameterError, match=message):
        parameters.kernel_from_json(stored)


def test_what_is_within_is_checked_before_training(either: tuple[Examples, Any]) -> None:
    X, y = either
    for kernel in (
        EachPart(Sequence(2.0), ("t", "h")),
        SubsetTree().on("t") * Sequence(2.0).on("h"),
    ):
        with pytest.raises(InvalidParameterError, match="Sequence: decay must be in"):
            TreeSVC(kernel, strategy="usvm", C=1.0).check_parameters()
        with pytest.raises(InvalidParameterError, match="Sequence: decay must be in"):
            TreeSVC(kernel, strategy="usvm", C=1.0).fit(X, y)
