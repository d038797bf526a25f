"""Questions and entailment pairs."""

import json
import lzma
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import shared_data
from filbert import Forest


class Questions(NamedTuple):
    """The constituency trees of `qc`, with their six classes."""

    train: Forest
    y_train: list[str]
    test: Forest
    y_test: list[str]


class Pairs(NamedTuple):
    """Texts and hypotheses, their lexical similarity, and whether one entails the other."""

    texts: Forest
    hypotheses: Forest
    lex: NDArray[np.float64]
    entails: NDArray[np.bool_]


def _records(path: str) -> list[dict[str, Any]]:
    with lzma.open(shared_data() / path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def questions() -> Questions:
    train, test = (_records(f"qc/{part}.jsonl.xz") for part in ("train", "test"))
    trees = Forest([record["trees"]["const"] for record in train + test])
    return Questions(
        trees[: len(train)],
        [record["label"] for record in train],
        trees[len(train) :],
        [record["label"] for record in test],
    )


def pairs(number: int, part: str) -> Pairs:
    records = _records(f"rte/rte{number}.{part}.jsonl.xz")
    return Pairs(
        Forest([record["text_tree"] for record in records]),
        Forest([record["hypothesis_tree"] for record in records]),
        np.array([record["lex"] for record in records]),
        np.array([record["entails"] for record in records]),
    )
