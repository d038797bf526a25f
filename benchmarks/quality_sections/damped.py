"""Damped counts of fragments: what log(1 + n) or sqrt(n) in place of n brings to subset trees.

The kernel is sum_p m_p f(n_p(x)) f(n_p(z)), where fragment p occurs n_p(x) times in tree x and has
the weight m_p. Filbert does not offer it. The factors give it exactly: a column is a class of
fragments that the same trees have equally often, so f is applied to the entries of the column.
Fragments of a single tree have no column, so each tree is in the forest twice.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.quality_sections.ablation import compared, measured
from benchmarks.quality_sections.parallel import each_in_own_process
from benchmarks.quality_sections.tasks import Indices, Task
from benchmarks.sections import Section
from filbert import Forest, TreeSVC
from filbert.engine import sum_factors
from filbert.kernels import Linear, SubsetTree

DAMPING: dict[str, Callable[[Any], Any]] = {"none": lambda n: n, "sqrt": np.sqrt, "log": np.log1p}
DECAY = 0.4
BASE = "damping: none"


def section_damped(n_processes: int, names: Iterable[str]) -> Section:
    """Accuracy on all tasks and seeds, and the mean difference from plain counts."""
    section = Section("what damped counts bring to subset trees")
    section.rows = compared(each_in_own_process("damped", names, n_processes), BASE)
    section.notes = [
        f"SubsetTree({DECAY}) with leaves, normalised after damping, by TreeSVC with its default "
        "loss and choice of C. log is log(1 + n).",
        "Means and standard errors are as in quality_ablation.",
    ]
    return section


def damped_of(name: str) -> dict[str, Any]:
    """Measure all functions on all seeds and folds of a task."""
    return measured(name, {f"damping: {own}": partial(predicted, own) for own in DAMPING})


def predicted(damping: str, data: Task, fold: tuple[Indices, Indices]) -> NDArray[Any]:
    """Train on a fold of a task, and predict its test part."""
    train, test = fold
    counts, mass = fragment_counts(data)
    rows = sp.csr_array(
        (DAMPING[damping](counts.data) * np.sqrt(mass[counts.indices]), counts.indices,
         counts.indptr), shape=counts.shape,
    )  # fmt: skip
    learner = TreeSVC(Linear(), random_state=0, n_jobs=1).fit(rows[train], data.y[train])
    found: NDArray[Any] = learner.predict(rows[test])
    return found


def fragment_counts(data: Task) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return the counts of the trees of a task; those of trees without a part in it are 0."""
    if _last[0] is not data:
        used = np.unique(np.concatenate([part for fold in data.folds for part in fold]))
        counts, mass = counts_and_weights(data.X[used])
        rows = sp.csr_array((np.ones(len(used)), (used, np.arange(len(used)))))
        rows.resize(len(data.X), len(used))
        _last[:] = data, (rows @ counts, mass)
    return _last[1]


_last: list[Any] = [None, None]  # a task and its counts, which all functions share


def counts_and_weights(trees: Forest) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return the counts of all fragments of some trees by class, and the weights of the classes."""
    n = len(trees)
    kernel = SubsetTree(DECAY, include_leaves=True, normalize=False)
    [factors] = sum_factors(kernel, trees[np.tile(np.arange(n), 2)], n_jobs=1).terms
    begin, columns, value_begin, values, mass, *_ = factors.arrays()
    entries = np.ones(len(columns))  # values other than 1 are at the end of each tree
    of_tree = np.diff(value_begin).astype(np.int64)
    ends = np.repeat(begin[1:].astype(np.int64) - value_begin[1:].astype(np.int64), of_tree)
    entries[ends + np.arange(len(values))] = values
    shape = (2 * n, len(mass))
    counts = sp.csr_array((entries, columns.astype(np.int64), begin.astype(np.int64)), shape=shape)
    counts.sum_duplicates()
    return counts[:n], np.maximum(mass, 0.0)  # what one node alone has may be 0 up to rounding
