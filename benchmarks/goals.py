"""What each result is to be judged by. The page computes from the table whether a goal was met.

A heading says what was measured, never how well: the verdict below it comes from the figures, so it
cannot say more than they do.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
Values = list[tuple[str, float]]

_SHOWN = 4  # rows that a verdict names


@dataclass(frozen=True)
class Goal:
    """A limit on some figures of a table; `values` takes them from the rows, each with a name."""

    text: str
    limit: float
    values: Callable[[list[Row]], Values]
    at_least: bool = False

    def verdict(self, rows: list[Row]) -> str:
        """Say whether all figures keep to the limit, with the worst of them."""
        values = self.values(rows)
        if not values:
            return f"{self.text}: not measured"
        worst_first = sorted(values, key=lambda item: item[1], reverse=not self.at_least)
        missed = [(name, value) for name, value in worst_first if not self._holds(value)]
        if not missed:
            return f"{self.text}: met ({_listed(worst_first[:1])})"
        cells = f" in {len(missed)} of {len(values)}" if len(values) > 1 else ""
        return f"{self.text}: **missed**{cells} ({_listed(missed)})"

    def _holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit


def _listed(values: Values) -> str:
    shown = ", ".join(f"{name}: {value:,.4g}".removeprefix(": ") for name, value in values[:_SHOWN])
    return shown + ("" if len(values) <= _SHOWN else ", ...")


# ------------------------------------------------------------------ figures of rows


def column(
    key: str, names: Iterable[str] = (), where: Callable[[Row], bool] = lambda row: True
) -> Callable[[list[Row]], Values]:
    """Return one column of the rows that fulfil a condition, named by other columns."""

    def values(rows: list[Row]) -> Values:
        chosen = [row for row in rows if isinstance(row.get(key), int | float) and where(row)]
        return [(_name(row, names), row[key]) for row in chosen]

    return values


def _name(row: Row, names: Iterable[str]) -> str:
    return ", ".join(str(row[name]) for name in names if row.get(name))


def share_of_limit(names: Iterable[str]) -> Callable[[list[Row]], Values]:
    """Return the seconds of each row as a share of the row's own limit."""

    def values(rows: list[Row]) -> Values:
        limited = [row for row in rows if isinstance(row.get("limit_seconds"), int | float)]
        return [(_name(row, names), row["cpu_seconds"] / row["limit_seconds"]) for row in limited]

    return values


def share_of_parser(goal: float) -> Callable[[list[Row]], Values]:
    """Return the speed of reading Python files, as a share of a goal or of the parser's speed."""

    def values(rows: list[Row]) -> Values:
        plain = [row for row in rows if row["format"] == "python" and not row["options"]]
        return [
            (
                row["files"],
                row["megabytes_per_cpu_second"] / min(goal, row["parser_megabytes_per_cpu_second"]),
            )
            for row in plain
        ]

    return values


def exponents(
    *keys: str, where: Callable[[Row], bool] = lambda row: True
) -> Callable[[list[Row]], Values]:
    """Return the growth of columns: the slope of their logarithm over that of the trees."""

    def values(rows: list[Row]) -> Values:
        rows_of = {key: [row for row in rows if where(row) and row[key]] for key in keys}
        return [(key, _slope(*_logs(chosen, key))) for key, chosen in rows_of.items() if chosen]

    return values


def _logs(rows: list[Row], key: str) -> tuple[list[float], list[float]]:
    return [math.log(row["n_trees"]) for row in rows], [math.log(row[key]) for row in rows]


def _slope(x: list[float], y: list[float]) -> float:
    a, b = sum(x) / len(x), sum(y) / len(y)
    return sum((u - a) * (v - b) for u, v in zip(x, y, strict=True)) / sum((u - a) ** 2 for u in x)


def difference(key: str, other: str, names: Iterable[str]) -> Callable[[list[Row]], Values]:
    """Return one column minus another."""

    def values(rows: list[Row]) -> Values:
        both = [row for row in rows if row.get(key, "") != "" and row.get(other, "") != ""]
        return [(_name(row, names), round(row[key] - row[other], 4)) for row in both]

    return values


def wall_share_of_limit(rows: list[Row]) -> Values:
    """Return the wall time of each row as a share of the row's own limit."""
    limited = [row for row in rows if "limit_seconds" in row]
    return [(row["kernel"], row["wall_seconds_all"] / row["limit_seconds"]) for row in limited]


def speed_of_two_threads(rows: list[Row]) -> Values:
    """Return how many times faster two threads are than one, for the works that have both."""
    wall = {(row["work"], row["threads"]): row["wall_seconds"] for row in rows}
    works = [work for work, threads in wall if threads == 2]
    return [(work, wall[work, 1] / wall[work, 2]) for work in works]


def parts_over_one_piece(rows: list[Row]) -> Values:
    by_name = {row["training"]: row["cpu_seconds"] for row in rows}
    return [("", by_name["8 parts, this machine"] / by_name["one piece"])]


def dask_over_parts(rows: list[Row]) -> Values:
    parts = next(row for row in rows if row["training"] == "8 parts, this machine")
    dask = [row for row in rows if "Dask" in row["training"]]
    return [(row["training"], row["cpu_seconds"] / parts["cpu_seconds"]) for row in dask]


def worker_memory_share(rows: list[Row]) -> Values:
    whole = next(row for row in rows if row["training"] == "one piece")
    dask = [row for row in rows if "peak_mib_worker" in row]
    return [(row["training"], row["peak_mib_worker"] / whole["peak_mib"]) for row in dask]


def below_exact(rows: list[Row]) -> Values:
    exact = next(row["accuracy"] for row in rows if row["kernel"] == "exact")
    linear = [row for row in rows if "LinearSVC" in row["kernel"]]
    return [(row["kernel"], round(exact - row["accuracy"], 2)) for row in linear]


def second_epoch(measure: str) -> Callable[[list[Row]], Values]:
    """Return what the second epoch adds to a measure, for all settings that have both."""

    def values(rows: list[Row]) -> Values:
        keyed = {(row["kernel"], row["lambda"], row["n"], row["epochs"]): row[measure]
                 for row in rows if row[measure] != ""}  # fmt: skip
        return [(f"{kernel} {decay} n = {n:,}", round(value - keyed[kernel, decay, n, 1], 2))
                for (kernel, decay, n, epoch), value in keyed.items()
                if epoch == 2 and (kernel, decay, n, 1) in keyed]  # fmt: skip

    return values


def best_of_others(measure: str, best: str) -> Callable[[list[Row]], Values]:
    """Return by how much the best row of one kernel is above the best row of each other one."""

    def values(rows: list[Row]) -> Values:
        top: dict[str, float] = {}
        for row in rows:
            top[row["kernel"]] = max(row[measure], top.get(row["kernel"], 0.0))
        ours = top.pop(best)
        return [(f"over {kernel}", round(ours - value, 2)) for kernel, value in top.items()]

    return values


def n_tasks(system: str, *, worse: bool = False, p: float = 1.1) -> Callable[[list[Row]], Values]:
    """Count the tasks on which a system reaches the best baseline, or is worse than it.

    With `p`, only differences with a smaller p value count.
    """

    def values(rows: list[Row]) -> Values:
        gains = [(row[system] - row["best baseline"], row[f"p of {system}"]) for row in rows]
        if worse:
            return [("", sum(gain < 0 and own < p for gain, own in gains))]
        return [("", sum((gain >= 0 if p > 1 else gain > 0 and own < p) for gain, own in gains))]

    return values


def all_agree(rows: list[Row]) -> Values:
    return [("", sum(not row["agree"] for row in rows))]


def features_below_svc(rows: list[Row]) -> Values:
    svc = next(row["accuracy"] for row in rows if row["learner"] == "TreeSVC")
    linear = [row for row in rows if row["learner"].startswith("LogisticRegression")]
    return [(row["learner"], round(svc - row["accuracy"], 2)) for row in linear]


def disturbed(rows: list[Row]) -> Values:
    """Return how many runs gave other bytes than the undisturbed one, or an unclear error."""
    return [
        (
            row["fault"],
            row.get("kills", row.get("fits", 0))
            - row.get("same_bytes", row.get("clear_errors", 0)),
        )
        for row in rows
    ]


# ------------------------------------------------------------------ the goals

_LIMITS = [Goal("CPU seconds of each row within the row's limit (1 is the limit)", 1.0,
                share_of_limit(("work", "threads")))]  # fmt: skip
_SAME = [Goal("runs that did not give the expected result: none", 0, disturbed)]


def _kernel(word: str) -> Callable[[Row], bool]:
    return lambda row: row["kernel"].startswith(word)


def _size(n: int, threads: int = 1) -> Callable[[Row], bool]:
    wanted = {"n_train": n, "data_set": "srl-ewt", "threads": threads}
    return lambda row: all(row[key] == value for key, value in wanted.items())


def _work(word: str) -> Callable[[Row], bool]:
    return lambda row: row["work"].startswith(word)


GOALS: dict[str, list[Goal]] = {
    "kernel_matrix": [
        Goal("subset trees within 2 s", 2,
             column("cpu_seconds_one_thread", where=_kernel("Subset"))),
        Goal("partial trees within 15 s", 15,
             column("cpu_seconds_one_thread", where=_kernel("Partial"))),
        Goal("two threads at least 1.8 times faster", 1.8, column("speed_up", ("kernel",)),
             at_least=True),
    ],
    "golden": [Goal("relative difference at most 1e-12", 1e-12,
                    column("largest_relative_difference", ("kernel",)))],
    "reading": [
        Goal("5,000 trees at 150 MB/s", 150,
             column("megabytes_per_cpu_second", ("trees",), lambda row: row["n_trees"] == 5000),
             at_least=True),
        Goal("a million trees at 40 MB/s", 40,
             column("megabytes_per_cpu_second", ("trees",), lambda row: row["n_trees"] > 10**6),
             at_least=True),
        Goal("64 bytes a distinct subtree", 64, column("bytes_per_distinct_subtree", ("trees",))),
    ],
    "reading_documents": [
        Goal("structure alone at 20 MB/s", 20,
             column("megabytes_per_cpu_second", ("format", "files"),
                    lambda row: not row["options"]),
             at_least=True),
    ],
    "reading_sources": [
        Goal("Python at 20 MB/s, or as fast as its parser if that is slower (1 is the goal)", 1,
             share_of_parser(20.0), at_least=True),
    ],
    "predicting": [
        Goal("repeated trees at 100,000 lines/s", 1e5,
             column("lines_per_second", where=lambda row: "times over" in row["lines"]),
             at_least=True),
        Goal("300 MB (286 MiB)", 286, column("peak_mib", ("lines",))),
        Goal("first line within 1 s", 1, column("seconds_to_first_line", ("lines",))),
    ],
    "factorising": [
        Goal("factorising and assembling within the row's limit (1 is the limit)", 1.0,
             share_of_limit(("data_set",))),
    ],
    "growth": [
        Goal("nonzeros and factorising grow like n^1.15 at most", 1.15,
             exponents("nonzeros", "cpu_factorising")),
    ],
    "exact_svm": [
        Goal("100,000 trees within 3 s", 3, column("cpu_seconds", where=_size(100_000))),
        Goal("1.1 million trees within 30 s", 30, column("cpu_seconds", where=_size(1_099_447))),
        Goal("1.1 million trees within 12 s on one thread", 12,
             column("cpu_seconds", where=_size(1_099_447))),
        Goal("1.1 million trees within 7 s on two threads, wall time", 7,
             column("wall_seconds", where=_size(1_099_447, threads=2))),
        Goal("1.2 GB (1,144 MiB) on one thread", 1144,
             column("peak_mib", where=_size(1_099_447))),
        Goal("questions within 1 s", 1,
             column("cpu_seconds", where=lambda row: row["data_set"].startswith("qc"))),
    ],
    "patterns": [
        Goal("1.1 million trees within 15 s", 15, column("cpu_seconds", where=_size(1_099_447))),
        Goal("1.5 GB (1,430 MiB)", 1430, column("peak_mib", where=_size(1_099_447))),
        Goal("a single tree in the core within 50 us", 50, column("us_core", ("n_train",))),
    ],
    **{f"exact_ptk_{part}": _LIMITS for part in ("others", "questions", "search", "wide")},
    "exact_ptk_srl": [
        *_LIMITS,
        Goal("1.1 million trees within 3.5 GB (3,338 MiB)", 3338,
             column("peak_mib", where=lambda row: row["n_trees"] == 1_099_447)),
        Goal("two threads at least 1.6 times faster than one", 1.6, speed_of_two_threads,
             at_least=True),
    ],
    "exact_ptk_sentences": [
        *_LIMITS,
        Goal("137,811 sentences within 8 GB (7,629 MiB)", 7629,
             column("peak_mib", where=lambda row: row["n_trees"] == 137_811)),
    ],
    "exact_ptk_matrices": [
        *_LIMITS,
        Goal("two threads at least 1.6 times faster than one", 1.6, speed_of_two_threads,
             at_least=True),
    ],
    "exact_ptk_growth": [
        Goal(f"nonzeros and CPU seconds of training grow like n^1.2 at most, {name}", 1.2,
             exponents("nonzeros", "cpu_seconds", where=_work(work)))
        for name, work in (("predicate-argument trees", "srl-ewt"), ("sentences", "srl-onto"))
    ],
    "large_costs": [
        Goal("C = 100 takes at most 5 times the training time of C = 1", 5,
             column("times_of_smallest_C", ("n_train", "loss"), lambda row: row["C"] == 100)),
        Goal("the same with factorising in both", 5,
             column("with_factorising", ("n_train", "loss"), lambda row: row["C"] == 100)),
    ],
    "two_versions": [
        Goal("no work takes more than 1.05 times as long as before", 1.05,
             column("times", ("work",))),
    ],
    "certified_factors": [
        Goal("at least 10,000 random forests", 10_000,
             lambda rows: [("", sum(row["forests"] for row in rows))], at_least=True),
        Goal("pairs of trees whose error is above its bound: none", 0, column("above bound")),
        Goal("no eigenvalue below rounding, -1e-12 of the largest", -1e-12, column("eigenvalue"),
             at_least=True),
    ],
    "recurring": [Goal("12,543 sentences within 5 s", 5,
                       column("cpu_seconds", where=lambda row: row["n_trees"] == 12543))],
    "installing": [
        Goal("pip install . within 60 s on two cores", 60,
             column("wall_seconds_to_build", ("python",))),
        Goal("the same in CPU seconds, 120 for both cores", 120,
             column("cpu_seconds_to_build", ("python",))),
        Goal("the wheel within 10 s, when its libraries are there", 10,
             column("wall_seconds_to_install", ("python",))),
        Goal("the wheel and its libraries within 10 s", 10,
             column("wall_seconds_to_install_with_libraries", ("python",))),
    ],
    "tree_index": [
        Goal("from text on two threads, wall time within the row's limit (1 is the limit)", 1.0,
             wall_share_of_limit),
        Goal("below 1.5 GB (1,431 MiB)", 1431, column("peak_mib", ("kernel",))),
        Goal("one query on a saved index, opening included: SubsetTree within 10 ms", 10,
             column("ms_opening_and_query", where=lambda row: row["kernel"] == "SubsetTree")),
        Goal("PartialTree within 40 ms", 40,
             column("ms_opening_and_query", where=lambda row: row["kernel"] == "PartialTree")),
        Goal("adding 1,000 trees within 1 s", 1, column("cpu_seconds_adding_1000", ("kernel",))),
    ],
    "dask_scaling": [
        Goal("CPU of 8 parts at most 2.5 times that of one piece", 2.5, parts_over_one_piece),
        Goal("CPU of Dask at most 1.25 times that of parts on this machine", 1.25, dask_over_parts),
        Goal("memory of a worker at most a third of that of one piece", 1 / 3, worker_memory_share),
    ],
    "dask_scaling_onto": [Goal("3 GB (2,861 MiB)", 2861, column("peak_mib", ("work", "examples")))],
    **{f"faults_{part}": _SAME for part in ("dask_driver", "driver", "fit", "predict", "scheduler",
                                            "search", "silence", "threads")},
    "tree_features": [
        Goal("at most 1.3 times the time of factorising or scoring", 1.3,
             column("ratio", ("work", "n_trees"))),
        Goal("4 GB (3,815 MiB)", 3815, column("peak_mib", ("work", "n_trees"))),
    ],
    "losses_optima": [Goal("objectives that differ by more than both gaps: none", 0, all_agree)],
    "losses_questions": [
        Goal("logistic regression on features at most one point below TreeSVC", 1,
             features_below_svc),
    ],
    "losses_time": [
        Goal("logistic regression within 3 times the time of TreeSVC", 3,
             column("times_of_svc", ("n_train", "C"))),
    ],
    "paper_aiolli2007_epoch": [
        Goal("TK within 60 s", 60, column("cpu_learning", ("kernel", "lambda"), lambda row:
                                          row["kernel"] == "TK")),
        Goal("TK+POLY3 within 10 minutes", 600,
             column("cpu_learning", ("kernel", "lambda"), lambda row: row["kernel"] == "TK+POLY3")),
        Goal("as in the paper, TK+POLY3 has the best F1 (each kernel with its best lambda on the "
             "test set)", 0, best_of_others("F1", "TK+POLY3"), at_least=True),
        Goal("the same by averaged predictions", 0, best_of_others("F1 averaged", "TK+POLY3"),
             at_least=True),
    ],
    "paper_aiolli2007_crossval": [
        Goal("as in the paper, TK+POLY3 has the best F1", 0, best_of_others("F1", "TK+POLY3"),
             at_least=True),
    ],
    "paper_aiolli2007_epochs": [
        Goal("a second epoch adds to F1", 0, second_epoch("F1"), at_least=True),
        Goal("a second epoch adds to averaged F1", 0, second_epoch("F1 averaged"), at_least=True),
        Goal("averaged F1 above plain F1", 0,
             difference("F1 averaged", "F1", ("kernel", "lambda", "n", "epochs")), at_least=True),
    ],
    "paper_aiolli2007_online": [
        Goal("450 MB (429 MiB) at 100,000 examples", 429,
             column("peak_mib", ("kernel",), lambda row: row["examples"] == 100_000)),
    ],
    "paper_pighin2010_classes": [
        Goal("F1 of OPT at most one point below STK", -1,
             difference("F1 OPT", "F1 STK", ("class",)), at_least=True),
    ],
    "paper_pighin2010_tasks": [
        Goal("OPT at most one point below STK, with at most 10,000 fragments", -1,
             column("OPT - STK", ("data", "min_frequency"), lambda row: row["fragments"] <= 10_000),
             at_least=True),
    ],
    "paper_pighin2010_speed": [
        Goal("mining within 60 s", 60, column("cpu_mining", ("mined", "threads"))),
        Goal("counting in 100,000 trees within 10 s", 10,
             column("cpu_counting", ("mined", "threads"))),
    ],
    "paper_rieck2008_accuracy": [
        Goal("with 10 % of the symbols, AUC at most 0.5 points below exact", -0.5,
             column("less exact", ("data",), lambda row: row["share of symbols"] == 0.1),
             at_least=True),
    ],
    "paper_severyn2012_threads": [
        Goal("two threads at least 1.7 times faster for r = 1,000", 1.7,
             column("speed-up", ("kernel", "strategy"), lambda row: row["r"] == 1000),
             at_least=True),
        Goal("two threads no slower than one", 1.0, column("speed-up", ("kernel", "strategy", "r")),
             at_least=True),
    ],
    "paper_severyn2012_imbalance": [
        Goal("average F1 of uSVM+j at least 86", 86,
             column("F1", ("setting",), lambda row: (row["class"], row["system"]) ==
                    ("average", "uSVM+j")), at_least=True),
        Goal("average F1 of the exact SVM at least 88", 88,
             column("F1", ("setting",), lambda row: (row["class"], row["system"]) ==
                    ("average", "SVM")), at_least=True),
    ],
    "paper_zanzotto2012_correlation": [
        Goal("at least the paper's correlation at lambda 0.2 and 0.4 (0 is the paper's)", 0,
             lambda rows: difference("correlation", "paper", ("data set", "composition", "lambda"))(
                 [row for row in rows if row["lambda"] in (0.2, 0.4)]), at_least=True),
    ],
    "paper_zanzotto2012_questions": [
        Goal("a linear SVM on vectors at most two points below the exact kernel", 2, below_exact),
    ],
    "paper_zanzotto2012_speed": [
        Goal("0.85 ms for a question tree", 0.85,
             column("ms per tree", ("composition",), lambda row: row["d"] == 8192)),
        Goal("a million trees within 10 minutes on two cores", 600,
             column("wall_seconds", ("composition",), lambda row: row["trees"] > 10**6)),
    ],
}  # fmt: skip

# Headings of results whose own claim says how well it went, which the verdicts say now.
GOALS["quality_tasks"] = [
    Goal("TreeSVC(): tasks at least as good as the best baseline, ten of twelve", 10,
         n_tasks("TreeSVC()"), at_least=True),
    Goal("TreeSVC(): tasks significantly worse, none", 0,
         n_tasks("TreeSVC()", worse=True, p=0.05)),
    Goal("TreeSVCCV(): tasks at least as good, all twelve", 12,
         n_tasks("TreeSVCCV()"), at_least=True),
    Goal("TreeSVCCV(): tasks significantly better, six", 6,
         n_tasks("TreeSVCCV()", p=0.05), at_least=True),
]  # fmt: skip
GOALS["quality_million"] = [
    Goal("a million trees within 10 minutes", 600, column("cpu_seconds", ("n_train",)))
]
GOALS["quality_goals"] = [
    Goal(f"{system}: accuracy above that of the column goal, by more than 0", 0.01,
         difference(system, "goal", ["task"]), at_least=True)
    for system in ("TreeSVC()", "TreeSVCCV()")
]  # fmt: skip

TITLES = {
    "quality_ablation": "families of patterns, damping, decay, loss, C and kernels on twelve tasks",
    "quality_damped": "damped counts of the fragments of subset trees, on twelve tasks",
    "quality_goals": "accuracy with all training trees of three tasks",
    "quality_held_out": "the same on seven tasks on which nothing was chosen",
    "quality_million": "choosing a kernel for a million trees by TreeSVCCV()",
    "quality_tasks": "TreeSVC() and TreeSVCCV() beside plain baselines on twelve tasks",
    "certified_factors": "partial trees: errors of pruned factors of random forests",
    "exact_ptk_engines": "partial trees: training by factors and by rows",
    "exact_ptk_growth": "partial trees: growth of time and factors with the number of trees",
    "exact_ptk_matrices": "partial trees: kernel matrices",
    "exact_ptk_others": "partial trees: training on the other data sets",
    "exact_ptk_questions": "partial trees: questions",
    "exact_ptk_search": "partial trees: questions, parameters by cross-validation",
    "exact_ptk_sentences": "partial trees: training on whole sentences",
    "exact_ptk_srl": "partial trees: predicate-argument trees, from file to predictions",
    "exact_ptk_wide": "partial trees: nodes with 2,000 children",
    "exact_svm": "the exact SVM with subset trees, from file to predictions",
    "factorising": "factorising every data set on one thread",
    "patterns": "the exact SVM with local patterns, from file to predictions",
    "growth": "growth of factorising and training with the number of trees",
    "kernel_matrix": "the kernel matrix of 5,452 question trees",
    "svm_light_demo": "SVM-Light-TK's demo file: questions for numbers, c = 3, j = 5, one thread",
    "golden": "kernel values beside SVM-Light-TK's",
    "reading": "reading brackets",
    "reading_documents": "reading XML, HTML and JSON",
    "installing": "building a wheel, installing it without a compiler, and a first result",
    "reading_sources": "reading source code, CoNLL-U, Newick and dot-bracket",
    "recurring": "all recurring fragments of a treebank",
    "clone_tools": "clone classes of installed Python packages, beside pyscn and jscpd",
    "clone_tools_differences": "groups of clones that only one of two programs found",
    "predicting": "`filbert predict` on a million lines",
    "dask_scaling": "1.1 million trees in one piece, in parts and on Dask",
    "dask_scaling_onto": "thirteen million trees in parts on one machine",
    "dask_scaling_workers": "the memory of a worker, step by step",
    "tree_features": "features of 1.1 million trees beside factorising them",
    "losses_calibration": "probabilities of logistic regression and of a calibrated SVM",
    "losses_questions": "questions: logistic regression and TreeSVC",
    "losses_time": "the time of logistic regression beside that of TreeSVC, factors included",
    "losses_optima": "objectives beside LIBLINEAR's on the rows of TreeFeatures",
    "paper_aiolli2007_crossval": "srl-5000: trees, features and both, cross-validated",
    "paper_aiolli2007_epoch": "Figs. 6 to 8: one epoch on a million examples",
    "paper_aiolli2007_epochs": "Several epochs; averaged and plain predictions",
    "paper_aiolli2007_online": "Online from a pipe: time and memory",
    "paper_pighin2010_accuracy": "Fig. 3: accuracy on all six classes by the number of fragments",
    "paper_pighin2010_classes": "Table 1: F1 with 60 % of the norm",
    "paper_pighin2010_costs": "Table 1 with a small C: fragments for 60 % of the norm",
    "paper_pighin2010_norms": "Fig. 1: share of the norm of w by the number of fragments",
    "paper_pighin2010_shares": "Fig. 2: F1 of LIN and OPT by the share of the norm",
    "paper_pighin2010_speed": "the speed of mining and of counting fragments",
    "paper_pighin2010_tasks": "Table 2: accuracy of OPT and STK",
    "paper_pighin2010_variants": "Table 2: what OPT loses by, one thing at a time",
    "paper_rieck2008_accuracy": "Fig. 1: AUC by the share of symbols",
    "paper_severyn2012_classify": "Table 3: models as lists and as DAGs",
    "paper_severyn2012_deltas": "Tables 1 and 2, Fig. 3: calls of Delta by strategy",
    "paper_severyn2012_imbalance": "Table 5: class imbalance",
    "paper_severyn2012_threads": "Fig. 4: two threads",
    "paper_severyn2012_trials": "Table 5: loss, sampling and stopping, one at a time",
    "paper_zanzotto2012_correlation": "Table 2: correlation with the exact kernel",
    "paper_zanzotto2012_norms": "Fig. 2: norms and products of compositions (d = 8192)",
    "paper_zanzotto2012_questions": "Fig. 3: questions, with vectors and with exact kernels",
    "paper_zanzotto2012_speed": "the speed of embedding",
}


def verdicts(name: str, rows: list[Row]) -> list[str]:
    """Say for each goal of a result whether it was met, from its figures."""
    return [goal.verdict(rows) for goal in GOALS.get(name, [])]
