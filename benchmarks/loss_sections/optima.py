"""Objectives beside those of LIBLINEAR, which has the same problems on explicit features."""

import os
import re
import tempfile
from functools import partial
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import LABELLED
from benchmarks.measure import shared_data
from benchmarks.sections import Row, Section
from filbert import Forest, TreeFeatures, TreeLogisticRegression, TreeSVC, TreeSVR
from filbert.kernels import SubsetTree

DATA = ["qc grct", "glycan: kingdom", "cslogs 1", "inex 2005", "rte hypotheses"]
N_TREES = 1000
C = 1.0
EPSILON = 0.1
PRINTED = 5e-7  # LIBLINEAR prints six digits of its dual objective
KERNEL = SubsetTree(0.4)
SOLVERS: dict[str, tuple[int, Any]] = {
    "logistic": (7, TreeLogisticRegression),
    "hinge": (3, partial(TreeSVC, loss="hinge")),
    "squared_hinge": (1, partial(TreeSVC, loss="squared_hinge")),
    "epsilon_insensitive": (13, partial(TreeSVR, loss="epsilon_insensitive")),
    "squared_epsilon_insensitive": (12, partial(TreeSVR, loss="squared_epsilon_insensitive")),
}


def section_optima() -> Section:
    section = Section(
        "on the rows of TreeFeatures, LIBLINEAR has the same objectives, up to both gaps"
    )
    for name in DATA:
        labels, texts = zip(*islice(LABELLED[name](shared_data()), N_TREES), strict=True)
        X = Forest(texts)
        y = np.where(np.array(labels) == max(set(labels), key=labels.count), 1.0, -1.0)
        A: Any = TreeFeatures(KERNEL).fit_transform(X)
        products = float(np.abs((A @ A.T).toarray() - KERNEL(X)).max())
        features: Any = sp.csr_matrix(
            sp.hstack([A, np.ones((len(y), 1))])
        )  # the intercept's feature
        for loss in SOLVERS:
            row: Row = {"data_set": name, "trees": len(y), "columns": A.shape[1]}
            section.rows.append(row | compared(loss, X, features, y) | {"A A' - K": products})
    outside = [f"{row['data_set']}, {row['loss']}" for row in section.rows if not row["agree"]]
    section.notes += [
        f"The first {N_TREES:,} trees, the most frequent class against the rest, C = {C:g}, "
        f"epsilon = {EPSILON}. SubsetTree(0.4), tol = 1e-6. LIBLINEAR has the option -e 1e-8; its "
        "gap is its primal objective, computed from its weights, minus the dual objective that it "
        "prints.",
        "They agree if each objective is at most its own gap above the other one.",
        f"They disagree: {', '.join(outside)}." if outside else "They agree everywhere.",
    ]
    return section


def compared(loss: str, X: Forest, features: Any, y: Any) -> Row:
    number, learner = SOLVERS[loss]
    ours = learner(KERNEL, C=C, tol=1e-6, max_iter=100_000, random_state=0).fit(X, y)
    w, dual = liblinear(number, features, y)
    theirs = float(w @ w / 2 + losses(loss, y, features @ w).sum())
    their_gap = max(0.0, theirs - dual) + PRINTED
    own_gap = ours.duality_gap_ * ours.objective_
    difference = ours.objective_ - theirs
    return {
        "loss": loss,
        "objective": ours.objective_,
        "gap": ours.duality_gap_,
        "liblinear": theirs,
        "liblinear_gap": their_gap / theirs,
        "difference": difference / theirs,
        "agree": bool(-their_gap <= difference <= own_gap),
    }


def liblinear(number: int, features: Any, y: Any) -> tuple[Any, float]:
    """Return LIBLINEAR's weights and the dual objective that it prints."""
    package = import_module("liblinear.liblinearutil")  # pip install liblinear-official
    with tempfile.TemporaryFile() as printed:
        kept = os.dup(1)
        os.dup2(printed.fileno(), 1)
        try:
            options = f"-s {number} -c {C:g} -p {EPSILON} -e 1e-8"
            model = package.train(package.problem(y, features), package.parameter(options))
        finally:
            import_module("ctypes").CDLL(None).fflush(None)  # what C has not written yet
            os.dup2(kept, 1)
            os.close(kept)
        printed.seek(0)
        text = printed.read().decode()
    [value] = re.findall(r"Objective value = (\S+)", text)
    w = np.array(model.get_decfun()[0])
    if number < 11:  # a positive score means the first of its labels
        w *= model.get_labels()[0]
    return w, -float(value)


def losses(loss: str, y: Any, f: Any) -> Any:
    beyond = np.maximum(0, np.abs(y - f) - EPSILON)
    return {
        "logistic": np.logaddexp(0, -y * f),
        "hinge": np.maximum(0, 1 - y * f),
        "squared_hinge": np.maximum(0, 1 - y * f) ** 2,
        "epsilon_insensitive": beyond,
        "squared_epsilon_insensitive": beyond**2,
    }[loss]
