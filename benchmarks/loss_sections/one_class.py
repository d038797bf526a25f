"""Novelty: trees of a class that training has not seen."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import SGDOneClassSVM
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from benchmarks.datasets import column
from benchmarks.measure import Clock, shared_data
from benchmarks.sections import Row, Section
from filbert import Forest, TreeFeatures
from filbert.kernels import SubsetTree

DATA = {
    "inex 2005": ("inex/inex2005.train.tsv.xz", "inex/inex2005.test.tsv.xz"),
    "cslogs 1, 2": ("cslogs/cslog1.tsv.xz", "cslogs/cslog2.tsv.xz"),
}
NU = 0.1
KERNEL = SubsetTree(0.4)


def section_one_class() -> Section:
    section = Section("novelty detection: AUC for a class that was held out of training")
    for name, paths in DATA.items():
        (y, X), (y_test, X_test) = (examples(path) for path in paths)
        held_out = [class_auc(X[y != c], X_test, y_test == c) for c in np.unique(y)]
        rows = [{"data_set": name, "held_out": str(c)} for c in np.unique(y)]
        section.rows += [row | found for row, found in zip(rows, held_out, strict=True)]
        mean: Row = {"data_set": name, "held_out": "mean of all"}
        mean |= {
            key: round(float(np.mean([found[key] for found in held_out])), 4) for key in held_out[0]
        }
        section.rows.append(mean)
    section.notes.append(
        f"Trained on all classes but one, with nu = {NU}, SubsetTree(0.4), on the training part "
        "(cslogs: week 1). Tested on the test part (week 2). SGDOneClassSVM learns on features, "
        "OneClassSVM on the kernel matrix. CPU seconds are those of features or matrix, training "
        "and scores."
    )
    return section


def examples(path: str) -> tuple[Any, Forest]:
    labels, trees = (list(column([path], number, shared_data())) for number in (0, 1))
    return np.array(labels), Forest(trees)


def class_auc(X: Forest, X_test: Forest, is_new: Any) -> Row:
    row: Row = {"trained_on": len(X), "new_in_test": int(is_new.sum())}
    for key, scores in (("sgd", by_features(X, X_test)), ("one_class_svm", by_matrix(X, X_test))):
        clock = Clock()
        row[f"auc_{key}"] = round(float(roc_auc_score(is_new, -next(scores))), 4)
        row[f"cpu_{key}"] = clock.lap()[0]
    return row


def by_features(X: Forest, X_test: Forest) -> Iterator[Any]:
    features = TreeFeatures(KERNEL)
    learner = SGDOneClassSVM(nu=NU, random_state=0).fit(features.fit_transform(X))
    yield learner.decision_function(features.transform(X_test))


def by_matrix(X: Forest, X_test: Forest) -> Iterator[Any]:
    learner = OneClassSVM(kernel="precomputed", nu=NU).fit(KERNEL(X))
    yield learner.decision_function(KERNEL(X_test, X))
