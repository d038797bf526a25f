"""Questions by class: linear models on `TreeFeatures` beside the learners of Filbert."""

import json
import lzma
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks.measure import Clock, shared_data
from benchmarks.sections import Section
from filbert import Forest, TreeFeatures, TreeLogisticRegression, TreeSVC
from filbert.kernels import SubsetTree

KERNEL = SubsetTree(0.4)
COSTS = [1.0, 10.0, 100.0, 1000.0, 10000.0]
N_FOLDS = 3


def questions(part: str, kind: str = "const") -> tuple[Forest, Any]:
    with lzma.open(shared_data() / f"qc/{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return Forest(r["trees"][kind] for r in records), np.array([r["label"] for r in records])


def section_questions() -> Section:
    section = Section(
        "goal: LogisticRegression on TreeFeatures within one point of TreeSVC on questions"
    )
    train, test = questions("train"), questions("test")
    for name, (learner, grid) in learners().items():
        clock = Clock()
        search = GridSearchCV(learner, grid, cv=N_FOLDS, error_score="raise").fit(*train)
        row: dict[str, Any] = {"learner": name, "cv_accuracy": round(100 * search.best_score_, 2)}
        row["accuracy"] = round(100 * float(search.score(*test)), 1)
        if hasattr(search, "predict_proba"):
            p = np.clip(search.predict_proba(test[0]), 1e-15, 1)
            row["log_loss"] = round(float(log_loss(test[1], p, labels=search.classes_)), 4)
        [(key, value)] = search.best_params_.items()
        row[key.rpartition("__")[2]] = value
        section.rows.append(row | {"cpu_seconds": clock.lap()[0]})
    section.notes.append(
        f"5,452 training questions, 500 test questions, trees with words, SubsetTree(0.4). C is "
        f"chosen among {COSTS}, or alpha among the values that correspond to it, by {N_FOLDS}-fold "
        "cross-validation on the training questions. CPU seconds are those of the whole search."
    )
    return section


def learners() -> dict[str, tuple[Any, dict[str, list[float]]]]:
    def piped(learner: Any) -> Any:
        return make_pipeline(TreeFeatures(KERNEL), learner)

    each = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    alphas = [1 / (C * 5452) for C in COSTS]
    return {
        "TreeSVC": (TreeSVC(KERNEL, random_state=0, C=1.0, loss="hinge"), {"C": COSTS}),
        "TreeLogisticRegression, one against the rest": (
            TreeLogisticRegression(KERNEL, random_state=0),
            {"C": COSTS},
        ),
        "LogisticRegression, multinomial": (
            piped(LogisticRegression(max_iter=1000)),
            {"logisticregression__C": COSTS},
        ),
        "LogisticRegression, one against the rest": (
            piped(each),
            {"onevsrestclassifier__estimator__C": COSTS},
        ),
        "LinearSVC": (
            piped(LinearSVC(loss="hinge", random_state=0, max_iter=10_000)),
            {"linearsvc__C": COSTS},
        ),
        "SGDClassifier": (piped(SGDClassifier(random_state=0)), {"sgdclassifier__alpha": alphas}),
    }
