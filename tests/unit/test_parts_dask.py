"""A corpus in parts of Dask objects, computed in this process."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import filbert
from filbert import Forest, TreeSVC
from filbert.errors import CheckpointError, InputTypeError, InvalidParameterError, ParseError
from filbert.kernels import SubsetTree

dask = pytest.importorskip("dask", reason="dask is not installed")
bag = pytest.importorskip("dask.bag", reason="dask.bag is not installed")
dataframe = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")

TREES = [f"(S (A a{i}) b)" for i in range(20)]
LABELS = ["yes" if i % 3 else "no" for i in range(20)]
LINES = [f"{label}\t{tree}\n" for label, tree in zip(LABELS, TREES, strict=True)]
FRAME = pd.DataFrame({"tree": TREES, "label": LABELS, "length": np.arange(20.0)})


def bag_of(items: Any) -> Any:
    return bag.from_sequence(items, npartitions=3)


def frame_of(frame: Any) -> Any:
    return dataframe.from_pandas(frame, npartitions=3)


def trees_of(corpus: Any) -> Forest:
    return Forest.concat(corpus.map(lambda X: X))


@pytest.mark.parametrize(
    "source",
    [
        bag_of(LINES),
        bag_of([line.encode() for line in LINES]),
        bag_of(list(zip(LABELS, TREES, strict=True))),
        frame_of(FRAME),
        [dask.delayed((Forest(TREES[:5]), LABELS[:5])), dask.delayed((TREES[5:], LABELS[5:]))],
        [dask.delayed((Forest(TREES[:5]), LABELS[:5])), (TREES[5:], LABELS[5:])],
        dask.delayed((Forest(TREES), LABELS)),
    ],
    ids=["lines", "bytes", "pairs", "frame", "delayed", "mixed", "one delayed"],
)
def test_labelled_trees(source: Any) -> None:
    corpus = filbert.parts(source)
    assert corpus.labels().tolist() == LABELS
    assert trees_of(corpus) == Forest(TREES)
    assert len({piece.token for piece in corpus.pieces}) == corpus.n_parts


@pytest.mark.parametrize(
    "source",
    [
        bag_of(LINES).filter(lambda line: line in LINES[:3]),
        bag_of(list(zip(LABELS, TREES, strict=True))).filter(lambda pair: pair[1] in TREES[:3]),
        frame_of(FRAME).query("length < 3"),
        [dask.delayed(([], [])), dask.delayed((TREES[:3], LABELS[:3])), dask.delayed(([], []))],
    ],
    ids=["lines", "pairs", "frame", "delayed"],
)
def test_partitions_may_be_empty(source: Any) -> None:
    corpus = filbert.parts(source)
    assert sorted(corpus.sizes.tolist()) == [0, 0, 3]
    assert corpus.labels().tolist() == LABELS[:3]
    assert trees_of(corpus) == Forest(TREES[:3])


def calls(trees: list[str]) -> Any:
    """Return a corpus of delayed calls, whose keys are random."""

    def part(begin: int) -> Any:
        return trees[begin : begin + 5], LABELS[begin : begin + 5]

    corpus = filbert.parts([dask.delayed(part)(begin) for begin in range(0, 20, 5)])
    return corpus[np.arange(19)].then(lambda X: X, "as it is")


def test_checkpoints_know_the_parts_of_delayed_calls(tmp_path: Path) -> None:
    """They have the same examples in each process, but not the same keys."""
    assert calls(TREES).pieces[0].token != calls(TREES).pieces[0].token
    clf = TreeSVC(SubsetTree(), C=1.0, loss="hinge", random_state=0)
    first = clf.fit(calls(TREES), checkpoint=tmp_path / "kept").dual_coef_.tobytes()
    times = {file: file.stat().st_mtime_ns for file in tmp_path.glob("kept/*.result")}
    assert len(times) > 4
    assert clf.fit(calls(TREES), checkpoint=tmp_path / "kept").dual_coef_.tobytes() == first
    assert {file: file.stat().st_mtime_ns for file in times} == times
    with pytest.raises(CheckpointError, match="another value of parts"):
        clf.fit(calls([*TREES[:7], "(S c)", *TREES[8:]]), checkpoint=tmp_path / "kept")


def test_trees_without_labels() -> None:
    for source in (bag_of(TREES), frame_of(FRAME), [dask.delayed(Forest(TREES))]):
        options = {} if isinstance(source, list) else {"label": False}
        assert trees_of(filbert.parts(source, **options)) == Forest(TREES)


def test_frames_have_features_and_other_names() -> None:
    frame = FRAME.rename(columns={"tree": "parsed", "label": "kind"})
    corpus = filbert.parts(frame_of(frame), tree="parsed", label="kind", features=["length"])
    rows = np.concatenate([X["features"][:, 0] for X in corpus.map(lambda X: X)])
    assert rows.tolist() == frame["length"].tolist()
    numbers = filbert.parts(frame_of(frame), tree="parsed", label="length")
    assert numbers.labels().tolist() == frame["length"].tolist()
    texts = filbert.parts(frame_of(frame), tree="parsed", label="length", labels="text")
    assert texts.labels()[3] == "3.0"


def test_other_line_formats_and_columns() -> None:
    lines = [f'{{"label": {i % 2}, "tree": "{tree}"}}' for i, tree in enumerate(TREES)]
    corpus = filbert.parts(bag_of(["", *lines]))
    assert corpus.labels().tolist() == [i % 2 for i in range(20)]
    lines = [f"q{i}\t{tree}\t{i % 2}" for i, tree in enumerate(TREES)]
    corpus = filbert.parts(bag_of(lines), label=2, tree=1, labels="numbers")
    assert corpus.labels().tolist() == [i % 2 for i in range(20)]


@pytest.mark.parametrize(
    ("source", "options", "error", "text"),
    [
        (lambda: bag_of(["label\ttree", *LINES]), {}, InvalidParameterError, "names of columns"),
        (lambda: bag_of(list(zip(TREES, LABELS, strict=True))), {}, InvalidParameterError, "first"),
        (lambda: bag_of([1, 2]), {}, InputTypeError, "first item is int"),
        (lambda: bag_of([*LINES, "bad"]), {}, ParseError, "partition 2 of the bag, line 7"),
        (lambda: bag_of([(1, "(a)"), ("x", "(b)")]), {}, ParseError, "partition 1.*labels='text'"),
        (lambda: bag_of([(1, "(a)"), 7, 7]), {}, ParseError, "not a pair"),
        (lambda: bag_of([(None, "(a)")]), {}, ParseError, "has the label None"),
        (lambda: bag_of(["label,tree"]), {}, InvalidParameterError, "lines of csv"),
        (lambda: bag_of(LINES).filter(lambda _: False), {}, InvalidParameterError, "empty"),
        (lambda: bag_of(LINES), {"n_parts": 2}, InvalidParameterError, "repartition"),
        (lambda: frame_of(FRAME), {"tree": "x"}, InvalidParameterError, "no column 'x'"),
        (lambda: frame_of(FRAME[["tree"]]), {}, InvalidParameterError, "label=False"),
        (lambda: frame_of(FRAME), {"format": "tsv"}, InvalidParameterError, "format="),
        (
            lambda: frame_of(FRAME.assign(label=[*LABELS[:-1], None])),
            {}, InvalidParameterError, "partition 2.*missing labels",
        ),
        (
            lambda: frame_of(FRAME.assign(tree=[*TREES[:-1], "(a"])),
            {}, ParseError, "partition 2|column 'tree'",
        ),
        (lambda: [dask.delayed(7)], {}, InputTypeError, "part 0 must be a Forest"),
        (lambda: FRAME, {}, InputTypeError, "in one piece"),
    ],
)  # fmt: skip
def test_others_are_refused(source: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        filbert.parts(source(), **options).labels()
