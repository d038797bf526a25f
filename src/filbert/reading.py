"""Read labelled examples from files, pipes and lines, all at once."""

from dataclasses import dataclass, fields
from typing import Any, cast

import scipy

from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from filbert.examples import Examples, Part
from filbert.forest import Forest
from filbert.given import described, is_table
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.files import Source, open_input
from filbert.read.formats import Columns, Empty, Header, LabelColumn, Labels, Layout
from filbert.read.gathered import Batch, Vocabulary
from filbert.read.numbers import to_target
from filbert.read.reader import (
    ExampleReader,
    OnError,
    check_on_error,
)
from filbert.read.sources import TreeSource
from filbert.reading_trees import read_folders
from filbert.several_files import FileExamples, is_several, labelled_files, together
from filbert.skipped import warn_of_skipped
from filbert.threads import n_threads

Labelled = tuple[Any, Any]


def read_examples(
    source: Source | TreeSource,
    *,
    format: Any = None,
    label: LabelColumn = None,
    tree: Columns = None,
    features: Columns = None,
    header: Header = "auto",
    bare_words: bool = False,
    labels: Labels = "auto",
    empty: Empty | None = None,
    tree_format: str | None = None,
    n_features: int | None = None,
    vocabulary: Vocabulary | None = None,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
    **options: Any,
) -> Labelled:
    r"""Read labelled trees from one or several files.

    Parameters
    ----------
    source : path, "-", open binary file, iterable of lines, pattern, folder or list of paths
        A file is opened once and read only forwards, so a path may be a named pipe. ``"-"`` is
        standard input. Data in the formats of gzip, xz, bzip2 and zstd are decompressed. Several
        files are one data set, and the column ``file`` has their names.
    format : {"svmlight-tk", "klp", "tsv", "csv", "jsonl", "parquet", "arrow"}, optional
        By default, it is detected from the extension or the first line. With ``label="folder"``,
        it is a format of :func:`filbert.read_trees`.
    label : str, int or False, optional
        The column of the label, by name or by number (from 0, or -1 for the last). JSON Lines: its
        key (default ``"label"``). KeLP: the number of the label if lines have several, or
        ``"all"`` for tuples. False: there are no labels, and y is None. ``"folder"``: the source
        has files of a tree format, such as XML or Python, in one folder per class, and the name of
        the folder is the label of its trees.
    tree : str, int or list of them, optional
        The column or columns of trees. JSON Lines: the key or keys, ``"trees.grct"`` for nested
        ones (default ``"tree"``, or all of ``"trees"``). KeLP: the name or names (default all).
    features : str, int or list of them, optional
        Tables: the columns of numbers, which form one matrix. JSON Lines: the key or keys of
        feature vectors (default ``"features"`` if it exists). KeLP: the name or names (default
        all). An empty list reads no features.
    header : {"auto"} or bool
        TSV and CSV: whether the first line has column names instead of an example. ``"auto"`` takes
        it as column names if it has no bracket.
    bare_words : bool
        Read a word without brackets, such as ``dog``, as a tree of one node. By default, such a
        word is an error, because a wrong column is more likely. ``(dog)`` is always a tree of one
        node. Between ``|BT|`` and ``|ET|`` in SVM-light-TK files, words are always trees.
    labels : {"auto", "text", "numbers"}
        ``"auto"``: labels are numbers in SVM-light-TK files, and in JSON Lines and typed tables if
        they are stored as numbers. Otherwise they are text, and ``007`` stays ``007``.
    empty : {"error", "placeholder"}, optional
        Whether an empty tree is an error, or becomes ``(∅)``, a tree of one node. By default, it is
        an error except in SVM-light-TK and KeLP files.
    tree_format : str, optional
        Tables and JSON Lines: the notation of the trees, such as ``"iupac"``, ``"newick"`` or
        ``"html"``: a format of :func:`filbert.read_trees`, with its options. Each text must have
        one tree. By default, trees are in brackets.
    n_features : int, optional
        The width of matrices of numbered features; by default the largest feature number.
    vocabulary : mapping, optional
        Names of features by the name of their matrix, such as ``X_train.feature_names``. Other
        features are left out. By default, named features get columns in alphabetical order.
    on_error : {"raise", "skip"}
        Whether a bad line raises :class:`~filbert.errors.ParseError`, or is skipped with a warning
        and listed in ``X.skipped``.
    n_jobs : int, optional
        Number of threads for TSV and SVM-light-TK files with one tree and one vector per line; all
        cores by default. Results do not depend on it.
    **options
        The options of `tree_format`, or of the format of the files: files of tree formats, such as
        XML, have no labels. If each class has a folder of such files, ``label="folder"`` takes the
        names of the folders as labels, and `source`, `format` and `options` are those of
        :func:`filbert.read_trees`.

    Returns
    -------
    X : Forest or Examples
        A forest if each example is one tree and nothing else. Otherwise Examples with the parts
        ``tree`` or ``tree_1``, ``tree_2``, ... (JSON and KeLP: the names in the file), sparse
        matrices such as ``features``, and the other columns in ``X.columns``.
    y : ndarray
        The labels; None with ``label=False``.

    Examples
    --------
    >>> X, y = read_examples([b"id\tlabel\ttree", b"q1\tyes\t(a b)", b"q2\tno\t(a c)"])
    >>> X["tree"][1], X["id"].tolist(), y.tolist()
    (<Tree (a c)>, ['q1', 'q2'], ['yes', 'no'])
    """
    check_on_error(on_error)
    if is_table(source):
        raise InputTypeError(
            f"examples are read from files, not from a {described(source)}: to make examples of a "
            "table in memory, use Examples.from_frame(frame, trees=...)"
        )
    if label == "folder" and (format in TREE_FORMATS or is_several(source)):
        return read_folders(cast(TreeSource, source), format=format, on_error=on_error, **options)
    if options and tree_format is None:
        raise InvalidParameterError(
            f"read_examples has no parameter {next(iter(options))!r} for labelled files"
        )
    if format in TREE_FORMATS:
        raise InvalidParameterError(
            f"{format} files have no labels: pass label='folder' to take the names of their "
            "folders, or use read_trees"
        )
    layout = Layout(
        format, label, tree, features, header, bare_words, labels, empty, tree_format, options
    )
    return _read(source, layout, n_features, vocabulary, on_error, n_jobs)


def read_without_labels(source: Source, *, on_error: OnError, **options: Any) -> Any:
    """Read a file as :func:`read_examples` does, whatever its labels are, and return X."""
    places = {name: options.pop(name) for name in _PLACES if name in options}
    rest = {name: options.pop(name, None) for name in ("n_features", "vocabulary", "n_jobs")}
    layout = Layout(**places, tree_options=options, ignores_labels=True)
    return _read(source, layout, on_error=on_error, **rest)[0]


_PLACES = tuple(field.name for field in fields(Layout))


def _read(
    source: Source | TreeSource,
    layout: Layout,
    n_features: int | None,
    vocabulary: Vocabulary | None,
    on_error: OnError,
    n_jobs: int | None,
) -> Labelled:
    reading = _Reading(layout, n_features, vocabulary, on_error, n_threads(n_jobs))
    if is_several(source):
        files = labelled_files(source, layout.format)
        X, y = together([FileExamples(one.name, *reading.read(one.place)) for one in files])
    else:
        X, y = reading.read(cast(Source, source))
    warn_of_skipped(X.skipped, len(X), stacklevel=3)
    return X, y


@dataclass(frozen=True)
class _Reading:
    """The options of one call of ``read_examples``."""

    layout: Layout
    n_features: int | None
    vocabulary: Vocabulary | None
    on_error: OnError
    n_threads: int

    def read(self, source: Source) -> Labelled:
        """Read one file."""
        with open_input(source) as opened:
            reader = ExampleReader(
                opened, self.layout, self.on_error, self.n_threads, self.vocabulary
            )
            reading = reader.read_all()
        if reading.failure is not None:
            raise reading.failure
        batch = reading.batch
        X = examples_of(parts_of(batch, self.n_features, reader.name), batch, batch.columns)
        X.skipped = reading.skipped
        if not reader.has_labels:
            return X, None
        try:
            return X, to_target(batch.labels, reader.label_kind)[batch.label_of]
        except ParseError as error:
            raise error.located(source=reader.name) from None


def parts_of(batch: Batch, n_features: int | None, source: str) -> dict[str, Part]:
    """Return forests and sparse matrices by their names."""
    parts: dict[str, Part] = {
        name: Forest._of(batch.dag, roots) for name, roots in batch.roots.items()
    }
    for name, rows in batch.vectors.items():
        if rows.names is None and n_features is not None and rows.width > n_features:
            raise InvalidParameterError(
                f"{source} has feature {rows.width}, but n_features is {n_features}: increase it"
            )
        parts[name] = scipy.sparse.csr_array(
            (rows.values, rows.columns, rows.row_begin),
            shape=(len(batch), rows.width if rows.names is not None else n_features or rows.width),
        )
    return parts


def examples_of(
    parts: dict[str, Part], batch: Batch, columns: dict[str, list[str]]
) -> "Forest | Examples":
    """Return the trees, or Examples if there is anything beside them."""
    names = {name: rows.names for name, rows in batch.vectors.items() if rows.names is not None}
    if parts.keys() == {"tree"} and not columns:
        return parts["tree"]  # type: ignore[no-any-return]
    return Examples._of(parts, columns, names)
