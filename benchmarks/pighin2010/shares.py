"""Fig. 2: F1 of LOC and DESC by the share of the norm; gradient against chi2, LIN against OPT."""

from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.growth import saved
from benchmarks.pighin2010.section import Options, Row, Section
from benchmarks.pighin2010.training import linearised, question_class
from filbert import FragmentVectorizer, TreeSVC

LABELS = ["LOC", "DESC"]
FACTORS: dict[str, list[float]] = {  # L
    "gradient": [2, 4, 8, 16, 32, 64, 128, 256, 512],
    "chi2": [2, 4, 8, 16, 32, 64, 128, 256, 512],
}
MOST = 50_000


def vectorizer(criterion: Any, factor: float, model: TreeSVC) -> FragmentVectorizer:
    return FragmentVectorizer(model, max_ratio=factor, criterion=criterion, n_jobs=1)


def compared(label: str, criterion: str, factors: list[float]) -> list[Row]:
    model = question_class(label)
    rows: list[Row] = []
    for factor in factors:
        ours = linearised(model, partial(vectorizer, criterion, factor))
        mined = ours.vectorizer.mined_[0]
        rows.append(
            {
                "class": label,
                "criterion": criterion,
                "L": factor,
                "fragments": mined.n,
                "norm share, %": round(100 * mined.norm_share, 2),
                "F1 LIN": round(ours.lin, 2),
                "F1 OPT": round(ours.opt, 2),
                "F1 STK": round(model.score, 2),
            }
        )
        print(rows[-1], flush=True)
        if mined.n > MOST:
            break
    return rows


def plot(rows: list[Row], folder: Path) -> str:
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, label in zip(figure.subplots(1, len(LABELS)), LABELS, strict=True):
        for criterion, mark in (("gradient", "o"), ("chi2", "s")):
            own = [r for r in rows if r["class"] == label and r["criterion"] == criterion]
            own.sort(key=lambda row: row["norm share, %"])
            x = [row["norm share, %"] for row in own]
            for name, line in (("LIN", "--"), ("OPT", "-")):
                y = [row[f"F1 {name}"] for row in own]
                axes.plot(x, y, mark + line, label=f"{name}, {criterion}")
        axes.axhline(next(r["F1 STK"] for r in rows if r["class"] == label), label="STK", color="k")
        axes.set(xlabel="share of the norm, %", ylabel="F1", title=label)
        axes.grid(alpha=0.3)
        axes.legend()
    return saved(figure, "paper_pighin2010_shares.svg", folder)


def section(options: Options) -> Section:
    result = Section(
        "Fig. 2: LIN comes close to STK with more than 60 % of the norm, OPT with fewer fragments; "
        "chi2 is about as good at the same share"
    )
    for label in LABELS:
        for criterion, factors in FACTORS.items():
            result.rows += compared(label, criterion, factors[:3] if options.quick else factors)
    result.plots = [plot(result.rows, options.plots)]
    result.notes = [
        "The paper's curves have no numbers. The share is of the gradient's norm for both criteria."
    ]
    return result
