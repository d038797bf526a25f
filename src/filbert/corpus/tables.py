"""Partitions of a dataframe as parts of a corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from filbert.corpus.pieces import Rows
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.examples import Examples, only_forest
from filbert.read.numbers import LabelKind, is_number, to_target
from filbert.read.table_columns import LABEL_NAMES, TREE_NAMES

_OPTIONS = ("label", "tree", "features", "labels")
_DEFAULTS = {"header": "auto", "bare_words": False, "on_error": "raise"}


@dataclass(frozen=True)
class FrameReading:
    """The columns of a dataframe, and the kind of its labels."""

    trees: Any
    label: str | None
    features: Any
    kind: LabelKind

    def __call__(self, content: Any, name: str, n_jobs: int | None) -> Rows:
        """Return the examples of a partition, a DataFrame of pandas."""
        try:
            X = only_forest(Examples.from_frame(content, trees=self.trees, features=self.features))
        except (InputTypeError, InvalidParameterError) as error:
            raise type(error)(f"{name}: {error}") from None
        return Rows(X, None if self.label is None else self._labels(content, name))

    def _labels(self, frame: Any, name: str) -> NDArray[Any]:
        column = frame[self.label]
        if column.isna().any():
            raise InvalidParameterError(
                f"{name}: column {self.label!r} has missing labels: fill them in or drop their rows"
            )
        labels = column.tolist()
        if self.kind == "numbers" and not all(map(is_number, labels)):
            raise InvalidParameterError(
                f"{name}: column {self.label!r} has labels that are not numbers: pass labels='text'"
            )
        return to_target(labels, self.kind)


def frame_reader(frame: Any, reading: dict[str, Any]) -> FrameReading:
    """Return how a dataframe is read, from the names of its columns."""
    for name, value in reading.items():
        if name not in _OPTIONS and value != _DEFAULTS.get(name):
            raise InvalidParameterError(f"{name}= does not apply to a dataframe")
    names = list(frame.columns)
    trees, label, features = reading["tree"], reading["label"], reading["features"]
    trees = _known(names, TREE_NAMES, "tree") if trees is None else trees
    if label is None:
        label = _known(names, LABEL_NAMES, "label")
    listed = [*_listed(trees), *_listed(features), *([] if label is False else [label])]
    for column in listed:
        if column not in names:
            raise InvalidParameterError(
                f"the dataframe has no column {column!r}; there are "
                f"{', '.join(map(repr, names[:12]))}"
            )
    given = () if features is None else features
    kind: LabelKind = "given" if reading["labels"] == "auto" else reading["labels"]
    return FrameReading(trees, None if label is False else label, given, kind)


def _known(names: Sequence[Any], known: Sequence[str], what: str) -> Any:
    found = [name for name in names if name in known]
    if len(found) != 1:
        way_out = ", or label=False" if what == "label" else ""
        raise InvalidParameterError(
            f"the column of the {what} is not certain: pass {what}={way_out}; the columns are "
            f"{', '.join(map(repr, names[:12]))}"
        )
    return found[0]


def _listed(columns: Any) -> list[Any]:
    if columns is None:
        return []
    if isinstance(columns, dict):
        return [name for own in columns.values() for name in _listed(own)]
    return [columns] if isinstance(columns, str) else list(columns)
