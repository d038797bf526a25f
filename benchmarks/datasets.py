"""The data sets beside the repository, by name: for each the texts of its trees, in brackets.

Training and test parts come one after the other where there are both. Tests use this too. And the
examples of `srl-ewt` as the TSV files that learning starts from.
"""

import json
import lzma
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from filbert.datasets import srl_boundary

Texts = Iterator[str]


def _column(paths: list[str], number: int, data: Path) -> Texts:
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
        _column, ["qc/constituency_train.tsv.xz", "qc/constituency_test.tsv.xz"], 1
    ),
    "qc reltextrank": partial(_column, ["qc/reltextrank_sv.tsv.xz"], 3),
    "clones-bcb": partial(_column, ["clones-bcb/methods.tsv.xz"], 2),
    "clones-bcb with rest": partial(
        _column, ["clones-bcb/methods.tsv.xz", "clones-bcb/rest.tsv.xz"], 2
    ),
    "inex 2005": partial(_column, ["inex/inex2005.train.tsv.xz", "inex/inex2005.test.tsv.xz"], 1),
    "inex 2006": partial(_column, ["inex/inex2006.train.tsv.xz", "inex/inex2006.test.tsv.xz"], 1),
    "cslogs 1": partial(_column, ["cslogs/cslog1.tsv.xz"], 1),
    "cslogs 2": partial(_column, ["cslogs/cslog2.tsv.xz"], 1),
    "cslogs 3": partial(_column, ["cslogs/cslog3.tsv.xz"], 1),
    "cslogs 12": partial(_column, ["cslogs/cslog12.tsv.xz"], 1),
    "glycan": partial(_field, ["glycan/train.jsonl.xz", "glycan/test.jsonl.xz"], "tree"),
    "rte texts": partial(_field, _RTE, "text_tree"),
    "rte hypotheses": partial(_field, _RTE, "hypothesis_tree"),
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
