"""A second and a third epoch; plain, averaged and voted predictions."""

from benchmarks.aiolli2007 import paper
from benchmarks.aiolli2007.data import N_TRAIN, written
from benchmarks.aiolli2007.kernels import kernel
from benchmarks.aiolli2007.scores import f1
from benchmarks.aiolli2007.section import MODULE, Options, Row, Section
from benchmarks.measure import Clock, in_own_process, peak_mib
from filbert import TreePerceptron, read_examples

KERNELS = [("TK", 0.4), ("TK", 0.7), ("POLY3", 0.7), ("TK+POLY3", 0.4), ("TK+POLY3", 0.7)]
EPOCHS = [1, 2, 3]
# Votes need kernels of each test example with each support vector.
N_VOTED, N_TEST_VOTED = 100_000, 20_000


def measured(
    name: str, decay: str, epochs: str, vote: str, train: str, test: str, n_features: str
) -> Row:
    """One training, in this process."""
    X, y = read_examples(train, n_features=int(n_features), n_jobs=1)
    clock = Clock()
    model = TreePerceptron(
        kernel(name, float(decay)), n_epochs=int(epochs), shuffle=False, n_jobs=1
    )
    model.fit(X, y)
    learning = clock.lap()
    row = {"cpu_learning": learning[0], "peak_mib": peak_mib(), "updates": model.n_updates_}
    row["support vectors"] = model.n_support_vectors_
    X, y = read_examples(test, n_features=int(n_features), n_jobs=1)
    row["F1"] = f1(model, X, y, average=False)
    row["F1 averaged"] = f1(model, X, y, average=True)
    row["F1 voted"] = f1(model, X, y, average=False, vote=True) if vote == "vote" else ""
    return row


ONE = {"epochs": measured}


def section(options: Options) -> Section:
    result = Section("A second and a third epoch; plain, averaged and voted predictions")
    voted = (5_000, 1_000) if options.quick else (N_VOTED, N_TEST_VOTED)
    whole = (20_000, 5_000) if options.quick else (N_TRAIN, None)
    for (n_train, n_test), vote in ((voted, "vote"), (whole, "")):
        with written(n_train, n_test) as data:
            for name, decay in KERNELS[-1:] if options.quick else KERNELS:
                for epochs in EPOCHS[:2] if options.quick else EPOCHS:
                    arguments = ("--one", "epochs", name, decay, epochs, vote, *data)
                    first = {"kernel": name, "lambda": decay, "n": n_train, "epochs": epochs}
                    row = first | in_own_process(MODULE, *arguments)
                    in_paper = (name, decay) == paper.BEST and n_train == whole[0]
                    row["paper F1"] = paper.F1.get(epochs, "") if in_paper else ""
                    result.rows.append(row)
    result.notes = [
        f"The paper, TK+POLY3 with lambda {paper.BEST[1]}: F1 {paper.F1[1]} after one epoch and "
        f"{paper.F1[2]} after two, plain.",
        "Votes are taken with fewer examples: they need kernels with all support vectors. There "
        f"the first {voted[1]:,} test examples are scored.",
    ]
    return result
