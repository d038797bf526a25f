"""Cross-validation with one factorisation gives what training on each fold gives."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import filbert.engine.sums
from filbert import Forest, TreeSVC
from filbert.kernels import PartialTree, SubsetTree
from filbert.learners.cross_validation import cross_val_predict_path

WORDS = "abcdefgh"
X = Forest(
    [f"(S (NP {WORDS[i % 8]}) (VP (V {WORDS[i // 3 % 8]}) (NP {WORDS[i % 5]})))" for i in range(90)]
)
TWO = np.where(np.arange(90) % 8 < 4, "x", "y")
THREE = np.array(["x", "y", "z"])[np.arange(90) // 3 % 8 % 3]
Cs = [0.1, 1.0, 10.0]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": SubsetTree()},
        {"kernel": PartialTree(), "engine": "rows", "class_weight": "balanced"},
        {"kernel": SubsetTree(), "strategy": "usvm", "tol": 0.05},
    ],
    ids=["factors", "rows", "planes"],
)
def test_folds_are_those_of_separate_training(y: Any, parameters: dict[str, Any]) -> None:
    svm = TreeSVC(
        **{
            "kernel": SubsetTree(),
            "C": 1.0,
            "loss": "hinge",
            "tol": 1e-5,
            "random_state": 0,
            **parameters,
        }
    )
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y))
    predicted = cross_val_predict_path(svm, X, y, Cs, folds)
    agreement = []
    for C, own in zip(Cs, predicted, strict=True):
        for train, test in folds:
            alone = svm.set_params(C=C).fit(X[train], y[train]).predict(X[test])
            agreement.append((alone == own[test]).mean())
    exact = svm.strategy == "exact"  # planes are found on samples
    assert min(agreement) >= (1.0 if exact else 0.8)


def test_a_class_may_miss_in_a_fold() -> None:
    y = THREE.astype("<U4")
    y[0] = "rare"
    folds = [(np.arange(45, 90), np.arange(45)), (np.arange(45), np.arange(45, 90))]
    svm = TreeSVC(SubsetTree(), class_weight="balanced", random_state=0, C=1.0, loss="hinge")
    [predicted] = cross_val_predict_path(svm, X, y, [1.0], folds)
    assert set(predicted) <= {"x", "y", "z", "rare"}


def test_all_folds_share_one_factorisation(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    factorize = filbert.engine.sums.factorize

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return factorize(*arguments, **options)

    monkeypatch.setattr(filbert.engine.sums, "factorize", counted)
    folds = StratifiedKFold(5).split(np.zeros(len(TWO)), TWO)
    cross_val_predict_path(
        TreeSVC(SubsetTree(), engine="factors", C=1.0, loss="hinge"), X, TWO, Cs, folds
    )
    assert len(calls) == 1
