"""Beyond the paper: what chosen symbols save where the engine trains on many small trees."""

from functools import partial

from benchmarks.measure import timed
from benchmarks.rieck2008.data import examples
from benchmarks.rieck2008.section import Options, Row, Section
from filbert import SymbolSelector, TreeSVC
from filbert.kernels import SubsetTree

N_MATRIX = 2000  # trees of the kernel matrix
CHOICES: list[float] = [2, 0.1, 0.3, 1.0]  # numbers of symbols, and shares of them


def section(options: Options) -> Section:
    result = Section("Training and kernel matrices with chosen symbols, beside the exact kernel")
    X, y = examples("questions")
    if options.quick:
        X, y = X[:1000], y[:1000]
    for choice in CHOICES:
        selector = SymbolSelector(SubsetTree(), choice).fit(X, y)
        kernel = SubsetTree() if choice == 1.0 else selector.kernel_
        fit = timed(
            partial(TreeSVC(kernel, random_state=0, n_jobs=1, C=1.0, loss="hinge").fit, X, y)
        )
        matrix = timed(partial(kernel, X[:N_MATRIX], n_jobs=1))
        row: Row = {"kernel": "exact" if choice == 1.0 else "approximate"}
        row |= {"symbols": len(selector.symbols_), "q (Eq. 6)": round(selector.speedup_, 1)}
        row |= {"cpu_training": fit["cpu_seconds"], "cpu_matrix": matrix["cpu_seconds"]}
        row["repeat"] = fit["repeat"]
        result.rows.append(row)
    result.notes = [
        f"All {len(X):,} questions of `qc`, ENTY against all others; the matrix is that of the "
        f"first {N_MATRIX:,}. CPU seconds on one thread, medians of {fit['repeat']} runs.",
    ]
    return result
