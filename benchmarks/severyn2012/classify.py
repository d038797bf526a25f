"""Table 3: models of growing training sets, and the CPU seconds of scoring 10,000 trees with them.

The model is scored as the list of its support vectors (uSVM), as the DAG of their distinct nodes
(SDAG+), and as Filbert does it. All give the same scores.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, shared_data
from benchmarks.severyn2012.paper import CLASSIFIED
from benchmarks.severyn2012.section import MODULE, Options, Row, Section
from benchmarks.severyn2012.training import signs_of, train, training_trees
from filbert import Forest, _core, read_examples
from filbert.kernels import SubsetTree
from filbert.model import SupportVectorModel

KERNEL = SubsetTree(0.4)
SAMPLE = 1_000
ITERATIONS = 300
N_TEST = 10_000


def measured(train_path: str, test_path: str, iterations: str) -> Row:
    """One training set, in this process."""
    X, y = read_examples(train_path, labels="numbers", n_jobs=1)
    X_test = read_examples(test_path, n_jobs=1)[0]
    trees = training_trees(KERNEL, X)
    run = train("sdag+", trees, signs_of(y, 1), sample_size=SAMPLE, iterations=int(iterations))
    _, model = run.model(KERNEL, X)
    lists, seconds_lists, nodes_lists = as_one_plane(model, X_test, _core.PlaneStorage.lists)
    dag, seconds_dag, nodes_dag = as_one_plane(model, X_test, _core.PlaneStorage.one_dag)
    model.decision_function(X_test[:1], n_jobs=1)  # its tables are made once
    clock = Clock()
    ours = model.decision_function(X_test, n_jobs=1)[:, 0]
    seconds_ours = clock.lap()[0]
    training_trees(KERNEL, X_test)  # the norms, which the others have beforehand
    seconds_norms = clock.lap()[0]
    for scores in (dag, ours):
        np.testing.assert_allclose(scores, lists, rtol=1e-8, atol=1e-8)
    return {
        "support_vectors": len(model.support),
        "nodes": model.support.n_nodes,
        "nodes_distinct": model.support.n_subtrees,
        "nodes_lists": nodes_lists,
        "nodes_dag": nodes_dag,
        "cpu_lists": seconds_lists,
        "cpu_dag": seconds_dag,
        "cpu_ours": seconds_ours,
        "cpu_norms": seconds_norms,
        "cpu_train": round(run.cpu[-1], 3),
    }


ONE = {"classify": measured}


def as_one_plane(
    model: SupportVectorModel, X_test: Forest, storage: Any
) -> tuple[NDArray[np.float64], float, int]:
    """Score with a single plane that holds all support vectors: scores, seconds and nodes."""
    n = len(model.support)
    together = Forest.concat([model.support, X_test])
    store = _core.PlaneStore(storage, training_trees(model.kernel, together))
    support = np.arange(n, dtype=np.uint32)
    store.scores(support, np.empty(0), 1, None)
    store.add(support, model.coef[0], 1, None)
    test = np.arange(n, n + len(X_test), dtype=np.uint32)
    clock = Clock()
    scores = store.scores(test, np.ones(1), 1, None)
    return scores, clock.lap()[0], store.n_nodes


def shown(n: int, row: Row) -> Row:
    paper = CLASSIFIED[n]
    return {
        "data": n,
        "SVs": row["support_vectors"],
        "paper SVs": paper.support_vectors,
        "nodes": row["nodes"],
        "paper nodes": paper.nodes,
        "nodes S+": row["nodes_distinct"],
        "paper nodes S+": paper.nodes_sdag_plus,
        "comp": round(row["nodes"] / row["nodes_distinct"], 1),
        "paper comp": paper.compression,
        "stored": row["nodes_lists"],
        "stored S+": row["nodes_dag"],
        "t (s)": row["cpu_lists"],
        "paper t (s)": paper.seconds,
        "t_S+ (s)": row["cpu_dag"],
        "paper t_S+ (s)": paper.seconds_sdag_plus,
        "t/t_S+": round(row["cpu_lists"] / row["cpu_dag"], 1),
        "paper t/t_S+": paper.speedup,
        "t Filbert (s)": row["cpu_ours"],
        "t/t Filbert": round(row["cpu_lists"] / row["cpu_ours"], 1),
        "t norms (s)": row["cpu_norms"],
    }


def section(options: Options) -> Section:
    result = Section("Table 3: models as lists and as DAGs: nodes, and seconds of scoring")
    sizes = [10_000, 25_000] if options.quick else list(CLASSIFIED)
    iterations = 30 if options.quick else ITERATIONS
    with TemporaryDirectory() as name:
        folder = Path(name)
        train_path = write_boundary(shared_data(), "train", folder / "train.tsv")
        test_path = first_lines(write_boundary(shared_data(), "test", folder / "test.tsv"), N_TEST)
        for n in sizes:
            arguments = (first_lines(train_path, n), test_path, iterations)
            row = in_own_process(MODULE, "--one", "classify", *arguments)
            result.rows.append(shown(n, row))
    result.notes = [
        "The first examples of srl-ewt (rule VB), SubsetTree(0.4) normalised, SDAG+ with samples "
        f"of {SAMPLE:,} and {iterations} iterations; the first {N_TEST:,} test examples. The paper "
        "does not say what r was; this gives about as many support vectors. CPU seconds on one "
        "thread, without preparing the model.",
        "Nodes of all support vectors with repetition, and distinct ones (S+), words among them, "
        "as the paper's 20 nodes a tree must be counted; stored are only those with a production. "
        "All three ways give the same scores to 1e-8.",
        "The test trees' norms are computed beforehand for lists and the DAG (t norms), as in the "
        "paper; the seconds of Filbert's own models have them included.",
    ]
    return result
