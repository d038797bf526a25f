"""Lists of lines and of (label, tree) pairs as parts of a corpus."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from filbert.corpus.form import Form
from filbert.corpus.pieces import Rows
from filbert.errors import InvalidParameterError, ParseError
from filbert.forest import Forest, as_forest
from filbert.given import is_tree_like
from filbert.read.files import Input, Lines
from filbert.read.formats import Layout, begins_with_header, known_format
from filbert.read.numbers import LabelKind, is_number, to_target
from filbert.read.ranges import LINE_FORMATS, lines_after
from filbert.reading import read_examples
from filbert.streaming import read_batches


@dataclass(frozen=True)
class LineReading:
    """How lines of a labelled format are read.

    `first` is the first line of all, which decides about the columns.
    """

    first: bytes
    options: dict[str, Any]
    form: Form

    @property
    def skips(self) -> bool:
        """Whether lines that cannot be read are skipped."""
        return bool(self.options["on_error"] == "skip")

    def __call__(self, content: Any, name: str, n_jobs: int | None) -> Rows:
        """Return the examples of some lines."""
        lines = lines_after(self.first, _encoded(content), name)
        X, y = read_examples(lines, **self.options, n_jobs=n_jobs)
        rows = Rows(self.form.fit(X, name), y)
        rows.X.skipped = X.skipped
        return rows


@dataclass(frozen=True)
class TreeLineReading:
    """How lines with one tree in brackets each are read."""

    bare_words: bool
    on_error: Any

    @property
    def skips(self) -> bool:
        """Whether lines that cannot be read are skipped."""
        return bool(self.on_error == "skip")

    def __call__(self, content: Any, name: str, n_jobs: int | None) -> Rows:
        """Return the trees of some lines."""
        lines = [line for line in _encoded(content) if line.strip()]
        return Rows(
            Forest.from_brackets(lines, bare_words=self.bare_words, on_error=self.on_error), None
        )


@dataclass(frozen=True)
class PairReading:
    """How (label, tree) pairs are read."""

    kind: LabelKind
    bare_words: bool

    def __call__(self, content: Any, name: str, n_jobs: int | None) -> Rows:
        """Return the examples of some pairs."""
        pairs = list(content)
        for sample, pair in enumerate(pairs):
            self._check(pair, sample, name)
        labels = to_target([_plain(label) for label, _ in pairs], self.kind)
        trees = [tree for _, tree in pairs]
        if self.bare_words:
            return Rows(Forest.from_brackets(trees, bare_words=True), labels)
        return Rows(as_forest(trees), labels)

    def _check(self, pair: Any, sample: int, name: str) -> None:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not is_tree_like(pair[1]):
            reason, hint = "is not a pair of a label and a tree", "map the bag to pairs"
            raise _bad_item(name, sample, reason, hint)
        label = _plain(pair[0])
        is_text = isinstance(label, str)
        if not is_text and not is_number(label):
            reason = f"has the label {label!r:.40}"
            raise _bad_item(name, sample, reason, "use a text or a number")
        if self.kind == "numbers" and not is_number(label):
            reason = f"has the label {label!r:.40}, but the first label is a number"
            raise _bad_item(name, sample, reason, "pass labels='text'")


def _bad_item(name: str, sample: int, reason: str, hint: str) -> ParseError:
    return ParseError(f"item {sample} {reason}", hint=hint, source=name, sample=sample)


def lines_reader(first: Sequence[str | bytes], reading: dict[str, Any]) -> Any:
    """Return how lines are read, which the first of them decide."""
    lines = list(_encoded(first))
    if reading["format"] == "brackets" or _is_bare(lines[0], reading):
        if reading["label"] not in (None, False):
            raise InvalidParameterError("lines of trees in brackets have no labels: label=False")
        return TreeLineReading(reading["bare_words"], reading["on_error"])
    source = Input(Lines(lines), "the bag")
    layout = Layout(format=reading["format"])
    kind = known_format(layout, source)
    if kind not in LINE_FORMATS:
        raise InvalidParameterError(
            f"lines of {kind} may be parts of a row: pass the paths of the files, or a "
            "dask.dataframe"
        )
    options = {**reading, "format": kind}
    if kind == "tsv":
        _refuse_header(source, options)
        options["header"] = False
    first_row = source.first_row()
    batch = next(iter(read_batches(iter(lines), len(lines), **options)), None)
    if batch is None or batch.X is None:
        raise InvalidParameterError("the first lines of the bag hold no examples")
    if batch.y is not None:
        options["labels"] = "text" if batch.y.dtype.kind in "UO" else "numbers"
    return LineReading(first_row, options, Form.of(batch.X))


def labelled_pairs(first: Sequence[Any], reading: dict[str, Any]) -> PairReading:
    """Return how pairs are read, which the first of them decides."""
    for name in ("format", "label", "tree", "features", "tree_format", "n_features", "vocabulary"):
        if reading[name] is not None:
            raise InvalidParameterError(f"{name}= does not apply to (label, tree) pairs")
    label, tree = first
    if isinstance(label, str) and label.lstrip().startswith("(") and "(" not in str(tree):
        raise InvalidParameterError(
            f"the first item of the bag is {label!r:.40}, {tree!r:.40}: put the label first"
        )
    kind: LabelKind = "text" if isinstance(label, str) else "numbers"
    if reading["labels"] != "auto":
        kind = reading["labels"]
    return PairReading(kind, reading["bare_words"])


def _is_bare(line: bytes, reading: dict[str, Any]) -> bool:
    """Return whether a line is a tree without a label."""
    return reading["format"] is None and line.lstrip().startswith(b"(") and b"\t" not in line


def _refuse_header(source: Input, options: dict[str, Any]) -> None:
    fields = source.first_row().decode(errors="replace").split("\t")
    layout = Layout(**{name: options[name] for name in ("label", "tree", "header", "bare_words")})
    if begins_with_header(fields, layout):
        raise InvalidParameterError(
            "the first line of the bag has the names of columns, and partitions do not: pass the "
            "paths of the files to filbert.parts, or remove the line and pass label= and tree= as "
            "numbers"
        )


def _encoded(lines: Iterable[str | bytes]) -> Iterable[bytes]:
    return (
        line.encode(errors="surrogatepass") if isinstance(line, str) else line for line in lines
    )


def _plain(label: Any) -> Any:
    """Return a label of NumPy as one of Python."""
    return label.item() if hasattr(label, "item") else label
