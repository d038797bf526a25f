"""Twelve tasks of classification, each with one or several folds, for several seeds.

A fold trains on at most `N_TRAIN` trees. The folds of a seed have different test trees, so each
test tree is predicted once for each seed. The test trees of all seeds are the same. With another
seed, other trees are drawn for training.
"""

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.datasets import clone_groups, column
from benchmarks.measure import shared_data
from filbert import Forest
from filbert.datasets import load_stdlib_functions, srl_boundary

N_TRAIN = 3000
Indices = NDArray[np.intp]
Labelled = Iterable[tuple[Any, str]]


@dataclass(frozen=True)
class Task:
    """Trees with classes, and which of them to train and to test on."""

    texts: list[str]
    X: Forest
    y: NDArray[Any]
    folds: list[tuple[Indices, Indices]]


def given_split(train: Labelled, test: Labelled, *, seed: int = 0, n_train: int = N_TRAIN) -> Task:
    """Train on a sample of the training data, and test on all test data."""
    pairs = [*train]
    n = len(pairs)
    pairs += test
    sample = np.random.default_rng(seed).permutation(n)[:n_train]
    return _task(pairs, [(sample, np.arange(n, len(pairs)))])


def cross_validated(examples: Labelled, seed: int, n_folds: int = 2) -> Task:
    """Train on the other folds."""
    pairs = list(examples)
    y = np.array([label for label, _ in pairs])
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return _task(pairs, list(splitter.split(y, y)))


def from_few(examples: Labelled, seed: int, n_folds: int = 3) -> Task:
    """Train on one fold and test on the next."""
    task = cross_validated(examples, seed, n_folds)
    parts = [test for _, test in task.folds]
    folds = [(part, parts[(k + 1) % n_folds]) for k, part in enumerate(parts)]
    return Task(task.texts, task.X, task.y, folds)


def _task(pairs: list[tuple[Any, str]], folds: list[tuple[Indices, Indices]]) -> Task:
    texts = [text for _, text in pairs]
    return Task(texts, Forest(texts), np.array([str(label) for label, _ in pairs]), folds)


# ---------------------------------------------------------------- the data


def table(path: str, label: int, tree: int) -> Labelled:
    """Return two columns of a table."""
    data = shared_data()
    return zip(column([path], label, data), column([path], tree, data), strict=True)


def records(path: str) -> list[dict[str, Any]]:
    """Return a file of JSON lines."""
    with lzma.open(shared_data() / path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def questions(seed: int, n_train: int = N_TRAIN) -> Task:
    """The questions of Severyn & Moschitti 2012, with constituents only."""
    train, test = (table(f"qc/constituency_{part}.tsv.xz", 0, 1) for part in ("train", "test"))
    return given_split(train, test, seed=seed, n_train=n_train)


def documents(year: int, seed: int, n_train: int = N_TRAIN) -> Task:
    """INEX: classes of XML documents, structure only."""
    train, test = (table(f"inex/inex{year}.{part}.tsv.xz", 0, 1) for part in ("train", "test"))
    return given_split(train, test, seed=seed, n_train=n_train)


def sugars(key: str, part: str) -> Labelled:
    """Glycans with exactly one value."""
    for record in records(f"glycan/{part}.jsonl.xz"):
        value = record[key]
        values = value if isinstance(value, list) else [value]
        if len(values) == 1 and values[0] is not None:
            yield str(values[0]), record["tree"]


def kingdoms(seed: int) -> Task:
    """Kingdoms with at least 20 glycans in the training data."""
    return frequent(*(list(sugars("kingdom", part)) for part in ("train", "test")), seed=seed)


def frequent(
    train: list[tuple[Any, str]], test: list[tuple[Any, str]], *, seed: int, least: int = 20
) -> Task:
    """Leave out the rare classes."""
    counts = Counter(label for label, _ in train)
    return given_split(
        *([pair for pair in pairs if counts[pair[0]] >= least] for pairs in (train, test)),
        seed=seed,
    )


def all_sugars(key: str, seed: int) -> Task:
    return cross_validated([*sugars(key, "train"), *sugars(key, "test")], seed)


def web_logs(seed: int) -> Task:
    """Sessions of the first week, then of the second."""
    return given_split(*(table(f"cslogs/cslog{week}.tsv.xz", 0, 1) for week in (1, 2)), seed=seed)


def html(seed: int) -> Task:
    """Fragments of HTML pages, by the generator of the page."""
    files = (f"html-docs/fragment.{part}.tsv.xz" for part in ("train", "test"))
    return given_split(*(table(path, 1, 2) for path in files), seed=seed)


def boundaries(seed: int) -> Task:
    """Semantic roles: whether a node is an argument, from the first 20,000 examples."""
    sets = (
        islice(srl_boundary(shared_data() / f"srl-ewt/{part}.jsonl.xz"), n)
        for part, n in (("train", 20_000), ("test", 8_000))
    )
    return given_split(*sets, seed=seed)


def clones(seed: int) -> Task:
    """Groups of similar Java methods with at least nine distinct trees, from a third of them."""
    distinct = list(dict.fromkeys(clone_groups(shared_data())))
    counts = Counter(label for label, _ in distinct)
    return from_few((pair for pair in distinct if counts[pair[0]] >= 9), seed)


def verbs(seed: int) -> Task:
    """Verbs of the names of functions of Python's standard library."""
    found = load_stdlib_functions()
    return cross_validated(zip(found.target, map(str, found.data), strict=True), seed)


def entailments(seed: int) -> Task:
    """Pairs of RTE 1, 2 and 3, each as one tree with the text and the hypothesis below its root.

    All pairs are trained on. So a seed changes their order only.
    """

    def part(name: str) -> Labelled:
        for number in (1, 2, 3):
            for pair in records(f"rte/rte{number}.{name}.jsonl.xz"):
                tree = f"(pair {pair['text_tree']} {pair['hypothesis_tree']})"
                yield pair["entails"], tree

    return given_split(part("dev"), part("test"), seed=seed)


TASKS: dict[str, Callable[[int], Task]] = {
    "questions": questions,
    "glycans: kingdom": kingdoms,
    "glycans: link": partial(all_sugars, "link"),
    "glycans: immunogenic": partial(all_sugars, "immunogenic"),
    "INEX 2005": partial(documents, 2005),
    "INEX 2006": partial(documents, 2006),
    "web logs": web_logs,
    "HTML fragments": html,
    "SRL boundaries": boundaries,
    "clone groups": clones,
    "verbs of functions": verbs,
    "RTE": entailments,
}
