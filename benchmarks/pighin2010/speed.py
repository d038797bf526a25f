"""Mining a model of some 36,000 support vectors, and vectorising 100,000 trees by its fragments."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data
from benchmarks.pighin2010.section import MODULE, Options, Row, Section
from filbert import TreeSVC, load, read_examples, save
from filbert.fragments import mine
from filbert.kernels import SubsetTree

N_TREES = 100_000
FRAGMENTS = 10_000
# What is mined: by the paper's L, and by a number of fragments; what is tried for comparison.
CASES: dict[str, dict[str, Any]] = {
    "L = 50": {},
    "10,000 fragments": {"n_fragments": FRAGMENTS},
    "chi2, L = 4": {"max_ratio": 4.0, "criterion": "chi2"},
    "complete, the 1,000 heaviest": {"n_fragments": 1_000, "search": "complete"},
}


def trained(path: str, saved: str) -> Row:
    """Train and store, in this process."""
    X, y = read_examples(path)
    clf = TreeSVC(SubsetTree(0.4), random_state=0, C=1.0, loss="hinge").fit(X, y)
    save(clf, saved)
    return {"examples": len(X), "support vectors": len(clf.support_)}


def mined(saved: str, case: str, threads: str, test: str) -> Row:
    """Mine the stored model, and vectorise the test trees on one thread, in this process."""
    model: Any = load(saved)
    X = read_examples(test)[0]
    clock = Clock()
    found = mine(model.model_, n_jobs=int(threads), **CASES[case])
    cpu, wall = clock.lap()
    mining_peak = peak_mib()
    clock.lap()
    counts = found.fragments.count(X, n_jobs=1)
    cpu_counting, wall_counting = clock.lap()
    return {
        "threads": int(threads),
        "fragments": found.n,
        "norm share, %": round(100 * found.norm_share, 2),
        "cpu_mining": cpu,
        "wall_mining": wall,
        "trees": len(X),
        "cpu_counting": cpu_counting,
        "wall_counting": wall_counting,
        "counts that are not 0": int(counts.nnz),
        "mining_peak_mib": mining_peak,
        "peak_mib": peak_mib(),
    }


ONE = {"train": trained, "mine": mined}


def section(options: Options) -> Section:
    result = Section(
        "goals: 36,000 support vectors mined within 60 s, and 100,000 trees vectorised over 10,000 "
        "fragments within 10 s on one core"
    )
    with TemporaryDirectory() as name:
        folder = Path(name)
        train = write_boundary(shared_data(), "train", folder / "train.tsv")
        test = first_lines(write_boundary(shared_data(), "test", folder / "test.tsv"), N_TREES)
        saved = folder / "model.filbert"
        path = first_lines(train, 20_000 if options.quick else None)
        first = in_own_process(MODULE, "--one", "train", path, saved)
        first.pop("runs")
        for case in CASES:
            for threads in (1, 2):
                arguments = ("--one", "mine", saved, case, threads, test)
                row = in_own_process(MODULE, *arguments)
                result.rows.append({"mined": case} | first | row)
    result.notes = [
        "srl-ewt, rule VB, SubsetTree(0.4), C = 1. Each row is a process of its own; what is "
        "vectorised are the first 100,000 test examples, read before, on one thread."
    ]
    return result
