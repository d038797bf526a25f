"""The randomisation test: against all ways to swap, and where users err."""

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from filbert.errors import InvalidParameterError
from filbert.metrics import randomization, randomization_test
from tests.profiles import n_examples
from tests.reference import randomization as reference

Array = npt.NDArray[Any]
Labels = list[int]
Triple = tuple[Labels, Labels, Labels]

# How to ask for a metric, and what it is.
PLAIN: dict[str, reference.Metric] = {
    "f1": reference.f1,
    "precision": reference.precision,
    "recall": reference.recall,
    "accuracy": reference.accuracy,
}
MACRO: dict[str, reference.Metric] = {
    "f1": reference.macro(reference.f1),
    "precision": reference.macro(reference.precision),
    "recall": reference.macro(reference.recall),
}
SKLEARN = {
    "f1": f1_score,
    "precision": precision_score,
    "recall": recall_score,
}


def triples(n_classes: int, max_size: int) -> st.SearchStrategy[Triple]:
    label = st.integers(0, n_classes - 1)
    rows = st.lists(st.tuples(label, label, label), min_size=1, max_size=max_size)
    return rows.map(lambda rows: tuple(map(list, zip(*rows, strict=True))))  # type: ignore[arg-type,return-value]


def two_systems(
    seed: int, n: int, errors_a: float, errors_b: float, n_classes: int = 2
) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    a, b = (
        np.where(rng.random(n) < rate, rng.integers(0, n_classes, n), y)
        for rate in (errors_a, errors_b)
    )
    return y, a, b


def plain_f1(y: Array, pred: Array) -> float:
    return float(2 * (y * pred).sum() / (y + pred).sum())


# ---------------------------------------------------------------- the p-value


@n_examples(80)
@given(triples(2, 8), st.sampled_from(sorted(PLAIN)))
def test_exact_p_is_that_of_all_swaps(data: Triple, metric: Any) -> None:
    result = randomization_test(*data, metric=metric)
    assert result.exact
    assert result.n_shuffles == 0
    assert result.p_value == pytest.approx(
        float(reference.p_value(*data, PLAIN[metric])), rel=1e-10
    )
    y, a, b = data
    assert result.score_a == pytest.approx(float(PLAIN[metric](y, a)), rel=1e-12)
    assert result.score_b == pytest.approx(float(PLAIN[metric](y, b)), rel=1e-12)
    assert result.difference == result.score_a - result.score_b


@n_examples(80)
@given(triples(4, 7), st.sampled_from(sorted(MACRO)))
def test_exact_p_of_means_over_classes(data: Triple, metric: Any) -> None:
    result = randomization_test(*data, metric=metric, average="macro", exact=True)
    assert result.p_value == pytest.approx(
        float(reference.p_value(*data, MACRO[metric])), rel=1e-10
    )


@n_examples(40)
@given(triples(4, 7))
def test_exact_p_of_accuracy_with_many_classes(data: Triple) -> None:
    expected = float(reference.p_value(*data, reference.accuracy))
    assert randomization_test(*data, metric="accuracy").p_value == pytest.approx(
        expected, rel=1e-10
    )


@n_examples(40)
@given(triples(3, 6), st.sampled_from(["f1", "accuracy"]))
def test_a_function_gives_the_same(data: Triple, metric: Any) -> None:
    macro = metric == "f1"
    plain = MACRO["f1"] if macro else PLAIN[metric]
    named = randomization_test(
        *data, metric=metric, average="macro" if macro else "binary", exact=True
    )
    called = randomization_test(
        *data, metric=lambda y, pred: float(plain(y.tolist(), pred.tolist())), exact=True
    )
    for field in ("p_value", "score_a", "score_b", "difference"):
        assert getattr(called, field) == pytest.approx(getattr(named, field), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "f1"},
        {"metric": "precision"},
        {"metric": "recall"},
        {"metric": "accuracy"},
        {"metric": plain_f1, "n": 1000},
    ],
    ids=["f1", "precision", "recall", "accuracy", "function"],
)
def test_sampled_p_is_near_the_exact_one(options: dict[str, Any]) -> None:
    y, a, b = two_systems(1, 40, 0.2, 0.4)
    exact = randomization_test(y, a, b, **{**options, "exact": True}).p_value
    result = randomization_test(y, a, b, **options, exact=False, random_state=0)
    assert not result.exact
    assert result.n_shuffles == options.get("n", 10_000)
    assert 0.01 < exact < 0.9  # else there is little to be near to
    error = np.sqrt(exact * (1 - exact) / result.n_shuffles)
    assert abs(result.p_value - exact) < 4 * error + 1 / result.n_shuffles


def test_sampled_means_over_classes_are_near_those_of_a_function() -> None:
    y, a, b = two_systems(2, 200, 0.2, 0.3, n_classes=5)
    fast = randomization_test(y, a, b, average="macro", random_state=0)
    slow = randomization_test(
        y, a, b, metric=lambda y, pred: float(f1_score(y, pred, average="macro")), n=200,
        random_state=1,
    )  # fmt: skip
    assert not fast.exact
    assert fast.score_a == pytest.approx(slow.score_a, rel=1e-12)
    assert 0.01 < fast.p_value < 0.9
    error = np.sqrt(fast.p_value * (1 - fast.p_value) / 200)
    assert abs(fast.p_value - slow.p_value) < 4 * error


def test_p_is_uniform_where_systems_are_equally_good() -> None:
    p = np.array(
        [
            randomization_test(*two_systems(seed, 2000, 0.2, 0.2), random_state=seed).p_value
            for seed in range(200)
        ]
    )
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / len(p))
        assert abs((p <= level).mean() - level) < 4 * error


def test_the_number_that_chance_reaches_counts_the_observed_one() -> None:
    y, a, b = two_systems(3, 2000, 0.0, 0.5)
    result = randomization_test(y, a, b, n=99, random_state=0)
    assert result.p_value == 1 / 100
    assert result.score_a == 1.0


def test_ties_count_in_spite_of_rounding() -> None:
    # Eleven tenths never fall into two equal parts; the least difference is the one observed.
    y = np.ones(11, dtype=int)
    a = np.array([1] * 6 + [0] * 5)
    noisy = randomization_test(
        y, a, 1 - a, metric=lambda y, pred: float(np.sum((y == pred) * 0.1)), exact=True
    )
    assert randomization_test(y, a, 1 - a, metric="accuracy").p_value == 1.0
    assert noisy.p_value == pytest.approx(1.0, rel=1e-10)


# ---------------------------------------------------------------- what always holds


@n_examples(60)
@given(
    triples(3, 30),
    st.sampled_from(["f1", "precision", "recall", "accuracy"]),
    st.sampled_from(["auto", False]),
    st.integers(1, 300),
)
def test_exchanging_the_systems_changes_the_sign_alone(
    data: Triple, metric: Any, exact: Any, n: int
) -> None:
    y, a, b = data
    average: Any = "binary" if metric == "accuracy" else "macro"
    options: dict[str, Any] = {
        "metric": metric, "average": average, "exact": exact, "n": n, "random_state": 5,
    }  # fmt: skip
    result = randomization_test(y, a, b, **options)
    assert 0 < result.p_value <= 1
    assert randomization_test(y, b, a, **options) == replace(
        result,
        difference=-result.difference,
        score_a=result.score_b,
        score_b=result.score_a,
    )
    assert randomization_test(y, a, b, **options) == result


@n_examples(30)
@given(triples(2, 30), st.sampled_from(sorted(PLAIN)), st.booleans())
def test_identical_predictions(data: Triple, metric: Any, exact: bool) -> None:
    y, a, _ = data
    result = randomization_test(y, a, list(a), metric=metric, exact=exact, n=50)
    assert (result.p_value, result.difference) == (1.0, 0.0)


@n_examples(30)
@given(triples(2, 40), st.sampled_from(sorted(PLAIN)), st.randoms(use_true_random=False))
def test_the_order_of_examples_does_not_matter(data: Triple, metric: Any, random: Any) -> None:
    order = list(range(len(data[0])))
    random.shuffle(order)
    moved = [[labels[i] for i in order] for labels in data]
    options: dict[str, Any] = {"metric": metric, "n": 100, "random_state": 0}
    assert randomization_test(*data, **options) == randomization_test(*moved, **options)


@n_examples(60)
@given(triples(3, 30), st.sampled_from(sorted(SKLEARN)))
def test_scores_are_those_of_scikit_learn(data: Triple, metric: Any) -> None:
    y, a, b = data
    macro = randomization_test(y, a, b, metric=metric, average="macro", n=1)
    expected = SKLEARN[metric](y, a, average="macro", zero_division=0)
    assert macro.score_a == pytest.approx(expected, rel=1e-12)
    y, a, b = ([int(label == 2) for label in labels] for labels in data)
    binary = randomization_test(y, a, b, metric=metric, n=1)
    assert binary.score_b == pytest.approx(SKLEARN[metric](y, b, zero_division=0), rel=1e-12)
    accuracy = randomization_test(*data, metric="accuracy", n=1)
    assert accuracy.score_a == pytest.approx(accuracy_score(data[0], data[1]), rel=1e-12)


def test_seeds() -> None:
    data = two_systems(4, 1000, 0.2, 0.22)
    p = [randomization_test(*data, random_state=seed).p_value for seed in (1, 1, 2)]
    assert p[0] == p[1] != p[2]
    again = randomization_test(*data, random_state=np.random.RandomState(1))
    assert again.p_value == p[0]


def test_pieces_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    data = two_systems(5, 400, 0.2, 0.25)
    options: list[dict[str, Any]] = [
        {"exact": True},
        {"exact": False, "random_state": 0},
        {"exact": False, "random_state": 0, "average": "macro"},
    ]
    whole = [randomization_test(*data, **o) for o in options]
    monkeypatch.setattr(randomization, "_ENTRIES", 1000)
    for o, expected in zip(options, whole, strict=True):
        assert randomization_test(*data, **o).p_value == pytest.approx(expected.p_value, rel=1e-12)


# ---------------------------------------------------------------- exact or not


def test_exact_where_there_are_at_most_n_outcomes() -> None:
    y = [1] * 4 + [0] * 3
    a = [1] * 7
    b = [0] * 7
    assert randomization_test(y, a, b, n=20).exact  # (4 + 1) (3 + 1)
    assert not randomization_test(y, a, b, n=19).exact
    assert randomization_test(y, a, b, "recall", n=5).exact  # negative examples do not matter
    assert randomization_test(y, a, b, "accuracy", n=8).exact
    assert randomization_test(y, a, b, accuracy_score, n=128).exact
    assert not randomization_test(y, a, b, accuracy_score, n=127).exact
    assert randomization_test(y, a, b, n=1, exact=True).exact
    assert not randomization_test(y, a, b, exact=False).exact


def test_too_many_outcomes_to_go_through() -> None:
    y = np.arange(40_000) % 2
    with pytest.raises(InvalidParameterError, match=r"40,000 examples .* exact='auto' or False"):
        randomization_test(y, y, 1 - y, exact=True)
    with pytest.raises(InvalidParameterError, match="more than 100,000,000 outcomes"):
        randomization_test(y, y, 1 - y, accuracy_score, exact=True)


# ---------------------------------------------------------------- labels


def test_no_positives() -> None:
    for metric in ("f1", "precision", "recall"):
        result = randomization_test([1, 1, 0], [0, 0, 0], [1, 0, 0], metric=metric)  # type: ignore[arg-type]
        assert result.score_a == 0.0
        assert result.p_value == 1.0  # one example differs: only its sign may change
        nowhere = randomization_test([0, 0], [0, 0], [0, 0], metric=metric)  # type: ignore[arg-type]
        assert (nowhere.score_a, nowhere.score_b, nowhere.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("names", "pos_label"),
    [
        (["no", "yes"], "yes"),
        ([-1, 1], 1),
        ([False, True], 1),
        ([0.5, 2.5], 2.5),
        ([3, 4], 4),
    ],
)
@pytest.mark.parametrize("container", [list, np.array, pd.Series, pd.Categorical])
def test_labels_of_any_kind(names: list[Any], pos_label: Any, container: Any) -> None:
    codes = two_systems(6, 50, 0.2, 0.4)
    expected = randomization_test(*codes, random_state=0)
    named = [container([names[code] for code in array]) for array in codes]
    assert randomization_test(*named, pos_label=pos_label, random_state=0) == expected


def test_objects_that_are_numbers_or_texts() -> None:
    y, a, b = two_systems(7, 40, 0.2, 0.4)
    expected = randomization_test(y, a, b)
    objects = [array.astype(object) for array in (y, a, b)]
    assert randomization_test(*objects) == expected
    texts = [array.astype(str).astype(object) for array in (y, a, b)]
    assert randomization_test(texts[0], texts[1].astype(str), texts[2], pos_label="1") == expected


def test_long_texts_are_swapped_whole() -> None:
    seen = set()

    def metric(y: Array, pred: Array) -> float:
        seen.update(pred.tolist())
        return float((y == pred).mean())

    y = ["a", "a", "a"]
    randomization_test(y, y, ["a", "abc", "abcdef"], metric)
    assert seen == {"a", "abc", "abcdef"}


def test_functions_may_take_scores_in_place_of_labels() -> None:
    rng = np.random.default_rng(8)
    y = np.array(["neg", "pos"])[rng.integers(0, 2, 40)]
    good, bad = (y == "pos") + rng.normal(size=(2, 40)) * [[0.3], [3.0]]
    result = randomization_test(y, good, bad, roc_auc_score, n=200, random_state=0)
    assert result.score_a == roc_auc_score(y, good)
    assert result.p_value < 0.05


def test_a_function_cannot_change_what_is_tested() -> None:
    def metric(y: Array, pred: Array) -> float:
        value = float((y == pred).mean())
        pred[:] = 0
        return value

    y, a, b = two_systems(9, 12, 0.2, 0.5)
    given_a = a.copy()
    expected = randomization_test(y, a, b, "accuracy")
    assert randomization_test(y, a, b, metric).p_value == pytest.approx(expected.p_value, rel=1e-10)
    assert (a == given_a).all()


def test_results_are_values() -> None:
    result = randomization_test([1, 0], [1, 0], [0, 0])
    assert isinstance(result.p_value, float)
    assert isinstance(result.exact, bool)
    with pytest.raises(FrozenInstanceError):
        result.p_value = 0.0  # type: ignore[misc]


# ---------------------------------------------------------------- bad input

Y = [0, 1, 0, 1, 1, 0]
A = [0, 1, 1, 1, 0, 0]
B = [1, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((Y, A[:4], B), "one label for each example: y has 6, pred_a has 4, pred_b has 6"),
        (([], [], []), "there are no examples"),
        (([Y], A, B), "y must have one dimension, got 2: give one label"),
        (("yes", A, B), "y must have one dimension, got 0"),
        ((Y, [[0], [1, 2]], B), "pred_a must be a flat list or array: give one label"),
        ((Y, A, [0.0, np.nan] * 3), r"pred_b\[1\] is nan: fill in missing labels"),
        ((Y, [0, 1, None] * 2, B), r"pred_a\[2\] is None: fill in"),
        ((pd.Series([0, pd.NA] * 3, dtype=object), A, B), r"y\[1\] is <NA>: fill in"),
        ((pd.Series(["a", None] * 3), A, B), r"y\[1\] is (nan|None): fill in"),
        (
            (np.array([0, "a"] * 3, dtype=object), A, B),
            "one kind, numbers or texts, got number, str",
        ),
        ((["0", "1"] * 3, A, B), "y has texts, pred_a has numbers, pred_b has numbers; convert"),
        ((Y, ["0", "1"] * 3, B), "pred_a has texts, pred_b has numbers; convert"),
        ((["a", "b"] * 3,) * 3, r"pos_label=1 is not among the labels \('a', 'b'\): set it to"),
        (([0, 1, 2] * 2, A, B), r"f1 is for two classes, .* have 3 \(0, 1, 2\): use average="),
        ((range(6),) * 3, r"have 6 \(0, 1, 2, 3, 4, ...\)"),
    ],
)
def test_bad_labels(labels: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        randomization_test(*labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n must be a positive integer, got 0"),
        ({"n": -5}, "n must be a positive integer"),
        ({"n": 10.0}, "n must be a positive integer"),
        ({"n": True}, "n must be a positive integer"),
        ({"metric": "f2"}, "metric must be 'f1', 'precision', .* got 'f2'"),
        ({"metric": None}, "metric must be 'f1'"),
        ({"metric": ["f1"]}, "metric must be 'f1'"),
        ({"average": "micro"}, "average must be 'binary' or 'macro', got 'micro'"),
        ({"average": "macro", "metric": "accuracy"}, "average='macro' is for 'f1'"),
        ({"average": "macro", "metric": accuracy_score}, "average='macro' is for 'f1'"),
        ({"exact": "yes"}, "exact must be 'auto', True or False, got 'yes'"),
        ({"exact": None}, "exact must be"),
        ({"random_state": "seed"}, "random_state must be an integer"),
        ({"pos_label": 2}, r"pos_label=2 is not among the labels \(0, 1\)"),
        ({"metric": lambda y, pred: "high"}, "metric must return a finite number, got 'high'"),
        ({"metric": lambda y, pred: None}, "metric must return a finite number, got None"),
        ({"metric": lambda y, pred: np.nan}, "metric must return a finite number, got nan"),
        ({"metric": lambda y, pred: np.inf}, "metric must return a finite number, got inf"),
        ({"metric": lambda y, pred: np.ones(2)}, "metric must return a finite number"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        randomization_test(Y, A, B, **options)
