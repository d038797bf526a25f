"""Binding of glycans to proteins: regression and ranking for each protein."""

import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import spearmanr, wilcoxon
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from benchmarks.measure import Clock, shared_data
from benchmarks.sections import Section
from filbert import Forest, TreeRanker, TreeSVR
from filbert.kernels import PartialTree, SubsetTree

Glycans = tuple[Forest, Any]  # trees and values of one protein
# For each value of a grid, the predictions of a model with this value.
Path = Callable[[Glycans, Forest], list[Any]]

KERNELS = {
    "SubsetTree(0.4, include_leaves=True)": SubsetTree(0.4, include_leaves=True),
    "PartialTree(0.4)": PartialTree(0.4),
}
ALPHAS = [0.1, 1.0, 10.0, 100.0]
COSTS = [0.01, 0.1, 1.0, 10.0]
PAIR_COSTS = [1e-4, 1e-3, 1e-2]
N_FOLDS = 3


def section_glycans() -> Section:
    section = Section("binding of glycans: mean Spearman correlation over 25 proteins")
    train, test = (glycans(part) for part in ("train", "test"))
    found: dict[str, list[float]] = {}
    for name, path in paths().items():
        clock = Clock()
        found[name] = [correlation(path, train[p], test[p]) for p in sorted(train)]
        row = {"learner": name, "spearman": round(float(np.mean(found[name])), 3)}
        base = found["ridge on counts of monosaccharides"]
        if found[name] is not base:
            row["better_for"] = sum(a > b for a, b in zip(found[name], base, strict=True))
            row["p"] = round(float(wilcoxon(found[name], base).pvalue), 5)
        section.rows.append({**row, "cpu_seconds": clock.lap()[0]})
    section.notes += [
        f"One model for each protein. C {COSTS} (ranking: {PAIR_COSTS}) or alpha {ALPHAS} by the "
        f"correlation in {N_FOLDS}-fold cross-validation on its training glycans.",
        "better_for: the number of proteins with a higher correlation than ridge regression on "
        "counts of monosaccharides. p: Wilcoxon's signed-rank test over the proteins.",
    ]
    return section


def glycans(part: str) -> dict[str, Glycans]:
    path = shared_data() / f"glycan-binding/{part}.tsv.xz"
    found: dict[str, tuple[list[str], list[float]]] = {}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            protein, value, tree, _ = line.rstrip("\n").split("\t")
            trees, values = found.setdefault(protein, ([], []))
            trees.append(tree)
            values.append(float(value))
    return {name: (Forest(trees), np.array(values)) for name, (trees, values) in found.items()}


def correlation(path: Path, train: Glycans, test: Glycans) -> float:
    """The correlation on the test part, with the value that is best on the training part."""
    X, y = train
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(y))
    held_out = [[spearman(scores, y[b]) for scores in path((X[a], y[a]), X[b])] for a, b in folds]
    best = int(np.mean(held_out, axis=0).argmax())
    return spearman(path(train, test[0])[best], test[1])


def spearman(scores: Any, y: Any) -> float:
    """Equal scores for all are no ranking."""
    return float(spearmanr(scores, y).statistic) if np.ptp(scores) > 0 else 0.0


# ---------------------------------------------------------------- learners


def paths() -> dict[str, Path]:
    found: dict[str, Path] = {
        "ridge on counts of monosaccharides": counts_path(lambda label: label.partition("/")[0]),
        "ridge on counts of labels with linkage": counts_path(str),
    }
    for name, kernel in KERNELS.items():
        squared = TreeSVR(kernel, epsilon=0, loss="squared_epsilon_insensitive", random_state=0)
        found |= {
            f"TreeSVR, squared, epsilon 0, {name}": kernel_path(squared, COSTS),
            f"TreeSVR, {name}": kernel_path(TreeSVR(kernel, random_state=0), COSTS),
            f"TreeRanker, {name}": kernel_path(
                TreeRanker(kernel, tol=1e-2, random_state=0), PAIR_COSTS
            ),
        }
    return found


def kernel_path(learner: Any, costs: list[float]) -> Path:
    def path(train: Glycans, X: Forest) -> list[Any]:
        return [model.predict(X) for model in learner.fit_path(*train, costs)]

    return path


def counts_path(name_of: Callable[[str], str]) -> Path:
    def path(train: Glycans, X: Forest) -> list[Any]:
        names = sorted({name_of(node.label) for tree in train[0] for node in tree.nodes()})
        known, new = (label_counts(forest, names, name_of) for forest in (train[0], X))
        return [Ridge(alpha).fit(known, train[1]).predict(new) for alpha in ALPHAS]

    return path


def label_counts(forest: Forest, names: list[str], name_of: Callable[[str], str]) -> Any:
    place = {name: k for k, name in enumerate(names)}
    counts = np.zeros((len(forest), len(names)))
    for row, tree in zip(counts, forest, strict=True):
        for node in tree.nodes():
            if (name := name_of(node.label)) in place:
                row[place[name]] += 1
    return counts
