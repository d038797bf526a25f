"""Checks of X: the accepted forms of trees, and unusual trees."""

import warnings
from typing import Any

import numpy as np

from filbert.errors import NoFragmentsWarning
from filbert.forest import Forest
from filbert.testing.tools import (
    assert_close,
    assert_same,
    check,
    expected_error,
    fresh,
    outputs,
    sentences,
    tight,
)


def _check_form(name: str, estimator: Any, form: Any, what: str, in_training: float = 1e-9) -> None:
    X, y = sentences(50)
    expected = outputs(fresh(estimator).fit(X, y), X)
    fitted = fresh(estimator).fit(form(X), y)
    message = f"{name}: {what} should give the same result as a Forest"
    assert_close(outputs(fitted, X), expected, message + " in training", in_training)
    assert_close(outputs(fitted, form(X)), outputs(fitted, X), message + " in prediction", 1e-9)


@check()
def check_bracket_strings(name: str, estimator: Any) -> None:
    """Check that X may be a list of bracket strings."""
    _check_form(name, estimator, lambda X: list(map(str, X)), "a list of strings")


@check()
def check_lists_of_trees(name: str, estimator: Any) -> None:
    """Check that X may be a list of Trees."""
    _check_form(name, estimator, list, "a list of Trees")


@check()
def check_tuples(name: str, estimator: Any) -> None:
    """Check that X may be a tuple."""
    _check_form(name, estimator, lambda X: tuple(map(str, X)), "a tuple of strings")


@check()
def check_object_arrays(name: str, estimator: Any) -> None:
    """Check that X may be an array of objects, which scikit-learn makes from lists."""
    _check_form(
        name, estimator, lambda X: np.array(list(map(str, X)), dtype=object), "an array of objects"
    )


@check()
def check_string_arrays(name: str, estimator: Any) -> None:
    """Check that X may be an array of strings of fixed width."""
    _check_form(name, estimator, lambda X: np.array(list(map(str, X))), "an array of strings")


@check()
def check_columns(name: str, estimator: Any) -> None:
    """Check that X may have shape (n, 1), as scikit-learn's meta-estimators pass it."""
    _check_form(
        name, estimator, lambda X: np.array(list(map(str, X)), dtype=object)[:, None], "a column"
    )


@check()
def check_forests_built_apart(name: str, estimator: Any) -> None:
    """Check that trees may come from another forest with another order of nodes."""

    def apart(X: Forest) -> Forest:
        return Forest(list(map(str, X))[::-1])[::-1]

    # Sums over nodes are rounded in another way then. Along directions in which the objective is
    # flat up to rounding, 1e-14, a solver may stop elsewhere, and scores move by the root of that.
    _check_form(name, estimator, apart, "a separate forest", in_training=1e-6)


@check()
def check_slices(name: str, estimator: Any) -> None:
    """Check that a slice of a larger forest gives the same as a separate forest."""

    def part(X: Forest) -> Forest:
        before = Forest(f"(S (NP x{i}) (VP y{i % 7}))" for i in range(200))
        return Forest.concat([before, X, before])[200 : 200 + len(X)]

    _check_form(name, estimator, part, "a slice of a larger forest")


@check()
def check_single_trees(name: str, estimator: Any) -> None:
    """Check that single trees give the same output as all trees at once."""
    X, y = sentences(60, 3)
    fitted = fresh(estimator).fit(X, y)
    batch = outputs(fitted, X)
    for i in range(0, 60, 7):
        for form in (X[i : i + 1], [X[i]], [str(X[i])], X[i]):
            one = outputs(fitted, form)
            assert_close(one, batch[i : i + 1], f"{name}: tree {i} alone and in a batch", 1e-9)


@check()
def check_order_of_prediction(name: str, estimator: Any) -> None:
    """Check that the output for a tree does not depend on the other trees."""
    X, y = sentences(60, 3)
    fitted = fresh(estimator).fit(X, y)
    order = np.random.default_rng(0).permutation(60)
    message = f"{name}: the output should follow the order of trees"
    assert_close(outputs(fitted, X[order]), outputs(fitted, X)[order], message, 1e-9)


@check()
def check_prediction_of_nothing(name: str, estimator: Any) -> None:
    """Check that an empty X gives empty output with the right number of columns."""
    for n_classes in (2, 3):
        X, y = sentences(30, n_classes)
        fitted = fresh(estimator).fit(X, y)
        expected = outputs(fitted, X[:1])[:0].shape
        for nothing in (X[:0], list[str]()):
            shape = outputs(fitted, nothing).shape
            assert shape == expected, f"{name}: expected shape {expected} for no trees, got {shape}"


@check("state")
def check_training_on_nothing(name: str, estimator: Any) -> None:
    """Check that training without examples raises ValueError."""
    for nothing in (Forest(), list[str]()):
        with expected_error(ValueError, f"{name}.fit without examples"):
            fresh(estimator).fit(nothing, [])


@check()
def check_what_is_no_tree(name: str, estimator: Any) -> None:
    """Check that numbers, bare strings, tables, None and broken brackets raise errors."""
    X, y = sentences()
    kinds = (TypeError, ValueError)
    fitted = fresh(estimator).fit(X, y)
    table = {"tree": list(map(str, X))}
    words = ["dog"] * 40
    for bad in (
        [1] * 40,
        "(S a)",
        None,
        ["(S a"] * 40,
        [None] * 40,
        np.zeros((40, 2)),
        table,
        words,
    ):
        with expected_error(kinds, f"{name}.fit on {bad!r:.20}"):
            fresh(estimator).fit(bad, y)
        with expected_error(kinds, f"{name}: output for {bad!r:.20}"):
            outputs(fitted, bad)


@check()
def check_unseen_labels(name: str, estimator: Any) -> None:
    """Check that trees with unseen labels and productions have finite output."""
    X, y = sentences(40, 3)
    fitted = fresh(estimator).fit(X, y)
    values = outputs(fitted, ["(X (Y z) (Z q))", "(S (NP ü))", "(NP (D \\( ) (N 語))"] * 20)
    assert np.isfinite(values).all(), f"{name}: unseen labels should score finite, got {values}"


@check()
def check_single_nodes(name: str, estimator: Any) -> None:
    """Check that trees of one node, which may have no fragment, have finite output."""
    X, y = sentences(40, 3)
    fitted = fresh(estimator).fit(X, y)
    for trees in (["(S)"], ["(dog)"], ["(unheard-of)"] * 50):
        values = outputs(fitted, trees)
        assert np.isfinite(values).all(), f"{name}: single nodes should score finite, got {values}"


@check()
def check_training_on_single_nodes(name: str, estimator: Any) -> None:
    """Check that training accepts trees of one node, alone or among others."""
    X, y = sentences()
    for trees in (["(a)", "(b)"] * 20, [*["(S)"] * 10, *X[:30]], ["(S)"] * 40):
        texts = list(map(str, trees))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoFragmentsWarning)
            fitted = fresh(estimator).fit(texts, y)
        values = outputs(fitted, texts)
        assert np.isfinite(values).all(), f"{name}: single nodes should score finite, got {values}"


@check()
def check_large_trees(name: str, estimator: Any) -> None:
    """Check that deep trees and those of thousands of nodes overflow neither numbers nor stack."""
    comb = "(a " * 300 + "{}" + " (b c))" * 300
    star = f"(S {'(A b) ' * 3_000}{{}})"
    bush = f"(T {'(B (C d) (C e) (E (C d) f)) ' * 400}{{}})"
    shapes = (comb, star, bush)
    trees = [shape.format(leaf) for shape in shapes for leaf in "xyxy"]
    fitted = fresh(estimator).fit(trees, [0, 1] * 6)
    for some in (trees, trees[-1:], trees * 3):
        assert np.isfinite(outputs(fitted, some)).all(), f"{name}: large trees should score finite"


@check()
def check_identical_trees_of_two_classes(name: str, estimator: Any) -> None:
    """Check that the same tree with two labels gives finite output."""
    X, y = sentences(20)
    same = Forest.concat([X, X])
    values = outputs(fresh(estimator).fit(same, np.concatenate([y, 1 - y])), X)
    assert np.isfinite(values).all(), f"{name}: contradictory labels should score finite"
    constant = X[[0] * 20]
    values = outputs(fresh(estimator).fit(constant, y), constant)
    assert np.isfinite(values).all(), f"{name}: one tree in 20 copies should score finite"
    assert (values == values[0]).all(), f"{name}: equal trees should score equally: {values}"


@check("optimum")
def check_order_of_training(name: str, estimator: Any) -> None:
    """Check that the order of examples changes the solution by less than its tolerance."""
    for n_classes in (2, 3):
        X, y = sentences(60, n_classes)
        order = np.random.default_rng(1).permutation(60)
        expected = outputs(tight(estimator).fit(X, y), X)
        actual = outputs(tight(estimator).fit(X[order], y[order]), X)
        assert_close(actual, expected, f"{name}: a permutation of the examples")


@check("additive", "C")
def check_duplicated_data(name: str, estimator: Any) -> None:
    """Check that all examples twice with half the C give the same solution."""
    X, y = sentences(30, 3)
    expected = outputs(tight(estimator).fit(X, y), X)
    half = tight(estimator, C=estimator.get_params()["C"] / 2)
    actual = outputs(half.fit(Forest.concat([X, X]), np.concatenate([y, y])), X)
    assert_close(actual, expected, f"{name}: every example twice with half the C")


@check("predict")
def check_output_has_no_memory(name: str, estimator: Any) -> None:
    """Check that a repeated prediction gives the same after predictions of other trees."""
    X, y = sentences()
    fitted = fresh(estimator).fit(X, y)
    first = outputs(fitted, X)
    outputs(fitted, ["(Z (Y z) (Y z))"] * 50)
    assert_same(outputs(fitted, X), first, f"{name}: predicting should not change the estimator")
