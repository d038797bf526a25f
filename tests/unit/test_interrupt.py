"""Ctrl-C ends long work in the core at once, and the interpreter goes on.

Each test starts a process with work for minutes, which interrupts itself, and looks at what it
reports. How soon the work ends is counted in CPU seconds of the process, which do not depend on
what else the machine does.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import filbert
from filbert import (
    DistributedTreeEmbedding,
    Forest,
    TreeFeatures,
    TreeIndex,
    TreePerceptron,
    TreeSVC,
    _core,
)
from filbert.engine import factorize
from filbert.engine.vector_factors import vector_factors
from filbert.fragments import mine
from filbert.kernels import PartialTree, Polynomial, Sequence, SubsetTree, Subtree
from filbert.model import SupportVectorModel

TIME_LIMIT = 60  # seconds; the work itself would take longer
CPU_SECONDS = 0.3  # that the core works in one call before the interrupt
MOST_CPU_SECONDS = 1.0  # of both threads, from the signal to the exception

ended: list[float] = []  # CPU seconds at which the exception came, first where it came first

# The processes are copies of one that has imported this file.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def random_trees(n: int, depth: int, least: int = 3) -> Forest:
    """Trees of two labels whose nodes have `least` to three children, down to one depth."""
    rng = Random(0)

    def tree(depth: int) -> str:
        label = rng.choice("ab")
        if depth == 0:
            return label
        return f"({label} {' '.join(tree(depth - 1) for _ in range(rng.randint(least, 3)))})"

    return Forest(tree(depth) for _ in range(n))


def many_trees() -> Callable[[], Any]:
    """Trees that have few labels and share nothing: some 10^10 steps."""
    forest = random_trees(6000, depth=4)
    return lambda: PartialTree()(forest)


def wide_nodes() -> Callable[[], Any]:
    """One pair of nodes of 300,000 children each: 10^11 steps."""
    children = " ".join(f"w{i % 50}" for i in range(300_000))
    forest = Forest([f"(S {children})", f"(S z {children})"])
    return lambda: PartialTree(max_steps=None)(forest)


def long_chains() -> Callable[[], Any]:
    """Pairs of chains, each of which takes seconds."""
    forest = Forest("(a " * 10**6 + f"x{i}" + ")" * 10**6 for i in range(4))
    return lambda: SubsetTree()(forest)


def long_sequences() -> Callable[[], Any]:
    """One pair of 300,000 labels each: 10^11 steps."""
    labels = [f"w{i % 50}" for i in range(300_000)]
    return lambda: Sequence(normalize=False)([labels], [labels[::-1]])


def rows() -> Callable[[], Any]:
    """Chains against a chain, node by node: 8 x 10^9 steps for each of eight."""
    chains = Forest("(a " * n + "x" + ")" * n for n in range(90_000, 90_008))
    model = SupportVectorModel(SubsetTree(), chains[:1], np.ones((1, 1)), np.zeros(1))
    return lambda: model.contributions(chains)


def fit_interrupted(model: TreeSVC, X: Forest) -> None:
    """Fit again, for minutes; the model has to stay what it was."""
    few = ["(S (A a))", "(S (A b))", "(S (B a))", "(Q (A a))"]
    model.fit(few, [0, 1, 0, 1])
    before = vars(model).copy()
    decisions = model.decision_function(few).tolist()
    y = np.random.default_rng(0).integers(0, 2, len(X))
    model.set_params(C=1e6, tol=1e-14, max_iter=2**31)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        ended.append(time.process_time())
        assert all(vars(model)[name] is before[name] for name in before if name.endswith("_"))
        assert model.decision_function(few).tolist() == decisions
        raise


def wide_trees() -> Forest:
    """Wide nodes of three kinds of children in any order."""
    rng = Random(0)
    return Forest(
        "(S " + " ".join(f"(T {leaf})" for leaf in rng.choices("abc", k=400)) + ")"
        for _ in range(4000)
    )


def factorising() -> Callable[[], Any]:
    """Hardly two fragments go together."""
    return lambda: fit_interrupted(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), wide_trees()
    )


def factorising_partial() -> Callable[[], Any]:
    """The same with partial trees, and a budget without end: sequences are hardly ever the same."""
    rng = Random(0)
    forest = Forest(
        "(S " + " ".join(f"(T {leaf})" for leaf in rng.choices("abc", k=60)) + ")"
        for _ in range(2000)
    )
    return lambda: factorize(PartialTree(), forest, budget=1e9)


def partial_pairs() -> Callable[[], Any]:
    """Blocks that are compared pair by pair."""
    forest = random_trees(1000, depth=5)
    return lambda: factorize(PartialTree(), forest, budget=0)


def wide_siblings() -> Callable[[], Any]:
    """Different children of one node, each of which is to be compared with all others."""
    rng = Random(0)
    children = (f"(T {' '.join(rng.choices('abcdefgh', k=20))})" for _ in range(20_000))
    forest = Forest([f"(S {' '.join(children)})"])
    return lambda: factorize(PartialTree(max_steps=None), forest)


def symbols_by_pairs() -> Callable[[], Any]:
    """What symbols gain, from all pairs of distinct nodes: some 10^10 steps."""
    forest = random_trees(3000, depth=4)
    symbol_of, names = _core.node_symbols(forest._dag, False)

    def by_pairs() -> Any:
        parameters = (PartialTree()._spec(), forest._dag, forest._roots, False)
        weights = np.ones((len(forest), 1))
        return _core.symbol_forms_by_pairs(*parameters, weights, symbol_of, len(names), 1)

    return by_pairs


def products_of_features() -> Callable[[], Any]:
    """All sets of three of 500 features, in each of 2000 vectors: 4 x 10^10 steps."""
    vectors = np.ones((2000, 500))
    return lambda: vector_factors(Polynomial(3), vectors, max_memory=2**50)


def training() -> Callable[[], Any]:
    """Labels that have nothing to do with the trees, and a gap that is not to be reached."""
    forest = random_trees(2000, depth=3, least=1)
    return lambda: fit_interrupted(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), forest
    )


def training_on_rows() -> Callable[[], Any]:
    """The same with partial trees, whose rows are computed in no time."""
    forest = random_trees(1000, depth=3, least=1)
    return lambda: fit_interrupted(
        TreeSVC(PartialTree(), engine="rows", random_state=0, C=1.0, loss="hinge"), forest
    )


def training_on_a_sum() -> Callable[[], Any]:
    """The same with several terms."""
    forest = random_trees(2000, depth=3, least=1)
    return lambda: fit_interrupted(
        TreeSVC(SubsetTree() + Subtree(), random_state=0, C=1.0, loss="hinge"), forest
    )


def planes(strategy: Any) -> Callable[[], Any]:
    """Planes of ten thousand trees that share nothing."""
    forest = random_trees(10_000, depth=4)
    model = TreeSVC(SubsetTree(), strategy=strategy, sample_size=10_000, random_state=0, C=1.0)
    return lambda: fit_interrupted(model, forest)


def online() -> Callable[[], Any]:
    """Learning from labels that have nothing to do with the trees. What is learnt stays."""
    forest = random_trees(4000, depth=4)
    y = np.random.default_rng(0).integers(0, 2, len(forest))

    def learn() -> None:
        clf = TreePerceptron(PartialTree())
        try:
            clf.partial_fit(forest, y, classes=[0, 1])
        except KeyboardInterrupt:
            ended.append(time.process_time())
            assert 0 < clf.n_seen_ < len(forest)
            same = TreePerceptron(PartialTree())
            same.partial_fit(forest[: clf.n_seen_], y[: clf.n_seen_], classes=[0, 1])
            few = forest[:20]
            assert clf.decision_function(few).tolist() == same.decision_function(few).tolist()
            clf.partial_fit(few, y[:20])
            assert clf.n_seen_ == same.n_seen_ + 20
            raise

    return learn


def epochs() -> Callable[[], Any]:
    """Epochs without end over factors. What is learnt stays."""
    forest = random_trees(2000, depth=3, least=1)
    y = np.random.default_rng(0).integers(0, 2, len(forest))

    def learn() -> None:
        clf = TreePerceptron(n_epochs=20_000, shuffle=False)
        try:
            clf.fit(forest, y)
        except KeyboardInterrupt:
            ended.append(time.process_time())
            n_seen = clf.n_seen_
            assert 0 < n_seen < clf.n_epochs * len(forest)
            same = TreePerceptron(n_epochs=n_seen // len(forest) + 1, shuffle=False).fit(forest, y)
            log, whole = clf.model_.plain()[1], same.model_.plain()[1]
            assert log.time.tolist() == whole.time[whole.time <= n_seen].tolist()
            clf.partial_fit(forest[:20], y[:20])
            assert clf.n_seen_ == n_seen + 20
            raise

    return learn


def embedding() -> Callable[[], Any]:
    """Vectors of 131,072 components, a gigabyte of them."""
    forest = random_trees(2000, depth=3)
    made = DistributedTreeEmbedding(2**17)
    return lambda: made.transform(forest)


def embedding_chains() -> Callable[[], Any]:
    """Parts that all trees have, one after the other."""
    chain = "(a " * 10**6 + "x" + ")" * 10**6
    forest = Forest([chain, f"(b {chain})"])
    return lambda: DistributedTreeEmbedding(1024).transform(forest)


def mining(kernel: Any, search: Any) -> Callable[[], Any]:
    """Fragments without number: none is too light, and none too rare."""
    forest = random_trees(200, depth=5)
    coef = np.random.default_rng(0).choice([-1.0, 1.0], (1, len(forest)))
    model = SupportVectorModel(kernel, forest, coef, np.zeros(1))
    unlimited = {"max_ratio": 1e12, "min_frequency": 1, "max_fragments": 2**31 - 1}
    return lambda: mine(model, search=search, **unlimited)


def searching(kernel: Any, depth: int) -> Callable[[], Any]:
    """Each tree as a query, and no tree can be skipped."""
    index = TreeIndex(kernel).fit(random_trees(3000, depth=depth))
    return lambda: index.radius_neighbors(min_similarity=0)


def indexing() -> Callable[[], Any]:
    """Trees of many pairs of their own nodes."""
    forest = random_trees(400, depth=7)
    return lambda: TreeIndex(PartialTree()).fit(forest)


def transforming() -> Callable[[], Any]:
    """Features of new trees that share little. Those of the training trees stay the same."""
    wide = wide_trees()
    features = TreeFeatures(SubsetTree()).fit(wide[:2])
    before = features.transform(wide[:2]).toarray()

    def transform() -> None:
        try:
            features.transform(wide)
        except KeyboardInterrupt:
            assert np.array_equal(features.transform(wide[:2]).toarray(), before)
            raise

    return transform


WORK = {
    "many-trees": many_trees,
    "indexing": indexing,
    "searching": lambda: searching(PartialTree(), 4),
    "searching-subset-trees": lambda: searching(SubsetTree(), 5),
    "wide-nodes": wide_nodes,
    "long-chains": long_chains,
    "long-sequences": long_sequences,
    "rows": rows,
    "factorising": factorising,
    "factorising-partial": factorising_partial,
    "partial-pairs": partial_pairs,
    "wide-siblings": wide_siblings,
    "products-of-features": products_of_features,
    "symbols-by-pairs": symbols_by_pairs,
    "training": training,
    "training-on-rows": training_on_rows,
    "training-on-a-sum": training_on_a_sum,
    "usvm": lambda: planes("usvm"),
    "sdag": lambda: planes("sdag"),
    "sdag+": lambda: planes("sdag+"),
    "online": online,
    "epochs": epochs,
    "transforming": transforming,
    "embedding": embedding,
    "embedding-chains": embedding_chains,
    "mining": lambda: mining(SubsetTree(1.0, normalize=False), "greedy"),
    "mining-completely": lambda: mining(SubsetTree(1.0, normalize=False), "complete"),
    "mining-partial-trees": lambda: mining(PartialTree(normalize=False), "greedy"),
}


def interrupt_long_call(sent: list[float]) -> None:
    """Interrupt the process when the main thread has been in one call for a while.

    This thread runs only where the main thread has released the interpreter. If the main thread
    stays at one instruction while the process uses up CPU time, then the core is at work.
    """
    main = threading.main_thread().ident
    assert main is not None
    place, since = None, 0.0
    while place is None or time.process_time() - since < CPU_SECONDS:
        frame = sys._current_frames()[main]
        if (frame, frame.f_lasti) != place:
            place, since = (frame, frame.f_lasti), time.process_time()
        threading.Event().wait(0.001)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)


def calls_the_core(frame: traceback.FrameSummary) -> bool:
    """Say whether the innermost frame is Filbert's, or a line here that calls the core."""
    package = Path(filbert.__file__).parent
    return Path(frame.filename).is_relative_to(package) or "_core." in str(frame.line)


def run(name: str) -> dict[str, Any]:
    """Work until interrupted; then say how soon it ended, where, and if kernels still work."""
    work = WORK[name]()
    sent: list[float] = []
    threading.Thread(target=interrupt_long_call, args=(sent,), daemon=True).start()
    try:
        work()
    except KeyboardInterrupt as error:
        ended.append(time.process_time())
        cpu = ended[0] - sent[0]
        innermost = traceback.extract_tb(error.__traceback__)[-1]
        small = SubsetTree(1.0, normalize=False)(["(a (b c))", "(a (b d))"], n_jobs=2)
        within = calls_the_core(innermost)
        return {"cpu": cpu, "within": within, "frame": str(innermost), "afterwards": small.tolist()}
    return {"finished": True}


def report(name: str, pipe: Connection) -> None:
    """Run in a process of its own; send what `run` says."""
    os.environ["FILBERT_NUM_THREADS"] = "2"
    pipe.send(run(name))


FEW = ("long-chains", "training", "mining")
EACH = [
    pytest.param(name, marks=[] if name in FEW else pytest.mark.product, id=name) for name in WORK
]


@pytest.mark.parametrize("name", EACH)
def test_an_interrupt_ends_the_work(name: str) -> None:
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=report, args=(name, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(TIME_LIMIT)
        told = ours.recv()
    finally:
        process.kill()
        process.join()
    assert "finished" not in told
    assert told["within"], f"it is not the core's work that was interrupted: {told['frame']}"
    assert told["afterwards"] == [[3, 1], [1, 3]]
    assert told["cpu"] <= MOST_CPU_SECONDS
    print(f"{name}: {told['cpu']:.3f} CPU s from signal to exception")  # pytest -rP shows it
