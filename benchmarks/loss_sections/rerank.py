"""Re-ranking of parses: k-best lists of a parser, chosen from by kernels on trees.

Collins & Duffy 2002 re-rank the parses of a PCFG with a voted perceptron on preferences and the
subset tree kernel. The parser's log-probability is a further feature with a weight of its own.
"""

import json
import lzma
from collections.abc import Callable, Iterable
from itertools import islice, product
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from benchmarks.measure import Clock, shared_data
from benchmarks.sections import Row, Section
from filbert import Examples, Forest, TreePerceptron, TreeRanker
from filbert.kernels import Linear, Preference, SubsetTree
from filbert.metrics import BracketCounts, randomization_test

SCALES = [0.001, 0.01, 0.1, 1.0]
COSTS = [0.01, 0.1, 1.0, 10.0]
DECAYS = [0.2, 0.4, 0.6]
EPOCHS = [1, 3, 10]
N_FOLDS = 3


class KBest:
    """Lists of candidate parses, with their brackets and the parser's scores."""

    def __init__(self, part: str, n: int | None = None) -> None:
        path = shared_data() / f"rerank-ewt/{part}.jsonl.xz"
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            sentences = [json.loads(line) for line in islice(lines, n)]
        found = [(k, s, c) for k, s in enumerate(sentences) for c in s["candidates"]]
        self.group = np.array([k for k, _, _ in found])
        self.counts = BracketCounts(
            np.array([c["match"] for _, _, c in found]),
            np.array([c["guess"] for _, _, c in found]),
            np.array([s["n_gold"] for _, s, _ in found]),
        )
        scores = np.array([[c["logp"]] for _, _, c in found])
        self.X = Examples(tree=Forest(c["tree"] for _, _, c in found), score=scores)
        counts = self.counts
        self.y = np.round(2 * counts.matched / (counts.guessed + counts.gold), 6)

    def best(self, scores: Any) -> Any:
        """The number of the best candidate of each list, the parser's first if equal."""
        order = np.lexsort((np.arange(len(scores)), -scores, self.group))
        return order[np.flatnonzero(np.diff(self.group[order], prepend=-1))]

    def f1(self, scores: Any) -> float:
        """The labelled F1 of the best candidates."""
        return float(self.counts[self.best(scores)].f1)

    def __getitem__(self, rows: Any) -> "KBest":
        part = object.__new__(KBest)
        part.group, part.counts = self.group[rows], self.counts[rows]
        part.X, part.y = self.X[rows], self.y[rows]
        return part


def section_rerank(n: int | None = None) -> Section:
    section = Section("re-ranking parses: labelled F1 of rerank-ewt (1,000 sentences)")
    train, test = KBest("train", n), KBest("test")
    base = test.best(test.X["score"][:, 0])
    systems: dict[str, tuple[Any, Row]] = {
        "the parser's first candidate": (base, {}),
        "oracle": (test.best(test.y), {}),
    }
    for name, paths, grid in (
        ("TreeRanker, hinge", ranker_path("hinge"), COSTS),
        ("TreeRanker, logistic", ranker_path("logistic"), COSTS),
        ("TreePerceptron on preferences", perceptron_path, EPOCHS),
    ):
        clock = Clock()
        decay, scale, best = chosen(train, paths, grid)
        row = {"decay": decay, "scale": scale, "C" if grid is COSTS else "epochs": best}
        row["cpu_search"] = clock.lap()[0]
        [scores] = paths(train, test, decay, scale, [best])
        systems[name] = test.best(scores), row | {"cpu_fit_predict": clock.lap()[0]}
    for name, (picked, row) in systems.items():
        section.rows.append(scored(name, test.counts[picked]) | against(test, base, picked) | row)
    section.notes += [
        f"The decay {DECAYS}, the scale of the parser's score {SCALES}, and C {COSTS} or the "
        f"number of epochs {EPOCHS} by F1 in {N_FOLDS}-fold cross-validation over the training "
        "lists. The kernel is normalised.",
        "p: two-sided, by 10,000 random swaps of the choices of the system and the parser.",
    ]
    return section


def scored(name: str, counts: BracketCounts) -> Row:
    figures = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    row = {"system": name, **{key: round(100 * value, 2) for key, value in figures.items()}}
    return row | {"exact": round(100 * float(np.mean(counts.exact)), 1)}


def against(test: KBest, base: Any, picked: Any) -> Row:
    """The gain over the parser, and its significance."""
    if np.array_equal(base, picked):
        return {}
    result = randomization_test(
        base,
        picked,
        base,
        metric=lambda _, rows: float(test.counts[rows].f1),
        random_state=0,
        exact=False,
    )
    return {"gain": round(100 * result.difference, 2), "p": round(result.p_value, 5)}


Paths = Callable[[KBest, KBest, float, float, Iterable[Any]], list[Any]]


def chosen(data: KBest, paths: Paths, grid: list[Any]) -> tuple[float, float, Any]:
    """The decay, the scale and the value of the grid with the best F1 in cross-validation."""
    f1: dict[tuple[float, float, Any], float] = {}
    for decay, scale in product(DECAYS, SCALES):
        scores = np.zeros((len(grid), len(data.y)))
        for train, test in GroupKFold(N_FOLDS).split(data.y, groups=data.group):
            scores[:, test] = paths(data[train], data[test], decay, scale, grid)
        f1 |= {(decay, scale, v): data.f1(s) for v, s in zip(grid, scores, strict=True)}
    return max(f1, key=lambda key: f1[key])


# ---------------------------------------------------------------- systems


def ranker_path(loss: Any) -> Paths:
    def path(
        train: KBest, test: KBest, decay: float, scale: float, costs: Iterable[float]
    ) -> list[Any]:
        kernel = SubsetTree(decay).on("tree") + scale * Linear(normalize=False).on("score")
        ranker = TreeRanker(kernel, loss=loss, tol=1e-2, random_state=0)
        models = ranker.fit_path(train.X, train.y, list(costs), group=train.group)
        return [model.predict(test.X) for model in models]

    return path


def perceptron_path(
    train: KBest, test: KBest, decay: float, scale: float, epochs: Iterable[int]
) -> list[Any]:
    """Preferences of the best candidate of a list over each other one (Collins & Duffy 2002)."""
    higher, lower = preferences(train)
    flipped = np.arange(len(higher)) % 2 == 1
    pairs = paired(train, np.where(flipped, lower, higher), np.where(flipped, higher, lower))
    trees = Preference(SubsetTree(decay), ("tree_a", "tree_b"))
    kernel = trees + scale * Preference(Linear(normalize=False), ("score_a", "score_b"))
    first = np.searchsorted(test.group, test.group)  # compare each candidate with the first one
    candidates = paired(test, np.arange(len(first)), first)
    found = []
    for n in epochs:
        perceptron = TreePerceptron(kernel, n_epochs=n, shuffle=False)
        perceptron.fit(pairs, np.where(flipped, -1, 1))
        found.append(perceptron.decision_function(candidates))
    return found


def paired(data: KBest, a: Any, b: Any) -> Examples:
    sides = (("a", a), ("b", b))
    parts = ("tree", "score")
    return Examples(**{f"{p}_{side}": data.X[p][rows] for p in parts for side, rows in sides})


def preferences(data: KBest) -> tuple[Any, Any]:
    best = data.best(data.y)
    number = np.searchsorted(np.unique(data.group), data.group)
    higher = best[number]
    lower = np.flatnonzero(data.y < data.y[higher])
    return higher[lower], lower
