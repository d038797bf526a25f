"""Makes benchmarks/papers.md: all tables and figures of the five papers, and what is ours of each.

What a paper says is typed in from it. Our values are computed from benchmarks/results/*.json.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import distances
from benchmarks.measure import ROOT
from benchmarks.rieck2008 import paper as rieck

PAGE = ROOT / "benchmarks" / "papers.md"

Row = dict[str, Any]
Rows = list[Row]

SEVERYN = "Severyn & Moschitti 2012"
AIOLLI = "Aiolli et al. 2007"
ZANZOTTO = "Zanzotto & Dell'Arciprete 2012"
PIGHIN = "Pighin & Moschitti 2010"
RIECK = "Rieck et al. 2008"


@dataclass(frozen=True)
class Item:
    """A table or figure that holds measurements."""

    paper: str
    name: str
    what: str
    data: str  # ours; the paper's, where it is another
    theirs: str
    result: str  # the name of our result
    ours: Callable[[Rows], str]
    apart: distances.Distance  # how far ours is from the paper's
    why: str = ""  # why ours is another value


@dataclass(frozen=True)
class Drawing:
    """A table or figure without measurements, and where its content is in Filbert."""

    paper: str
    name: str
    what: str
    where: str


# ------------------------------------------------------------------ our values


def ratios(kernel: str, data: str) -> Callable[[Rows], str]:
    """How many times fewer calls of Delta SDAG+ has, from the smallest to the largest sample."""

    def text(rows: Rows) -> str:
        own = [row for row in rows if row["kernel"] == kernel and row["data"].startswith(data)]
        values = {row["r"]: row["Δ/Δ_S+"] for row in own if row["data"] == own[0]["data"]}
        return f"{values[min(values)]:.3g} to {values[max(values)]:.3g}"

    return text


def deltas(kernel: str) -> Callable[[Rows], str]:
    def text(rows: Rows) -> str:
        names = ("SRL", "SRL, unlexicalised", "INEX")
        return "; ".join(f"{name} {ratios(kernel, name)(rows)}" for name in names)

    return text


def both_deltas(rows: Rows) -> str:
    return f"STK: SRL {ratios('STK', 'SRL')(rows)}; PTK: SRL {ratios('PTK', 'SRL')(rows)}"


def compression(rows: Rows) -> str:
    return f"{rows[0]['comp']} to {rows[-1]['comp']}"


def minutes(rows: Rows) -> str:
    n = max(row["n"] for row in rows)
    own = {row["strategy"]: row["seconds"] for row in rows if row["n"] == n}
    return f"{n:,} trees: SDAG+ {own['sdag+']:.0f} s, exact {own['exact, gap 0.001']:.0f} s"


def imbalance(rows: Rows) -> str:
    own = {row["system"]: row["F1"] for row in rows
           if (row["setting"], row["class"]) == ("paper", "average")}  # fmt: skip
    return ", ".join(f"{system} {own[system]}" for system in ("uSVM", "uSVM+j", "SVM"))


def speed_up(rows: Rows) -> str:
    own = [row for row in rows if row["r"] == 1000]
    cells = (f"{row['kernel']} {row['strategy']} {row['speed-up']}" for row in own)
    return "two threads: " + ", ".join(cells)


def trees(rows: Rows) -> str:
    row = next(row for row in rows if row["part"] == "train")
    return (
        f"{row['trees']:,} trees, {row['mean nodes']} nodes each, outdegree at most "
        f"{row['largest outdegree']}"
    )


def epoch_time(rows: Rows) -> str:
    slowest = max(rows, key=lambda row: row["cpu_reading"] + row["cpu_learning"])
    total = slowest["cpu_reading"] + slowest["cpu_learning"]
    return f"at most {total:.0f} s ({slowest['kernel']}), {slowest['peak_mib']:,} MiB"


def best_f1(*kernels: str) -> Callable[[Rows], str]:
    def text(rows: Rows) -> str:
        cells = []
        for kernel in kernels:
            row = max((row for row in rows if row["kernel"] == kernel), key=lambda row: row["F1"])
            at = f" (lambda {row['lambda']})" if row["lambda"] else ""
            cells.append(f"{kernel} {row['F1']}{at}")
        return ", ".join(cells)

    return text


def fragments_of_norm(rows: Rows) -> str:
    reached = [row["norm share, %"] for row in rows if 1_000 <= row["fragments"] <= 10_000]
    return f"{min(reached):.0f} to {max(reached):.0f} % with 1,000 to 10,000 fragments"


def mean_f1(rows: Rows) -> str:
    def mean(key: str) -> float:
        return math.fsum(row[key] for row in rows) / len(rows)

    return ", ".join(f"{name} {mean(f'F1 {name}'):.1f}" for name in ("STK", "LIN", "OPT"))


def best_shares(rows: Rows) -> str:
    cells = []
    for name in ("LOC", "DESC"):
        own = [row for row in rows if (row["class"], row["criterion"]) == (name, "gradient")]
        last = max(own, key=lambda row: row["norm share, %"])
        cells.append(
            f"{name} at {last['norm share, %']:.0f} % of the norm: LIN {last['F1 LIN']}, OPT "
            f"{last['F1 OPT']}, STK {last['F1 STK']}"
        )
    return "; ".join(cells)


def best_accuracy(rows: Rows) -> str:
    own = [row for row in rows if row["criterion"] == "gradient" and row["fragments"] <= 10_000]
    row = max(own, key=lambda row: row["fragments"])
    return (
        f"OPT {row['accuracy OPT']} with {row['fragments']:,} fragments, STK {row['accuracy STK']}"
    )


def first_task(rows: Rows) -> str:
    row = rows[0]
    return f"questions: OPT {row['accuracy OPT']}, STK {row['accuracy STK']}"


def auc(rows: Rows) -> str:
    own = [row for row in rows if row["share of symbols"] == 0.1]
    return "; ".join(f"{row['data']}: {row['less exact']:+.1f} points" for row in own)


def stability(rows: Rows) -> str:
    row = [row for row in rows if row["data"] == "questions"][-1]
    return f"questions, {row['n']} trees: always {row['chosen always']}"


def pair_cost(key: str, unit: str) -> Callable[[Rows], str]:
    def text(rows: Rows) -> str:
        n = max(row["nodes"] for row in rows if row["kernel"] == "table")
        own = [row for row in rows if row["nodes"] == n and row["case"] == rows[0]["case"]]
        cells = (f"{row['kernel']} {row[key]:,.3g} {unit}" for row in own)
        return f"{n:,} nodes: " + ", ".join(cells)

    return text


def norms(rows: Rows) -> str:
    most = max(row["vectors"] for row in rows)
    own = [row for row in rows if row["vectors"] == most and "signs" not in row["composition"]]
    cells = (f"{row['composition']} {row['norm']:.3f}" for row in own)
    return f"norm of {most} vectors: " + ", ".join(cells)


def correlations(rows: Rows) -> str:
    own = [row for row in rows if row["lambda"] == 0.4 and "signs" not in row["composition"]]
    cells = (f"{row['data set']} {row['composition']} {row['correlation']:.3f}" for row in own)
    return "lambda 0.4: " + ", ".join(cells)


def accuracies(rows: Rows) -> str:
    own = [row for row in rows if row["lambda"] == 0.4 and "Linear" not in row["kernel"]]
    most = max(row["trained on"] for row in own)
    cells = (f"{row['kernel']} {row['accuracy']}" for row in own if row["trained on"] == most)
    return "lambda 0.4: " + ", ".join(cells)


def entailment(rows: Rows) -> str:
    own = [row for row in rows if row["lambda"] == 0.4 and "signs" not in row["kernel"]]
    return "lambda 0.4: " + ", ".join(f"{row['kernel']} {row['accuracy']}" for row in own)


def pairs(rows: Rows) -> str:
    first, last = rows[0], rows[-1]
    exact = f"exact {first['exact']:.0f} to {last['exact']:.0f} us"
    return f"{exact}, vectors {last['vectors']:.0f} us"


# ------------------------------------------------------------------ the papers

_NOT_FREE = "other data: the Penn Treebank and PropBank are not free"
_CURVE = "a curve without numbers"

ITEMS = [
    Item(
        SEVERYN,
        "Table 1",
        "calls of Delta, uSVM : SDAG+, subset trees, by sample size",
        "srl-ewt; inex 2005, class 8",
        "SRL 1.8 to 7.3; SRL, unlexicalised 3.4 to 14.3; INEX 22 to 156",
        "paper_severyn2012_deltas",
        deltas("STK"),
        distances.deltas("STK"),
        "other treebank; the paper does not name its "
        "INEX class. Ratios of times over fewer than 20 iterations are left out",
    ),
    Item(
        SEVERYN,
        "Table 2",
        "the same with partial trees",
        "as Table 1",
        "SRL 1.7 to 7.6; SRL, unlexicalised 2.9 to 10.8; INEX 145 to 260",
        "paper_severyn2012_deltas",
        deltas("PTK"),
        distances.deltas("PTK"),
        "the paper does not name its INEX class",
    ),
    Item(
        SEVERYN,
        "Fig. 3",
        "calls of Delta by sample size",
        "as Table 1",
        "the values of Tables 1 and 2",
        "paper_severyn2012_deltas",
        both_deltas,
        distances.deltas("STK", "PTK"),
        "as Tables 1 and 2",
    ),
    Item(
        SEVERYN,
        "Table 3",
        "nodes of all support vectors : nodes of their DAG, 10,000 to 1 million",
        "srl-ewt",
        "5.3 to 2.9",
        "paper_severyn2012_classify",
        compression,
        distances.compression,
        _NOT_FREE,
    ),
    Item(
        SEVERYN,
        "Table 4",
        "time of training",
        "srl-ewt",
        "1 million trees: SDAG+ 264 min, SVM-light-TK 10,705 min",
        "paper_severyn2012_times",
        minutes,
        distances.minutes,
        "other machine and data; exact is this library's own solver, to a gap of 1e-3",
    ),
    Item(
        SEVERYN,
        "Table 5",
        "average F1 on questions",
        "qc, the paper's questions",
        "uSVM 85.2, uSVM+j 88.0, SVM 86.6",
        "paper_severyn2012_imbalance",
        imbalance,
        distances.imbalance,
        "uSVM: a run may stop early by luck with a small sample. uSVM+j: our validation parts "
        "choose other values of j than the paper's validation set, which is not known. "
        "paper_severyn2012_trials has other losses, sampling and stopping, and the F1 with the j "
        "that is best on the test set",
    ),
    Item(
        SEVERYN,
        "Fig. 4",
        "speed-up by threads",
        "srl-ewt; the paper: Yahoo! Answers, not public",
        "7.0 with eight processors, r = 1,000",
        "paper_severyn2012_threads",
        speed_up,
        distances.not_comparable("not comparable: two threads, not eight"),
        "two cores only; the dual over the planes and the products of the new plane run on one "
        "thread",
    ),
    Item(
        AIOLLI,
        "Table I",
        "the trees of boundary detection",
        "srl-ewt, the first million",
        "992,819 trees, 14.47 nodes each, outdegree at most 15",
        "paper_aiolli2007_trees",
        trees,
        distances.trees,
        _NOT_FREE,
    ),
    Item(
        AIOLLI,
        "Fig. 6",
        "time of one epoch",
        "as Table I",
        "at most 4 hours, 450 MB",
        "paper_aiolli2007_epoch",
        epoch_time,
        distances.epoch_time,
        "factors hold all examples in memory; the memory of online learning is in "
        "paper_aiolli2007_online",
    ),
    Item(
        AIOLLI,
        "Fig. 7",
        "plain F1 of POLY2, POLY3 and their sums with TK, best lambda",
        "as Table I",
        "POLY3 above TK; TK+POLY3 84.5 (lambda 0.7)",
        "paper_aiolli2007_epoch",
        best_f1("POLY2", "POLY3", "TK+POLY2", "TK+POLY3"),
        distances.sums,
        "reversed: TK alone is above POLY here. In our trees the node of the argument is marked, "
        "which the paper says would help TK. Weights after one epoch vary by a point",
    ),
    Item(
        AIOLLI,
        "Fig. 8",
        "plain F1 of LINEAR, TK and TK+LINEAR, best lambda",
        "as Table I",
        "LINEAR far below POLY2; TK below POLY",
        "paper_aiolli2007_epoch",
        best_f1("LINEAR", "TK", "TK+LINEAR"),
        distances.linear,
        "reversed: LINEAR is above POLY2 and POLY3, and TK+LINEAR is the best kernel by plain "
        "F1. By averaged predictions, TK+POLY3 is the best and LINEAR the worst, as in the paper",
    ),
    Item(
        ZANZOTTO,
        "Fig. 2",
        "norms and variances of compositions",
        "random vectors, d = 8192",
        _CURVE,
        "paper_zanzotto2012_norms",
        norms,
        distances.no_numbers,
        "products of normal numbers have heavy tails, so their norms drift from 1",
    ),
    Item(
        ZANZOTTO,
        "Table 2",
        "Spearman's correlation with the exact kernel",
        "qc, rte",
        "lambda 0.4: qc product .980, qc convolution .989, rte product .990, rte convolution .961",
        "paper_zanzotto2012_correlation",
        correlations,
        distances.correlations,
        "products of normal numbers have heavy tails; other parses of the same texts",
    ),
    Item(
        ZANZOTTO,
        "Fig. 3",
        "accuracy on questions",
        "qc",
        _CURVE,
        "paper_zanzotto2012_questions",
        accuracies,
        distances.no_numbers,
    ),
    Item(
        ZANZOTTO,
        "Fig. 4",
        "accuracy on textual entailment",
        "rte 1 to 3; the paper: also 5, not free",
        _CURVE,
        "paper_zanzotto2012_entailment",
        entailment,
        distances.no_numbers,
    ),
    Item(
        ZANZOTTO,
        "Fig. 5",
        "time of one pair by its number of nodes",
        "qc",
        _CURVE,
        "paper_zanzotto2012_pairs",
        pairs,
        distances.no_numbers,
        "one pair at a time from Python; most of it is the call",
    ),
    Item(
        PIGHIN,
        "Fig. 1",
        "share of the norm by the number of fragments",
        "qc, random split",
        "60 to 65 % with 1,000 to 10,000 fragments",
        "paper_pighin2010_norms",
        fragments_of_norm,
        distances.fragments_of_norm,
        "other parses; some classes need more fragments",
    ),
    Item(
        PIGHIN,
        "Table 1",
        "mean F1 of six classes with 60 % of the norm",
        "qc, random split",
        "STK 83.7, LIN 77.7, OPT 82.9",
        "paper_pighin2010_classes",
        mean_f1,
        distances.mean_f1,
        "other split; ABBR has few test examples. ENTY's C is the largest that was tried, which "
        "takes more fragments: paper_pighin2010_costs has the same with a small C",
    ),
    Item(
        PIGHIN,
        "Fig. 2",
        "F1 of LOC and DESC by the share of the norm",
        "qc, random split",
        _CURVE,
        "paper_pighin2010_shares",
        best_shares,
        distances.no_numbers,
    ),
    Item(
        PIGHIN,
        "Fig. 3",
        "accuracy by the number of fragments",
        "qc, random split",
        "OPT in line with STK from 1,000 to 10,000 fragments on",
        "paper_pighin2010_accuracy",
        best_accuracy,
        distances.best_accuracy,
        "as Table 2",
    ),
    Item(
        PIGHIN,
        "Table 2",
        "accuracy of OPT and STK",
        "qc, random split; roles of srl-ewt",
        "questions: OPT 84.12, STK 83.70",
        "paper_pighin2010_tasks",
        first_task,
        distances.first_task,
        "our STK is better than the paper's, so OPT has more to reach. paper_pighin2010_variants "
        "changes one thing at a time on several splits. Relation extraction (ACE) and the paper's "
        "roles are not free",
    ),
    Item(
        RIECK,
        "Fig. 1",
        "AUC with 10 % of the symbols, less that of the exact kernel",
        "qc, ENTY; inex 2005; parts of html-docs; the paper: web spam",
        "on par",
        "paper_rieck2008_accuracy",
        auc,
        distances.auc,
        "without TERM, the paper's symbol above all words, many symbols share the words. Parts of "
        "HTML pages have no few symbols that tell the generators apart",
    ),
    Item(
        RIECK,
        "Fig. 2",
        "which symbols are chosen",
        "as Fig. 1",
        "questions: always NP, PP, VP, S1, SBARQ, SQ, TERM, DOT",
        "paper_rieck2008_stability",
        stability,
        distances.symbols,
        "other labels of the parser",
    ),
    Item(
        RIECK,
        "Fig. 3",
        "memory of one kernel",
        "html-docs; the paper: other web pages",
        "exact 1.6 GB for two trees of 10,000 nodes",
        "paper_rieck2008_pairs",
        pair_cost("more_mib", "MiB"),
        distances.pair_cost("more_mib", rieck.GIGABYTES * 1e9 / 2**20),
        "our table has 8 bytes for each pair of nodes, the paper's memory is that of 16; the "
        "engine compares distinct subtrees only",
    ),
    Item(
        RIECK,
        "Fig. 4",
        "time of one kernel",
        "html-docs; the paper: other web pages",
        "exact 6 minutes for two trees of 10,000 nodes",
        "paper_rieck2008_pairs",
        pair_cost("cpu_ms", "ms"),
        distances.pair_cost("cpu_ms", rieck.MINUTES * 60e3),
        "on this engine the exact kernel leaves little to save",
    ),
]

DRAWINGS = [
    Drawing(SEVERYN, "Fig. 1", "three trees and their DAG", "core/forest/dag.hpp"),
    Drawing(SEVERYN, "Fig. 2", "fragments of both kernels", "docs/kernels.md"),
    Drawing(AIOLLI, "Figs. 1 to 3", "forests as DAGs, and inserting into them",
            "core/forest/builder.hpp, core/learn/perceptron/growing_forest.hpp"),
    Drawing(AIOLLI, "Fig. 4", "the DAG-perceptron", "src/filbert/learners/perceptron.py"),
    Drawing(AIOLLI, "Fig. 5", "predicate-argument trees", "src/filbert/datasets/srl.py"),
    Drawing(ZANZOTTO, "Fig. 1", "a sample tree", "docs/embedding.md"),
    Drawing(ZANZOTTO, "Table 1", "complexities", "docs/embedding.md"),
]  # fmt: skip


def page(results: dict[str, Any]) -> str:
    lines = [
        "# The tables and figures of the five papers\n",
        "Made by `python -m benchmarks.page`. Our values are computed from `benchmarks/results/`. "
        "[RESULTS.md](RESULTS.md) has the whole tables. The command that measures the result "
        "`SCRIPT_SECTION` is `python -m benchmarks.SCRIPT --only SECTION`.\n",
        "| paper | what | data | the paper | ours | how far apart | why they differ | result |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for item in ITEMS:
        known = item.result in results
        rows = results[item.result]["figures"] if known else []
        ours, apart = (item.ours(rows), item.apart(rows)) if known else ("not measured", "")
        link = f"[{item.result}](RESULTS.md#{item.result})" if known else item.result
        name = f"{item.paper}, {item.name}"
        cells = [name, item.what, item.data, item.theirs, ours, apart, item.why, link]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "Without measurements:\n", "| paper | what | in Filbert |", "| --- | --- | --- |"]
    lines += [f"| {one.paper}, {one.name} | {one.what} | {one.where} |" for one in DRAWINGS]
    return "\n".join(lines) + "\n"
