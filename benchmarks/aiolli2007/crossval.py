"""`srl-5000`, which has features of its own: trees, features and both, cross-validated."""

import time

import numpy as np
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.aiolli2007.kernels import NAMES, has_trees, kernel
from benchmarks.aiolli2007.section import Options, Row, Section
from benchmarks.measure import shared_data
from filbert import TreePerceptron, read_examples

DECAYS = [0.1, 0.4, 0.7]
N_EPOCHS = 5
FOLDS, REPEATS = 10, 3


def measured(name: str, decay: float, folds: int, repeats: int) -> Row:
    """Predict each example by a model of the other folds."""
    X, y = read_examples(shared_data() / "srl-5000/dataset_5000.dat.xz")
    model = TreePerceptron(
        kernel(name, decay), n_epochs=N_EPOCHS, shuffle=True, random_state=0, n_jobs=1
    )
    start = time.process_time()
    scores = []
    for seed in range(repeats):
        predicted = np.empty_like(y)
        for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y):
            predicted[test] = model.fit(X[train], y[train]).predict(X[test])
        scores.append([100 * f(y, predicted) for f in (f1_score, precision_score, recall_score)])
    f1, precision, recall = np.mean(scores, axis=0)
    return {
        "kernel": name,
        "lambda": decay if has_trees(name) else "",
        "F1": round(float(f1), 1),
        "+-": round(float(np.std(scores, axis=0)[0]), 1),
        "precision": round(float(precision), 1),
        "recall": round(float(recall), 1),
        "cpu_seconds": round(time.process_time() - start, 2),
    }


def section(options: Options) -> Section:
    result = Section("srl-5000: TK+POLY3 against TK and POLY3 alone, cross-validated")
    folds, repeats = (3, 1) if options.quick else (FOLDS, REPEATS)
    for name in NAMES:
        decays = DECAYS if has_trees(name) else DECAYS[:1]
        for decay in decays[:1] if options.quick else decays:
            result.rows.append(measured(name, decay, folds, repeats))
            print(result.rows[-1], flush=True)
    result.notes = [
        f"{folds} folds, {repeats} times with other folds: the means, and the deviation of F1 "
        f"between these. 246 of 5,000 examples are positive. {N_EPOCHS} epochs in random order, "
        "averaged.",
    ]
    return result
