"""Examples of several files as one data set."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.read.formats import Format, format_of_name
from filbert.read.sources import NamedInput, expand, is_single


class FileExamples(NamedTuple):
    """The examples of one file."""

    name: str
    X: Forest | Examples
    y: NDArray[Any] | None


def is_several(source: Any) -> bool:
    """Return whether a source stands for several files: a list of paths, a pattern or a folder."""
    if isinstance(source, list | tuple):
        for one in source:
            if isinstance(one, str) and ("\t" in one or "|BT" in one or one.startswith("{")):
                raise InputTypeError(
                    f"{one[:40]!r} looks like a line, not like a path: pass lines as bytes"
                )
        return bool(source) and not any(isinstance(one, bytes) for one in source)
    return isinstance(source, str | os.PathLike) and not is_single(source)


def labelled_files(source: Any, format: Format | None) -> list[NamedInput]:
    """Return the files of a source. Of a folder, only those of the format, or of a known one."""
    inputs = [one for one in expand(source) if not one.folder or _is_wanted(one, format)]
    if not inputs:
        wanted = "labelled trees" if format is None else format
        shown = os.fspath(source) if isinstance(source, str | os.PathLike) else "the list"
        raise InvalidParameterError(
            f"{shown} has no files of {wanted}: pass their paths or format=; if its folders "
            "are classes, pass label='folder'"
        )
    return inputs


def together(files: Sequence[FileExamples]) -> tuple[Any, NDArray[Any] | None]:
    """Return the examples of all files, with their names in the column ``file``."""
    examples = [one.X if isinstance(one.X, Examples) else Examples(tree=one.X) for one in files]
    parts, names = {}, {}
    for name in _shared_parts(files, examples):
        parts[name], names[name] = _joined(name, files, examples)
    columns = {
        name: [text for X in examples for text in X.columns.get(name, [""] * len(X))]
        for name in dict.fromkeys(name for X in examples for name in X.columns)
    }
    own = "file" if "file" not in columns and "file" not in parts else "file_name"
    columns[own] = [one.name for one, X in zip(files, examples, strict=True) for _ in range(len(X))]
    X = Examples._of(parts, columns, {name: n for name, n in names.items() if n is not None})
    X.skipped = tuple(_skipped(files))
    return X, _labels(files)


def _skipped(files: Sequence[FileExamples]) -> Iterator[ParseError]:
    for one in files:
        yield from one.X.skipped


def _shared_parts(files: Sequence[FileExamples], examples: list[Examples]) -> list[str]:
    """Return the names of all parts. A file without features has zeros; trees must be the same."""
    forests = [_forests(X) for X in examples]
    for one, own in zip(files, forests, strict=True):
        if own != forests[0]:
            raise InvalidParameterError(
                f"{one.name} has the trees {', '.join(sorted(own))}, but {files[0].name} has "
                f"{', '.join(sorted(forests[0]))}: choose with tree="
            )
    return list(dict.fromkeys(name for X in examples for name in X.parts))


def _forests(X: Examples) -> set[str]:
    return {name for name, part in X.parts.items() if isinstance(part, Forest)}


def _joined(
    name: str, files: Sequence[FileExamples], examples: list[Examples]
) -> tuple[Any, Sequence[str] | None]:
    """Return a part of all files, and the names of its features."""
    if isinstance(examples[0].parts.get(name), Forest):
        return Forest.concat(X[name] for X in examples), None
    owners = [X for X in examples if name in X.parts]
    named = [X.feature_names.get(name) for X in owners]
    if all(one is None for one in named):
        width = max(X[name].shape[1] for X in owners)
        return scipy.sparse.vstack([_widened(X, name, width) for X in examples], format="csr"), None
    if any(one is None for one in named):
        raise InvalidParameterError(
            f"the features of {name!r} have names in some files, and numbers in others: "
            f"{', '.join(one.name for one in files)}"
        )
    names = sorted({feature for one in named if one is not None for feature in one})
    number = {feature: i for i, feature in enumerate(names)}
    rows = [_renumbered(X, name, number) for X in examples]
    return scipy.sparse.vstack(rows, format="csr"), names


def _widened(X: Examples, name: str, width: int) -> "scipy.sparse.csr_array":
    if name not in X.parts:
        return scipy.sparse.csr_array((len(X), width))
    rows = scipy.sparse.csr_array(X[name])
    return scipy.sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(X), width))


def _renumbered(X: Examples, name: str, number: dict[str, int]) -> "scipy.sparse.csr_array":
    if name not in X.parts:
        return scipy.sparse.csr_array((len(X), len(number)))
    new = np.array([number[feature] for feature in X.feature_names[name]], dtype=np.int32)
    rows = scipy.sparse.csr_array(X[name])
    moved = scipy.sparse.csr_array(
        (rows.data, new[rows.indices], rows.indptr), shape=(len(X), len(number))
    )
    moved.sort_indices()
    return moved


def _labels(files: Sequence[FileExamples]) -> NDArray[Any] | None:
    labels = [one.y for one in files if one.y is not None]
    if not labels:
        return None
    if len({y.dtype.kind in "US" for y in labels}) > 1:
        raise InvalidParameterError(
            "the labels of some files are text, those of others are numbers: pass labels='text' "
            "or labels='numbers'"
        )
    return np.concatenate(labels)


def _is_wanted(one: NamedInput, format: Format | None) -> bool:
    """Return whether the name of a file shows the format; SVM-light-TK has no extension."""
    found = format_of_name(one.name)
    if format is None:
        return found is not None
    return found == format or (found is None and format == "svmlight-tk")
