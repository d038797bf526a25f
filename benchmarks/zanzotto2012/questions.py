"""Fig. 3: question classification, accuracy against lambda, of the exact kernel and of vectors."""

from dataclasses import dataclass

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.measure import in_own_process
from benchmarks.zanzotto2012.data import questions
from benchmarks.zanzotto2012.learning import CS, Matrix, best_c, percent, predictions, vectors
from benchmarks.zanzotto2012.section import (
    COMPOSITIONS,
    DECAYS,
    MODULE,
    SIGNS,
    D,
    Options,
    Row,
    Section,
)
from filbert import Forest
from filbert.kernels import SubsetTree

_AT = 0.4  # the lambda that C is chosen at, and that all training questions are learnt with
# Which vectors LinearSVC has, after the rows of a kernel.
_LINEAR = {
    "product": (("product", D), (SIGNS, D), (SIGNS, 2 * D)),
    "convolution": (("convolution", D), ("convolution", 2 * D)),
}
_N_CURVE = 2000  # training questions of the curve, which C is chosen on


@dataclass
class Task:
    """Training and test questions, the whole of them or a part."""

    train: Forest
    y_train: Matrix
    test: Forest
    y_test: Matrix

    def grams(self, kernel: str, decay: float) -> tuple[Matrix, Matrix]:
        """Training questions with themselves, and test questions with them."""
        if kernel == "exact":
            k = SubsetTree(decay)
            return k(self.train), k(self.test, self.train)
        a, b = (vectors(forest, kernel, decay) for forest in (self.train, self.test))
        return a @ a.T, b @ a.T

    def part(self, n: int) -> "Task":
        """Training questions that are spread over the whole."""
        some = np.linspace(0, len(self.y_train) - 1, min(n, len(self.y_train))).astype(int)
        return Task(self.train[some], self.y_train[some], self.test, self.y_test)

    def row(self, kernel: str, decay: float, grams: tuple[Matrix, Matrix], C: float) -> Row:
        """The accuracy of an SVM on test questions."""
        right = predictions(grams[0], self.y_train, grams[1], C) == self.y_test
        row = {"kernel": kernel, "trained on": len(self.y_train), "lambda": decay, "C": C}
        return {**row, "accuracy": percent(right)}

    def linear_row(self, way: str, decay: float, C: float, d: int) -> Row:
        """What users would do: LinearSVC on the vectors."""
        learner = LinearSVC(C=C, tol=0.01, random_state=0)
        learner.fit(vectors(self.train, way, decay, d), self.y_train)
        right = learner.predict(vectors(self.test, way, decay, d)) == self.y_test
        row = {"kernel": f"{way}, LinearSVC, d = {d}", "trained on": len(self.y_train)}
        return {**row, "lambda": decay, "C": C, "accuracy": percent(right)}


def _task() -> Task:
    data = questions()
    return Task(data.train, np.array(data.y_train), data.test, np.array(data.y_test))


def accuracies(kernel: str, n: str, n_curve: str) -> dict[str, list[Row]]:
    """Of an SVM on a kernel: trained on all questions at one lambda, and the curve."""
    task = _task().part(int(n))
    few = task.part(int(n_curve))
    C = best_c(few.grams(kernel, _AT)[0], few.y_train)
    return {
        "all": [task.row(kernel, _AT, task.grams(kernel, _AT), C)],
        "curve": [few.row(kernel, decay, few.grams(kernel, decay), C) for decay in DECAYS],
    }


def linear_accuracy(way: str, n: str, C: str, d: str) -> Row:
    """Of LinearSVC on vectors."""
    return _task().part(int(n)).linear_row(way, _AT, float(C), int(d))


def linear(way: str, n: int, C: float, d: int) -> Row:
    """Measure `linear_accuracy` in a process of its own."""
    row = in_own_process(MODULE, "--one", "linear", way, n, C, d)
    return {name: value for name, value in row.items() if name != "runs"}


ONE = {"accuracies": accuracies, "linear": linear_accuracy}


def section(options: Options) -> Section:
    """Fig. 3."""
    result = Section(
        "Fig. 3: question classification; the aim is a linear SVM on the vectors within two points "
        "of the exact kernel at lambda 0.4"
    )
    n, n_curve = (600, 300) if options.quick else (10**6, _N_CURVE)
    curve: list[Row] = []
    for kernel in ("exact", *COMPOSITIONS):
        found = in_own_process(MODULE, "--one", "accuracies", kernel, n, n_curve)
        result.rows += found["all"]
        curve += found["curve"]
        if kernel == "exact":
            exact = found["all"][0]
        result.rows += [linear(way, n, exact["C"], d) for way, d in _LINEAR.get(kernel, ())]
    gaps = {
        row["kernel"]: exact["accuracy"] - row["accuracy"]
        for row in result.rows
        if "LinearSVC" in row["kernel"]
    }
    result.rows += curve
    result.notes = [
        f"Six classes, one against the rest; kernels and vectors normalised, d = {D}. Of C = "
        f"{', '.join(f'{C:g}' for C in CS)}, each kernel has the one that is best by "
        f"cross-validation at lambda {_AT} on the {n_curve:,} training questions that the curve is "
        "learnt from.",
        "Kernels and products of vectors go to the same learner, scikit-learn's SVC; LinearSVC "
        "(squared hinge, the exact kernel's C, tol = 0.01) has the vectors themselves. The paper's "
        "figure is a curve without numbers. 'product, signs' has label vectors of random signs, "
        "which are not the paper's.",
        "Below the exact kernel at lambda 0.4: "
        + "; ".join(f"{name} by {gap:.1f} points" for name, gap in gaps.items())
        + ". The aim of two is missed where it is more. With 500 test questions the deviation of "
        "an accuracy of 90 is 1.3.",
    ]
    return result
