"""The data of the sections, as files that are read fast: label<TAB>tree."""

import lzma
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from benchmarks.measure import shared_data
from filbert.datasets import srl_boundary

N_SRL = 100_000

# By the names of the paper's data: the names of ours.
NAMES = {
    "SRL": ["SRL"],
    "SRL, unlexicalised": ["SRL, unlexicalised"],
    "INEX 2005": ["INEX 2005, class 8", "INEX 2005, class 3"],
}


def write_data(name: str, folder: Path, n: int = N_SRL) -> Path:
    """Write the first n examples; of INEX all for training."""
    data = shared_data()
    if name == "SRL":
        examples = srl_boundary(data / "srl-ewt/train.jsonl.xz")
    elif name == "SRL, unlexicalised":
        examples = srl_boundary(data / "srl-onto-unlex/wsj.train.jsonl.xz", leaves="tags")
    else:
        label = name.rpartition(" ")[2]
        return _write(_inex(data, label), folder / f"inex-{label}.tsv")
    return _write(islice(examples, n), folder / f"{name.replace(', ', '-')}.tsv")


def _inex(data: Path, positive: str) -> Iterable[tuple[int, str]]:
    path = data / "inex/inex2005.train.tsv.xz"
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            label, tree = line.rstrip("\n").split("\t")
            yield (1 if label == positive else -1), tree


def _write(examples: Iterable[tuple[int | str, str]], path: Path) -> Path:
    with path.open("w", encoding="utf-8") as out:
        out.writelines(f"{label}\t{tree}\n" for label, tree in examples)
    return path
