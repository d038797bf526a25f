"""Write trees as documents of any format that can be written."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from filbert.errors import InvalidParameterError
from filbert.examples import Examples
from filbert.forest import Forest, as_forest
from filbert.read.catalogue import TREE_FORMATS, TreeFormat, known_format
from filbert.read.detection import format_by_name
from filbert.read.output import open_output
from filbert.tree import Tree


def write_trees(
    trees: Forest | Examples | Iterable[Any],
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    **options: Any,
) -> None:
    r"""Write trees to a file, or one file per tree to a folder.

    Parameters
    ----------
    trees : Forest, Examples with one forest, or sequence of trees
        The trees to write.
    path : path or "-"
        ``"-"`` is standard output. A file whose name ends in ``.gz``, ``.xz``, ``.bz2`` or ``.zst``
        is compressed. The formats xml and json have one tree per file. If there are several trees,
        `path` must be an existing folder: the files are called ``000000.xml``, ``000001.xml``, ...
    format : str, optional
        By default, it is detected from the extension.
    **options
        The options of the format.

    Examples
    --------
    >>> write_trees(["(S (NP a) (VP b))", "(a \\( \\))"], "-", format="brackets")
    (S (NP a) (VP b))
    (a \( \))
    """
    forest = _forest_of(trees)
    kind = _format_of(path, format)
    texts = _texts(forest, kind, kind.options(options))
    if not os.path.isdir(path):
        if kind.one_per_file and len(forest) != 1:
            raise InvalidParameterError(
                f"a file of the format {kind.name} has one tree, got {len(forest):,}: make a "
                "folder and pass its path, to write one file per tree"
            )
        with open_output(path) as stream:
            for text in texts:
                stream.write(text.encode() + b"\n")
    elif kind.one_per_file:
        for number, text in enumerate(texts):
            with open_output(os.path.join(path, f"{number:06}{kind.suffixes[0]}")) as stream:
                stream.write(text.encode() + b"\n")
    else:
        raise InvalidParameterError(f"{os.fspath(path)!r} is a folder: pass the path of a file")


def _forest_of(trees: Any) -> Forest:
    if not isinstance(trees, Examples):
        return as_forest(trees)
    forests = {name: part for name, part in trees.parts.items() if isinstance(part, Forest)}
    if len(forests) != 1:
        raise InvalidParameterError(
            f"write_trees writes one forest, but the examples have {len(forests)}: pass one of "
            f"their parts, such as X[{next(iter(forests), 'tree')!r}], or use write_examples"
        )
    return next(iter(forests.values()))


def _format_of(path: str | os.PathLike[str], format: str | None) -> TreeFormat:
    kind = known_format(format) if format is not None else format_by_name(path)
    if kind is None:
        raise InvalidParameterError(
            f"the name {os.fspath(path)!r} does not show the format: pass format=..."
        )
    if not kind.written:
        written = [one.name for one in TREE_FORMATS.values() if one.written]
        raise InvalidParameterError(
            f"trees cannot be written as {kind.name}: choose one of {', '.join(written)}"
        )
    return kind


def _texts(forest: Forest, kind: TreeFormat, options: Any) -> Iterator[str]:
    for number, tree in enumerate(forest):
        if kind.native:
            yield _brackets(tree)
            continue
        try:
            yield kind.write(*tree.to_parents(), options)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"sample {number}: {error}") from None


def _brackets(tree: Tree) -> str:
    text = str(tree)
    return text if text.startswith("(") else f"({text})"
