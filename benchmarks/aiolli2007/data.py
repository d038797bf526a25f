"""Boundary detection on `srl-ewt` with the standard features, as SVM-light-TK files."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.measure import shared_data
from filbert.datasets import OneHotColumns, StandardFeatures, srl_boundary

N_TRAIN = 1_000_000


class Data(NamedTuple):
    """Files of examples; features that training data do not have are left out of test data."""

    train: Path
    test: Path
    n_features: int


@contextmanager
def written(n_train: int, n_test: int | None = None) -> Iterator[Data]:
    """Write the first n examples, for as long as they are needed."""
    columns = OneHotColumns(StandardFeatures._fields)
    with TemporaryDirectory() as name:
        folder = Path(name)
        train = _write("train", n_train, columns, folder)
        columns.freeze()
        test = _write("test", n_test, columns, folder)
        yield Data(train, test, len(columns))


def _write(part: str, n: int | None, columns: OneHotColumns, folder: Path) -> Path:
    path = folder / f"{part}.dat"
    sentences = shared_data() / f"srl-ewt/{part}.jsonl.xz"
    with path.open("w", encoding="utf-8") as out:
        for label, tree, features in islice(srl_boundary(sentences, features=True), n):
            numbers = " ".join([f"{column + 1}:1" for column in columns.encode(features)])
            out.write(f"{label} |BT| {tree} |ET| {numbers}\n")
    return path
