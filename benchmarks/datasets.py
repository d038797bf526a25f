"""The data sets beside the repository, by name: for each the texts of its trees, in brackets.

Training and test parts come one after the other where there are both. Tests use this too. Those
that have classes also with their labels. And the examples of `srl-ewt` as the TSV files that
learning starts from.
"""

import json
import lzma
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from filbert.datasets import srl_boundary

Texts = Iterator[str]
Labelled = Iterator[tuple[str, str]]  # label, tree


def column(paths: list[str], number: int, data: Path) -> Texts:
    """One column of tab-separated files."""
    for path in paths:
        with lzma.open(data / path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                yield line.rstrip("\n").split("\t")[number]


def _field(paths: list[str], key: str, data: Path) -> Texts:
    """One entry of the objects in JSON Lines; ``trees.grct`` leads into an object within."""
    for path in paths:
        with lzma.open(data / path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                value = json.loads(line)
                for step in key.split("."):
                    value = value[step]
                yield value


def _boundary(part: str, data: Path) -> Texts:
    return (tree for _, tree in srl_boundary(data / f"srl-ewt/{part}.jsonl.xz"))


def _marked(path: str, data: Path) -> Texts:
    """What stands between the marks of SVM-Light-TK."""
    with lzma.open(data / path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.split("|BT|")[1].split("|ET|")[0]


_ONTO = [f"wsj.{part}" for part in ("train", "dev", "test", "rest")]
_ONTO += [f"other.{part}" for part in ("train", "dev", "test")]
_QUESTIONS = ["qc/train.jsonl.xz", "qc/test.jsonl.xz"]
_RTE = [f"rte/rte{n}.{part}.jsonl.xz" for n in (1, 2, 3) for part in ("dev", "test")]

DATASETS: dict[str, Callable[[Path], Texts]] = {
    "srl-ewt": partial(_boundary, "train"),
    "srl-ewt test": partial(_boundary, "test"),
    "srl-ewt sentences": partial(
        _field, [f"srl-ewt/{part}.jsonl.xz" for part in ("train", "dev", "test")], "tree"
    ),
    "srl-onto-unlex": partial(_field, [f"srl-onto-unlex/{p}.jsonl.xz" for p in _ONTO], "tree"),
    "srl-5000": partial(_marked, "srl-5000/dataset_5000.dat.xz"),
    "qc const": partial(_field, _QUESTIONS, "trees.const"),
    "qc grct": partial(_field, _QUESTIONS, "trees.grct"),
    "qc lct": partial(_field, _QUESTIONS, "trees.lct"),
    "qc loct": partial(_field, _QUESTIONS, "trees.loct"),
    "qc constituency": partial(
        column, ["qc/constituency_train.tsv.xz", "qc/constituency_test.tsv.xz"], 1
    ),
    "qc reltextrank": partial(column, ["qc/reltextrank_sv.tsv.xz"], 3),
    "clones-bcb": partial(column, ["clones-bcb/methods.tsv.xz"], 2),
    "clones-bcb with rest": partial(
        column, ["clones-bcb/methods.tsv.xz", "clones-bcb/rest.tsv.xz"], 2
    ),
    "inex 2005": partial(column, ["inex/inex2005.train.tsv.xz", "inex/inex2005.test.tsv.xz"], 1),
    "inex 2006": partial(column, ["inex/inex2006.train.tsv.xz", "inex/inex2006.test.tsv.xz"], 1),
    "cslogs 1": partial(column, ["cslogs/cslog1.tsv.xz"], 1),
    "cslogs 2": partial(column, ["cslogs/cslog2.tsv.xz"], 1),
    "cslogs 3": partial(column, ["cslogs/cslog3.tsv.xz"], 1),
    "cslogs 12": partial(column, ["cslogs/cslog12.tsv.xz"], 1),
    "glycan": partial(_field, ["glycan/train.jsonl.xz", "glycan/test.jsonl.xz"], "tree"),
    "rte texts": partial(_field, _RTE, "text_tree"),
    "rte hypotheses": partial(_field, _RTE, "hypothesis_tree"),
}


def _records(paths: list[str], data: Path) -> Iterator[dict[str, Any]]:
    for path in paths:
        with lzma.open(data / path, "rt", encoding="utf-8", newline="\n") as lines:
            yield from map(json.loads, lines)


def _classes(name: str, paths: list[str], number: int, data: Path) -> Labelled:
    """A column of classes beside the trees; "?" is none."""
    pairs = zip(column(paths, number, data), DATASETS[name](data), strict=True)
    return ((label, tree) for label, tree in pairs if label != "?")


def _question_or_not(paths: list[str], data: Path) -> Labelled:
    """Whether a sentence ends in a question mark."""
    for tree in _field(paths, "tree", data):
        last = tree.rstrip(")").rsplit(" ", 1)[-1].rsplit("(", 1)[-1]
        yield ("question" if last == "?" else "other"), tree


def _genre(paths: list[str], data: Path) -> Labelled:
    """Identifiers are genre/document#sentence."""
    return ((record["id"].split("/")[0], record["tree"]) for record in _records(paths, data))


def _finance_or_not(data: Path) -> Labelled:
    """The first sentences of the Wall Street Journal, and as many of other genres."""
    for kind in ("wsj", "other"):
        path = f"srl-onto-unlex/{kind}.train.jsonl.xz"
        yield from ((kind, tree) for tree in islice(_field([path], "tree", data), 10_000))


def _finance_or_not_all(data: Path) -> Labelled:
    """All sentences, of the Wall Street Journal or of other genres."""
    for name in _ONTO:
        trees = _field([f"srl-onto-unlex/{name}.jsonl.xz"], "tree", data)
        yield from ((name.partition(".")[0], tree) for tree in trees)


def _question_clause(data: Path) -> Labelled:
    """Whether a sentence of the Wall Street Journal has the clause of a question anywhere."""
    for tree in _field(["srl-onto-unlex/wsj.train.jsonl.xz"], "tree", data):
        is_question = "(SBARQ " in tree or "(SQ " in tree
        yield ("question" if is_question else "other"), tree


def _sugars(key: str, data: Path) -> Labelled:
    """Those with exactly one value."""
    for record in _records(["glycan/train.jsonl.xz", "glycan/test.jsonl.xz"], data):
        value = record[key]
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        if value is not None:
            yield str(value), record["tree"]


def _entailments(key: str, data: Path) -> Labelled:
    return ((str(record["entails"]), record[key]) for record in _records(_RTE, data))


def clone_groups(data: Path) -> Labelled:
    """All methods, by group of clones: components of the listed pairs."""
    group: dict[str, str] = {}

    def find(method: str) -> str:
        while group.setdefault(method, method) != method:
            group[method] = method = group[group[method]]
        return method

    path = ["clones-bcb/pairs.tsv.xz"]
    for a, b in zip(column(path, 1, data), column(path, 2, data), strict=True):
        group[find(a)] = find(b)
    methods = ["clones-bcb/methods.tsv.xz"]
    trees = column(methods, 2, data)
    return zip(map(find, column(methods, 0, data)), trees, strict=True)


def _largest_clone_groups(data: Path, n_groups: int = 10) -> Labelled:
    methods = list(clone_groups(data))
    largest = {name for name, _ in Counter(name for name, _ in methods).most_common(n_groups)}
    return ((name, tree) for name, tree in methods if name in largest)


def _marked_labels(data: Path) -> Labelled:
    path = "srl-5000/dataset_5000.dat.xz"
    with lzma.open(data / path, "rt", encoding="utf-8", newline="\n") as lines:
        labels = [line.split("\t", 1)[0] for line in lines]
    return zip(labels, _marked(path, data), strict=True)


def _questions(kind: str, data: Path) -> Labelled:
    return ((record["label"], record["trees"][kind]) for record in _records(_QUESTIONS, data))


_SENTENCES = ["srl-ewt/train.jsonl.xz"]
_CONSTITUENCY = ["qc/constituency_train.tsv.xz", "qc/constituency_test.tsv.xz"]

# Train and test parts together: what training takes is measured, not how well it does.
LABELLED: dict[str, Callable[[Path], Labelled]] = {
    "srl-ewt sentences: question or not": partial(_question_or_not, _SENTENCES),
    "srl-ewt sentences: genre": partial(_genre, _SENTENCES),
    "srl-onto-unlex sentences: wsj or not": _finance_or_not,
    "srl-onto-unlex sentences: question or not": _question_clause,
    "srl-onto-unlex, all sentences: wsj or not": _finance_or_not_all,
    "srl-5000": _marked_labels,
    "qc const": partial(_questions, "const"),
    "qc grct": partial(_questions, "grct"),
    "qc lct": partial(_questions, "lct"),
    "qc loct": partial(_questions, "loct"),
    "qc constituency": partial(_classes, "qc constituency", _CONSTITUENCY, 0),
    "qc reltextrank": partial(_classes, "qc reltextrank", ["qc/reltextrank_sv.tsv.xz"], 0),
    "clones-bcb: ten largest groups": _largest_clone_groups,
    "inex 2005": partial(
        _classes, "inex 2005", ["inex/inex2005.train.tsv.xz", "inex/inex2005.test.tsv.xz"], 0
    ),
    "inex 2006": partial(
        _classes, "inex 2006", ["inex/inex2006.train.tsv.xz", "inex/inex2006.test.tsv.xz"], 0
    ),
    "cslogs 1": partial(_classes, "cslogs 1", ["cslogs/cslog1.tsv.xz"], 0),
    "cslogs 2": partial(_classes, "cslogs 2", ["cslogs/cslog2.tsv.xz"], 0),
    "cslogs 3": partial(_classes, "cslogs 3", ["cslogs/cslog3.tsv.xz"], 0),
    "cslogs 12": partial(_classes, "cslogs 12", ["cslogs/cslog12.tsv.xz"], 0),
    "glycan: kingdom": partial(_sugars, "kingdom"),
    "glycan: link": partial(_sugars, "link"),
    "glycan: immunogenic": partial(_sugars, "immunogenic"),
    "rte texts": partial(_entailments, "text_tree"),
    "rte hypotheses": partial(_entailments, "hypothesis_tree"),
}


def write_boundary(data: Path, part: str, path: Path) -> Path:
    """Write the boundary examples of `srl-ewt` (rule VB) as label<TAB>tree."""
    with path.open("w", encoding="utf-8") as out:
        for label, tree in srl_boundary(data / f"srl-ewt/{part}.jsonl.xz"):
            out.write(f"{label}\t{tree}\n")
    return path


def first_lines(source: Path, n: int | None) -> Path:
    """Return a file of the first n lines, beside the source; None: the source itself."""
    if n is None:
        return source
    path = source.with_name(f"{source.stem}-{n}{source.suffix}")
    with source.open("rb") as lines, path.open("wb") as out:
        out.writelines(islice(lines, n))
    return path
