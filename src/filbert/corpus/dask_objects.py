"""The parts of a corpus that Dask computes: bags, dataframes and delayed objects.

Dask is not imported here: whoever has an object of Dask has imported it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from filbert.corpus.lines import labelled_pairs, lines_reader
from filbert.corpus.memory import rows_of
from filbert.corpus.pieces import Rows
from filbert.corpus.runners import current_runner
from filbert.corpus.tables import frame_reader
from filbert.corpus.tasks import Work
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.given import described
from filbert.skipped import reported_by_caller

_SAMPLE = 64  # items that decide about the form of all


@dataclass(frozen=True)
class LaterPiece:
    """A part that Dask computes.

    `read` turns what Dask gives into examples: ``read(content, name, n_jobs)``.
    """

    name: str
    token: str
    later: Any
    read: Callable[[Any, str, int | None], Any]
    n_jobs: int | None = None
    skips: bool = False

    def load(self, content: Any = None, n_jobs: int | None = None) -> Rows:
        """Return the examples of a partition."""
        with reported_by_caller():  # by the corpus, once
            rows: Rows = self.read(content, self.name, self.n_jobs if n_jobs is None else n_jobs)
        return rows


def is_dask(source: Any) -> bool:
    """Return whether an object is one of Dask, by the module of its type."""
    package = type(source).__module__.partition(".")[0]
    return package in ("dask", "dask_expr", "distributed")


def pieces_of_dask(source: Any, reading: dict[str, Any], n_jobs: int | None) -> list[LaterPiece]:
    """Return a part for each partition of a bag or a dataframe, or one for a delayed object."""
    if _is_delayed(source):
        return [delayed_piece(source, "part 0")]
    if hasattr(source, "to_delayed") and hasattr(source, "columns"):
        return _partitions(source, "dataframe", frame_reader(source, reading), n_jobs)
    if hasattr(source, "to_delayed") and hasattr(source, "take"):
        return _partitions(source, "bag", _bag_reader(source, reading), n_jobs)
    raise _wrong_type(source)


def delayed_piece(later: Any, name: str) -> LaterPiece:
    """Return a part that a delayed object computes: a Forest, Examples or (X, y)."""
    if not _is_delayed(later):
        raise _wrong_type(later)
    return LaterPiece(name, _token(later), later, _as_given)


def _as_given(content: Any, name: str, n_jobs: int | None) -> Rows:
    return rows_of(content, name)


def _partitions(
    source: Any, kind: str, read: Callable[..., Any], n_jobs: int | None
) -> list[LaterPiece]:
    skips = getattr(read, "skips", False)
    delayed = source.to_delayed()
    return [
        LaterPiece(f"partition {i} of the {kind}", _token(one, read), one, read, n_jobs, skips)
        for i, one in enumerate(delayed)
    ]


def _bag_reader(bag: Any, reading: dict[str, Any]) -> Any:
    """Return how partitions are read, which the first items decide."""
    items = _first_items(bag)
    if isinstance(items[0], str | bytes):
        return lines_reader(items, reading)
    if isinstance(items[0], tuple | list) and len(items[0]) == 2:
        return labelled_pairs(items[0], reading)
    raise InputTypeError(
        f"a bag must hold lines or (label, tree) pairs, but its first item is {described(items[0])}"
    )


def _first_items(bag: Any) -> list[Any]:
    """Return some items of the first partition that has any."""
    for piece in _partitions(bag, "bag", _some_items, None):
        items = next(current_runner().map(Work("looking", _same), [piece], [()]))
        if items:
            return list(items)
    raise InvalidParameterError("the bag is empty: there are no examples")


def _some_items(content: Any, name: str, n_jobs: int | None) -> Any:
    return list(islice(content, _SAMPLE))


def _same(items: Any) -> Any:
    return items


def _is_delayed(one: Any) -> bool:
    return type(one).__module__ == "dask.delayed"


def _token(later: Any, read: Any = None) -> str:
    text = f"{later.key!r} {read!r}"
    return f"dask-{sha256(text.encode()).hexdigest()}"


def _wrong_type(source: Any) -> InputTypeError:
    hint = ""
    if type(source).__module__.startswith("distributed"):
        hint = ": wrap futures, as in dask.delayed(future)"
    return InputTypeError(
        "of Dask, a corpus takes bags, dataframes and delayed objects, not "
        f"{described(source)}{hint}"
    )
