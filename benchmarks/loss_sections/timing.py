"""Seconds of logistic regression beside those of `TreeSVC`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.datasets import first_lines, write_boundary
from benchmarks.measure import Clock, in_own_process, shared_data
from benchmarks.sections import Row, Section
from filbert import TreeLogisticRegression, TreeSVC, read_examples
from filbert.kernels import SubsetTree

# The number of training examples, the values of C, and of how many runs it is the median.
RUNS: list[tuple[int | None, list[float], int]] = [
    (10_000, [0.1, 1.0, 10.0], 3),
    (100_000, [0.1, 1.0, 10.0], 3),
    (None, [1.0], 1),
]
LIMIT = 3
KERNEL = SubsetTree(0.4)
CLASSIFIERS = {"TreeSVC": TreeSVC, "TreeLogisticRegression": TreeLogisticRegression}


def section_time() -> Section:
    section = Section(
        f"goal: logistic regression within {LIMIT} times the time of TreeSVC, factors included"
    )
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        for n, costs, repeat in RUNS:
            for C in costs:
                rows = [
                    measured(name, C, first_lines(train, n), repeat=repeat) for name in CLASSIFIERS
                ]
                rows[1]["times_of_svc"] = round(rows[1]["cpu_fit"] / rows[0]["cpu_fit"], 2)
                section.rows += rows
    slow = [row for row in section.rows if row.get("times_of_svc", 0) > LIMIT]
    section.notes += [
        "srl-ewt (rule VB), SubsetTree(0.4), a relative duality gap of 1e-3. TreeSVC has its "
        "default loss, the squared hinge.",
        "Over the limit: " + ", ".join(f"{row['n_train']:,} trees, C = {row['C']}" for row in slow)
        if slow
        else "All are within the limit.",
    ]
    return section


def measured(*arguments: object, repeat: int) -> Row:
    return in_own_process("benchmarks.losses", "--one", "time", *arguments, repeat=repeat)


def time_of(name: str, C: str, path: str) -> Row:
    X, y = read_examples(path, labels="numbers", n_jobs=1)
    learner = CLASSIFIERS[name](KERNEL, C=float(C), engine="factors", random_state=0, n_jobs=1)
    clock = Clock()
    task = learner._prepare(X, y, None, [learner.C])  # fit is this, and
    factors = clock.lap()[0]
    learner._solve(task, learner.C, None)  # this
    training = clock.lap()[0]
    return {
        "n_train": len(X),
        "learner": name,
        "C": float(C),
        "cpu_factors": factors,
        "cpu_train": training,
        "cpu_fit": round(factors + training, 4),
        "sweeps": learner.n_iter_,
        "gap": learner.duality_gap_,
        "support_vectors": len(learner.support_),
    }
