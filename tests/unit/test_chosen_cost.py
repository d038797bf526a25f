"""C="auto" of TreeSVC: 1 for noisy classes, 10 for clean ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import StratifiedKFold

from filbert import Forest, TreeSVC, load, parts, save
from filbert.errors import InvalidParameterError
from filbert.kernels import LocalPatterns, SubsetTree


def sentences(n: int, noise: float, seed: int = 0) -> tuple[Forest, np.ndarray[Any, Any]]:
    """Return trees whose verb decides the class, but for some noise. Nouns say nothing."""
    rng = np.random.default_rng(seed)
    verbs = rng.integers(6, size=n)
    nouns = rng.integers(60, size=(n, 4))
    X = Forest(
        f"(S (NP {' '.join(f'n{noun}' for noun in own)}) (VP v{verb}))"
        for own, verb in zip(nouns, verbs, strict=True)
    )
    return X, (verbs % 2) ^ (rng.random(n) < noise)


def test_noise_is_noticed() -> None:
    clean, noisy = (TreeSVC(random_state=0).fit(*sentences(600, noise)) for noise in (0.0, 0.3))
    assert (clean.C_, noisy.C_) == (10.0, 1.0)


@pytest.mark.parametrize("data_seed", [0, 3, 7, 10])
def test_the_choice_is_that_of_a_cross_validation(data_seed: int) -> None:
    """By scikit-learn's folds, near the border between the two values."""
    X, y = sentences(120, 0.12, data_seed)
    gain = np.zeros(len(y))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(y, y):
        small, usual = (
            TreeSVC(C=C, tol=1e-2, random_state=0).fit(X[train], y[train]).predict(X[test])
            for C in (1.0, 10.0)
        )
        gain[test] = (small == y[test]) * 1.0 - (usual == y[test])
    is_better = gain.sum() > 1.5 * gain.std() * np.sqrt(len(y))
    chosen = TreeSVC(random_state=0).fit(X, y).C_
    assert chosen == (1.0 if is_better else 10.0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_model_is_that_of_the_chosen_value(noise: float) -> None:
    X, y = sentences(600, noise)
    auto = TreeSVC(random_state=3).fit(X, y)
    named = TreeSVC(C=auto.C_, random_state=3).fit(X, y)
    assert_array_equal(auto.decision_function(X), named.decision_function(X))
    assert auto.get_params()["C"] == "auto"


def test_seed_and_threads_do_not_matter() -> None:
    for data_seed in range(5):  # near the border between the two values
        X, y = sentences(150, 0.12, data_seed)
        found = {
            TreeSVC(random_state=seed, n_jobs=jobs).fit(X, y).C_
            for seed, jobs in ((0, 1), (1, 2), (None, 3))
        }
        assert len(found) == 1


def test_many_examples_are_sampled() -> None:
    for noise, C in ((0.0, 10.0), (0.3, 1.0)):
        assert TreeSVC(random_state=0).fit(*sentences(4000, noise)).C_ == C


@pytest.mark.parametrize("n_noisy", [600, 4000])
def test_examples_without_weight_are_not_looked_at(n_noisy: int) -> None:
    X, y = sentences(n_noisy, 0.3)
    clean, own = sentences(300, 0.0, 1)
    both, labels = Forest.concat([X, clean]), np.concatenate([y, own])
    weights = np.repeat([0.0, 1.0], [len(X), len(clean)])
    assert TreeSVC(random_state=0).fit(both, labels).C_ == 1.0
    assert TreeSVC(random_state=0).fit(both, labels, sample_weight=weights).C_ == 10.0
    # Of a single class, nothing can be held out.
    weights[labels == 1] = 0.0
    assert TreeSVC(random_state=0).fit(both, labels, sample_weight=weights).C_ == 10.0


def test_where_nothing_is_searched() -> None:
    X, y = sentences(200, 0.3)
    assert TreeSVC(engine="rows").fit(X, y).C_ == 10.0
    assert TreeSVC(SubsetTree(), strategy="sdag", tol=0.9).fit(X, y).C_ == 10.0
    assert TreeSVC().fit(["(S a)", "(S b)"], [0, 1]).C_ == 10.0
    assert [model.C_ for model in TreeSVC().fit_path(X, y, [0.5, 2.0])] == [0.5, 2.0]


def test_a_corpus_in_parts() -> None:
    X, y = sentences(200, 0.3)
    model = TreeSVC(random_state=0).fit(parts([X[:100], X[100:]]), y)
    assert model.C_ == 10.0


def test_files(tmp_path: Path) -> None:
    model = TreeSVC(random_state=0).fit(*sentences(600, 0.3))
    save(model, tmp_path / "model")
    found = load(tmp_path / "model")
    assert (found.C, found.C_) == ("auto", 1.0)


@pytest.mark.parametrize("C", ["best", "", None, True, -1.0, [1.0]])
def test_other_values_are_refused(C: Any) -> None:
    with pytest.raises(InvalidParameterError, match="C must be"):
        TreeSVC(LocalPatterns(), C=C).fit(["(S a)", "(S b)"], [0, 1])
