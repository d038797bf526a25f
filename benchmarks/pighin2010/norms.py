"""Fig. 1: the share of the norm that a number of fragments has, for the six classes of questions.

The number is what a threshold factor L lets pass, L = 5, 10, 20, and so on.
"""

from benchmarks.measure import Clock
from benchmarks.pighin2010 import paper
from benchmarks.pighin2010.section import Options, Row, Section
from benchmarks.pighin2010.training import question_class
from filbert.fragments import mine

FACTORS = [5.0 * 2**i for i in range(11)]


def curve(label: str, factors: list[float]) -> list[Row]:
    model = question_class(label)
    rows: list[Row] = []
    for factor in factors:
        clock = Clock()
        mined = mine(model.stk.model_, max_ratio=factor, n_jobs=1)
        seconds = clock.lap()[0]
        lower, upper = mined.bounds
        rows.append(
            {
                "class": label,
                "lambda": model.choice.decay,
                "C": model.choice.C,
                "j": model.choice.factor,
                "L": factor,
                "fragments": mined.n,
                "norm share, %": round(100 * mined.norm_share, 2),
                "||w||": round(mined.norm, 3),
                "lower bound": round(lower, 3),
                "||w_in||": round(mined.norm_in, 3),
                "upper bound": round(upper, 3),
                "heaviest / B": round(float(abs(mined.weight[0])) / mined.base, 3),
                "cpu_seconds": seconds,
            }
        )
        print(rows[-1], flush=True)
    return rows


def section(options: Options) -> Section:
    result = Section(
        "Fig. 1: most of the norm of w is in a few thousand fragments; the paper: a plateau of "
        f"{paper.PLATEAU}, and {paper.MOST} at most"
    )
    labels = list(paper.CLASSES)[:2] if options.quick else list(paper.CLASSES)
    for label in labels:
        result.rows += curve(label, FACTORS[:4] if options.quick else FACTORS)
    within = all(row["lower bound"] <= row["||w_in||"] <= row["upper bound"] for row in result.rows)
    result.notes = [
        "qc, constituency trees, split at random as in the paper; one class against the rest; "
        "lambda 0.4, C and j (the weight of the positive class) by the F1 on one training example "
        "in ten. Fragments of a frequency of at least 3, by the greedy search.",
        "The paper's bounds, (B/L) sqrt(N) <= ||w_in|| <= B sqrt(N), "
        f"{'hold' if within else 'do not hold'} in every row. The upper one supposes that no "
        "fragment is heavier than the heaviest base fragment: heaviest / B is at most "
        f"{max(row['heaviest / B'] for row in result.rows)}.",
    ]
    return result
