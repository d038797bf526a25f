"""Fig. 1: the area under the ROC curve by the share of symbols that are chosen."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score

from benchmarks.growth import saved
from benchmarks.rieck2008 import paper
from benchmarks.rieck2008.data import N_PART, N_SPLITS, parts
from benchmarks.rieck2008.section import Options, Row, Section
from filbert import SymbolSelector, TreeSVC
from filbert.kernels import SubsetTree, TreeKernel

DECAYS = [0.1, 0.2, 0.4, 0.8]
COSTS = [0.1, 1.0, 10.0, 100.0]
SHARES = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0]


def best_auc(kernels: list[TreeKernel], split: list[Any]) -> float:
    """Return the AUC on test data of the kernel and C that are best on validation data."""
    (X, y), (X_valid, y_valid), (X_test, y_test) = split
    scores = []
    for kernel in kernels:
        for svm in TreeSVC(kernel, class_weight="balanced", random_state=0).fit_path(X, y, COSTS):
            auc = roc_auc_score(y_valid, svm.decision_function(X_valid))
            scores.append((auc, roc_auc_score(y_test, svm.decision_function(X_test))))
    return 100 * float(max(scores)[1])


def measured(name: str, quick: bool) -> list[Row]:
    """Return a row for each share, and one for the exact kernel."""
    shares = [0.1, 0.5] if quick else SHARES
    decays = DECAYS[1:3] if quick else DECAYS
    aucs: dict[float | str, list[float]] = {share: [] for share in ("exact", *shares)}
    counts: dict[float | str, int] = {}
    for seed in range(1 if quick else N_SPLITS):
        split = parts(name, seed, 200 if quick else N_PART)
        exact = [SubsetTree(decay) for decay in decays]
        aucs["exact"].append(best_auc(list(exact), split))
        for share in shares:
            selectors = [SymbolSelector(kernel, share).fit(*split[0]) for kernel in exact]
            counts[share] = len(selectors[0].chosen_)
            aucs[share].append(best_auc([s.kernel_ for s in selectors], split))
            print(name, seed, share, aucs[share][-1], flush=True)
    return [
        {
            "data": name,
            "share of symbols": share,
            "symbols": counts.get(share, "all"),
            "AUC": round(float(np.mean(values)), 2),
            "+-": round(float(np.std(values)), 2),
            "less exact": round(float(np.mean(values) - np.mean(aucs["exact"])), 2),
        }
        for share, values in aucs.items()
    ]


def _plot(rows: list[Row], folder: Path) -> str:
    names = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(5 * len(names), 4), layout="constrained")
    for axes, name in zip(
        np.atleast_1d(np.array(figure.subplots(1, len(names)))), names, strict=True
    ):
        own = [row for row in rows if row["data"] == name]
        some = [row for row in own if row["share of symbols"] != "exact"]
        exact = next(row["AUC"] for row in own if row["share of symbols"] == "exact")
        axes.plot([r["share of symbols"] for r in some], [r["AUC"] for r in some], "o-")
        axes.axhline(exact, ls="--")
        axes.set(xlabel="share of symbols", ylabel="AUC", title=name, xscale="log")
        axes.grid(alpha=0.3)
    return saved(figure, "paper_rieck2008_fig1.svg", folder)


def section(options: Options) -> Section:
    result = Section(
        "Fig. 1: AUC by the share of symbols; on par with the exact kernel from 10 % of them on"
    )
    for name in ("questions", "documents"):
        result.rows += measured(name, options.quick)
    result.plots = [_plot(result.rows, options.plots)]
    result.notes = [
        f"{N_SPLITS} random splits into {N_PART:,} trees each for training, validation and test; "
        "lambda and C by validation. Symbols are chosen by the training part.",
        f"The paper has {paper.AUC['questions']:.0f} % for questions with another parser's trees, "
        f"and {paper.AUC['documents']:.0f} % for web spam, which is another task than ours.",
    ]
    return result
