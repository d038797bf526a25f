"""Table 5, what the paper leaves open: the loss that C weighs, the sampling, and when to stop.

From our own setting, one thing at a time is changed. j of uSVM+j is chosen anew for each of them,
by the mean F1 over the validation parts of `imbalance`. Test questions are predicted by models of
all training questions, with the subset tree kernel, decay 0.4. The F1 with the j that is best for
the test questions stands beside it, to see what the choice of j costs: nothing is chosen by it.
Planes are those of uSVM, over the kernel matrix. No time is measured.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from benchmarks.severyn2012.imbalance import CLASSES, JS, SAMPLE, questions, validation_parts
from benchmarks.severyn2012.paper import IMBALANCE
from benchmarks.severyn2012.section import Options, Row, Section
from filbert.kernels import SubsetTree
from filbert.learners.cutting_planes import State, cutting_planes
from filbert.learners.sampling import Sampler

ITERATIONS = 300
EPSILON = 1e-3
SEEDS = range(3)

Matrix = NDArray[np.float64]
Indices = NDArray[Any]


@dataclass(frozen=True)
class Trial:
    """A setting of what the paper leaves open."""

    name: str
    loss: Literal["example", "drawn", "mean", "sample"] = "example"  # what C = 1 is the weight of
    with_replacement: bool = False
    epsilon: float = EPSILON


OURS = Trial("ours: C of one example, without replacement, epsilon 0.001")
TRIALS = [
    OURS,
    replace(OURS, name="j in the sampling alone: C of one example drawn", loss="drawn"),
    replace(OURS, name="C of the mean loss", loss="mean"),
    replace(OURS, name="C of the sum over a sample", loss="sample"),
    replace(OURS, name="sampling with replacement", with_replacement=True),
    replace(OURS, name=f"always {ITERATIONS} iterations", epsilon=-np.inf),
    replace(OURS, name="epsilon 0.01", epsilon=1e-2),
]


class MatrixPlanes:
    """Planes over a kernel matrix: the products of each with all examples."""

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix
        self._room = np.empty((ITERATIONS, len(matrix)))
        self._n = 0
        self._sample: Indices = np.empty(0, dtype=np.uint32)

    def scores(self, sample: Indices, alpha: Matrix) -> Matrix:
        """Return w . phi(x) for a sample of the examples."""
        self._sample = sample
        return np.asarray(alpha @ self._room[: self._n, sample])

    def add(self, places: Indices, weights: Matrix) -> Matrix:
        """Add a plane of examples of the last sample; return its products with all planes."""
        examples = self._sample[places]
        self.restore(examples, weights)
        return np.asarray(self._room[: self._n, examples] @ weights)

    def keep(self, planes: Indices) -> None:
        """Drop all planes but these."""
        self._n = len(planes)
        self._room[: self._n] = self._room[planes]

    def restore(self, examples: Indices, weights: Matrix) -> None:
        """Add a plane of examples as before, whose products are known."""
        self._room[self._n] = weights @ self._matrix[examples]
        self._n += 1


class Replacing:
    """Draws examples in proportion to their costs, with replacement."""

    def __init__(self, costs: Matrix, size: int) -> None:
        self._shares = costs / costs.sum()
        self._size = size

    def __call__(self, rng: np.random.Generator) -> tuple[Indices, Matrix]:
        """Return examples in ascending order, and weights that sum to 1."""
        drawn = rng.choice(len(self._shares), self._size, p=self._shares)
        kept, counts = np.unique(drawn, return_counts=True)
        return kept.astype(np.uint32), counts / self._size


def trained(trial: Trial, matrix: Matrix, signs: NDArray[np.int8], j: int, seed: int) -> Matrix:
    """Return the weights of the training examples."""
    costs = np.where(signs > 0, float(j), 1.0)
    total = {
        "example": costs.sum(),
        "drawn": len(costs),
        "mean": costs.mean(),
        "sample": SAMPLE * costs.mean(),
    }
    state = State(np.random.default_rng(seed))
    sampler = (Replacing if trial.with_replacement else Sampler)(costs, SAMPLE)
    steps = cutting_planes(
        MatrixPlanes(matrix), signs, sampler, state,
        C=float(total[trial.loss]), epsilon=trial.epsilon, intercept=False,
    )  # fmt: skip
    for _ in islice(steps, ITERATIONS):
        pass
    return state.coefficients(len(signs))


@cache
def matrices() -> tuple[Matrix, Matrix]:
    """Return the kernels of training questions, and those of test with training questions."""
    kernel, X, X_test = SubsetTree(0.4), questions("train")[0], questions("test")[0]
    return kernel(X, n_jobs=1), kernel(X_test, X, n_jobs=1)


def signs_of(part: str, name: str) -> NDArray[np.int8]:
    return np.where(questions(part)[1] == name, 1, -1).astype(np.int8)


def chosen_j(trial: Trial, name: str, js: list[int]) -> int:
    """Choose j on the validation parts; of equals the smallest."""
    K, signs = matrices()[0], signs_of("train", name)
    f1 = dict.fromkeys(js, 0.0)
    for seed, (train, left) in enumerate(validation_parts()):
        own, others = K[np.ix_(train, train)], K[np.ix_(left, train)]
        for j in js:
            scores = others @ trained(trial, own, signs[train], j, seed)
            f1[j] += float(f1_score(signs[left], np.where(scores > 0, 1, -1), zero_division=0))
    return max(js, key=lambda j: round(f1[j], 6))


def tested(trial: Trial, name: str, j: int, seeds: list[int]) -> float:
    """Return the mean F1 on the test questions, in per cent."""
    own, others = matrices()
    truth = signs_of("test", name)
    values = []
    for seed in seeds:
        scores = others @ trained(trial, own, signs_of("train", name), j, seed)
        values.append(f1_score(truth, np.where(scores > 0, 1, -1), zero_division=0))
    return 100 * float(np.mean(values))


def mean(values: Iterable[float]) -> float:
    return round(float(np.mean([*values])), 1)


def rows_of(trial: Trial, classes: list[str], js: list[int], seeds: list[int]) -> list[Row]:
    """Return a row for uSVM and one for uSVM+j."""
    f1 = {(name, j): tested(trial, name, j, seeds) for name in classes for j in js}
    rows = []
    for system in ("uSVM", "uSVM+j"):
        chosen = {name: 1 if system == "uSVM" else chosen_j(trial, name, js) for name in classes}
        best = {
            name: 1 if system == "uSVM" else max(js, key=lambda j: f1[name, j]) for name in classes
        }
        theirs = mean(IMBALANCE[name][system].f1 for name in classes)
        ours = mean(f1[name, j] for name, j in chosen.items())
        row: Row = {"trial": trial.name, "system": system, "F1": ours, "paper F1": theirs}
        row["difference"] = round(ours - theirs, 1)
        row["F1, best j of the test set"] = mean(f1[name, j] for name, j in best.items())
        row |= {f"F1 {name}": round(f1[name, j], 1) for name, j in chosen.items()}
        row["j"] = ", ".join(f"{name} {j}" for name, j in chosen.items())
        row["best j"] = ", ".join(f"{name} {j}" for name, j in best.items())
        rows.append(row)
        print(row, flush=True)
    return rows


def section(options: Options) -> Section:
    result = Section("Table 5: the loss, the sampling and when to stop, one at a time")
    classes, js, seeds = CLASSES, JS, [*SEEDS]
    if options.quick:
        classes, js, seeds = CLASSES[3:5], JS[:2], [0]
    for trial in TRIALS[:2] if options.quick else TRIALS:
        result.rows += rows_of(trial, classes, js, seeds)
    best = {system: max((row for row in result.rows if row["system"] == system),
                        key=lambda row: row["F1"]) for system in ("uSVM", "uSVM+j")}  # fmt: skip
    result.notes = [
        f"Samples of {SAMPLE}, at most {ITERATIONS} iterations, C = 1, decay 0.4, no intercept; "
        f"the mean of {len(seeds)} seeds. The difference is to the paper's F1. j is chosen on "
        "validation parts of the training set, for each class and trial. The best j of the test "
        "set says what the choice of j costs; nobody may choose by it.",
        "The weight of the mean loss of a sample is C times: the sum of the costs of all examples "
        "(ours), their number (one example drawn), the mean cost (the mean loss), and the mean "
        f"cost times {SAMPLE} (the sum over a sample).",
        *(f"{system}: the best trial is '{row['trial']}', {row['difference']:+.1f} from the paper."
          for system, row in best.items()),
    ]  # fmt: skip
    return result
