"""Say what a model file holds, without loading it."""

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from filbert.drawing.labels import printable, shortened
from filbert.errors import FilbertError, MissingFileError, ModelFileError
from filbert.persist import kinds, parameters
from filbert.persist.archive import ArchiveReader, declared_type, open_archive
from filbert.persist.files import VERSION, check_format, check_path, checked_reading

_LARGEST_CLASSES = 1 << 20  # bytes of the array of classes that is read
_DEEPEST = 10  # nesting of parts that is shown
_SHOWN = 20  # classes and arrays in the text

# Names of arrays that say how many there are of something.
_COUNTS = {
    "roots": "trees",
    "node_labels": "distinct subtrees",
    "support.roots": "support vectors",
    "indices": "support vectors",
    "support.node_labels": "distinct subtrees",
    "updates.amount": "updates",
    "fragments.roots": "fragments",
    "gains": "candidate symbols",
    "ends": "rows",
    "values": "rows",
}


@dataclass(frozen=True)
class ArraySummary:
    """An array of a file.

    Attributes
    ----------
    name, dtype : str
    shape : tuple of int
    n_bytes : int
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int


@dataclass(frozen=True)
class PartSummary:
    """A model in a file, or a step of it.

    Attributes
    ----------
    name : str
        The name of the step; ``""`` for the whole content.
    kind : str
        The name of a class.
    parameters : dict
        As in the file's header.
    kernel : str or None
        The kernel that the model was trained with.
    classes : list or None
    counts : dict of str to int
        How many trees, support vectors and so on there are.
    figures : dict
        Other single values of the header, such as the objective.
    steps : list of PartSummary
        The steps of a pipeline, the best estimator of a search, the models that are calibrated,
        or the parts of examples.
    """

    name: str
    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)
    kernel: str | None = None
    classes: list[Any] | None = None
    counts: dict[str, int] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    steps: list["PartSummary"] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    """What :func:`inspect` finds in a file. ``str`` gives a readable text.

    Attributes
    ----------
    path : str
    n_bytes : int
        The size of the file.
    format_version : int
    filbert_version : str
        The version of Filbert that wrote the file.
    can_be_loaded : bool
        Whether this version of Filbert knows the format version and the kind.
    content : PartSummary
    arrays : list of ArraySummary
        The largest first.
    reading : dict or None
        How the trees were read, see :func:`save`.

    Examples
    --------
    >>> import tempfile
    >>> from filbert import Forest, load, save
    >>> path = tempfile.mkdtemp() + "/trees.filbert"
    >>> save(Forest(["(S (NP a) (VP b))"]), path)
    >>> from filbert import inspect
    >>> summary = inspect(path)
    >>> summary.can_be_loaded, summary.content.kind
    (True, 'Forest')
    """

    path: str
    n_bytes: int
    format_version: int
    filbert_version: str
    can_be_loaded: bool
    content: PartSummary
    arrays: list[ArraySummary]
    reading: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as dictionaries, lists, text and numbers, for JSON.

        Returns
        -------
        dict
            The summary.
        """
        values = asdict(self)
        for array in values["arrays"]:
            array["shape"] = list(array["shape"])
        return values

    def __str__(self) -> str:
        lines = [
            f"{printable(self.path)}: {_size(self.n_bytes)}",
            f"written by Filbert {printable(self.filbert_version)}, format version "
            f"{self.format_version}",
        ]
        if not self.can_be_loaded:
            lines.append("this version of Filbert cannot load it: update Filbert")
        if self.reading is not None:
            settings = "".join(f" --set {text}" for text in self.reading["settings"])
            lines.append(f"trees read as {self.reading['format']}{settings}")
        lines += _part_lines(self.content, "") + _array_lines(self.arrays)
        return "\n".join(lines)


def inspect(path: str | os.PathLike[str]) -> Summary:
    """Say what a file of :func:`filbert.save` holds, without loading it.

    Only the header and the classes are read, so this is fast for files of any size. Files of later
    versions of Filbert can be inspected too. A file that is not a model, or a damaged header,
    raises :class:`~filbert.errors.ModelFileError`.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Summary
        Print it, or use its attributes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from filbert import TreeSVC, save
    >>> clf = TreeSVC().fit(["(S (A a))", "(S (B b))"], ["yes", "no"])
    >>> with TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/answers.filbert")
    ...     found = inspect(f"{folder}/answers.filbert")
    >>> found.content.kind, found.content.classes, found.content.counts["support vectors"]
    ('TreeSVC', ['no', 'yes'], 2)
    """
    check_path(path)
    try:
        with open(path, "rb") as stream, open_archive(stream) as archive:
            number, header = check_format(archive.header), archive.header
            arrays = _arrays(archive)
            content = _part(archive, "", header, arrays, "", 0)
            size = os.fstat(stream.fileno()).st_size
            reading = header.get("reading")
            if reading is not None:
                reading = checked_reading(reading, ModelFileError)
    except FileNotFoundError:
        raise MissingFileError(path) from None
    except ModelFileError as error:
        raise error.located(path) from None
    return Summary(
        os.fsdecode(path),
        size,
        number,
        str(header.get("filbert"))[:40],
        number <= VERSION and kinds.is_known(content.kind),
        content,
        sorted(arrays.values(), key=lambda array: (-array.n_bytes, array.name)),
        reading,
    )


def _arrays(archive: ArchiveReader) -> dict[str, ArraySummary]:
    found = {}
    for name, entry in archive.declared().items():
        dtype, shape = declared_type(name, entry)
        n_bytes = dtype.itemsize * int(np.prod(shape, dtype=object))
        found[name] = ArraySummary(name, dtype.name, shape, n_bytes)
    return found


def _part(
    archive: ArchiveReader,
    name: str,
    entry: Any,
    arrays: dict[str, ArraySummary],
    prefix: str,
    depth: int,
) -> PartSummary:
    """Return the summary of a part, whose arrays have names that begin with a prefix."""
    kind, content = _entry(entry, "kind"), _entry(entry, "content")
    if not isinstance(kind, str) or not isinstance(content, dict) or depth > _DEEPEST:
        raise ModelFileError("the header does not say what the file holds")
    values = content.get("parameters")
    below = [
        _part(archive, step, inner, arrays, own, depth + 1)
        for step, inner, own in _below(content, prefix)
    ]
    return PartSummary(
        name,
        kind,
        values if isinstance(values, dict) else {},
        _kernel(content.get("kernel")),
        _classes(archive, arrays, prefix),
        _counts(arrays, prefix) | _lengths(content),
        {k: v for k, v in content.items() if _is_figure(k, v)},
        [*_parts_of_examples(content, arrays, prefix), *below],
    )


def _below(content: dict[str, Any], prefix: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the name of each estimator in another, its entry, and the prefix of its arrays."""
    steps = content.get("steps")
    for i, step in enumerate(steps if isinstance(steps, list) else []):
        if _entry(step, "kind") is not None:
            yield str(step.get("name")), step, f"{prefix}{i}."
    models = content.get("models")
    for i, model in enumerate(models if isinstance(models, list) else []):
        yield f"model {i}", model, f"{prefix}{i}."
    if "best" in content:
        yield "best", content["best"], f"{prefix}best."


def _parts_of_examples(
    content: dict[str, Any], arrays: dict[str, ArraySummary], prefix: str
) -> Iterator[PartSummary]:
    parts = content.get("parts")
    for i, part in enumerate(parts if isinstance(parts, list) else []):
        name, kind = str(_entry(part, "name")), str(_entry(part, "kind"))
        yield PartSummary(name, kind, counts=_counts(arrays, f"{prefix}parts.{i}."))


def _entry(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _kernel(value: Any) -> str | None:
    if value is None:
        return None
    try:
        return repr(parameters.kernel_from_json(value))
    except FilbertError:  # of a later version
        return str(_entry(value, "name"))


def _classes(
    archive: ArchiveReader, arrays: dict[str, ArraySummary], prefix: str
) -> list[Any] | None:
    for name in (f"{prefix}classes", f"{prefix}classes_"):
        if name in arrays and arrays[name].n_bytes <= _LARGEST_CLASSES:
            classes: list[Any] = archive.array(name).tolist()
            return classes
    return None


def _counts(arrays: dict[str, ArraySummary], prefix: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, what in _COUNTS.items():
        if prefix + name in arrays:
            found.setdefault(what, arrays[prefix + name].shape[0])
    return found


def _lengths(content: dict[str, Any]) -> dict[str, int]:
    found = {}
    if isinstance(content.get("candidates"), list):
        found["candidates"] = len(content["candidates"])
    if "parts" in content and isinstance(content.get("columns"), list):
        found["columns"] = len(content["columns"])
    return found


def _is_figure(name: str, value: Any) -> bool:
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return is_plain or (name == "best_params" and isinstance(value, dict))


# ---------------------------------------------------------------- text


def _part_lines(part: PartSummary, indent: str) -> list[str]:
    title = f"{part.name}: {part.kind}" if part.name else part.kind
    lines = [f"{indent}{printable(title)}"]

    def add(what: str, text: str) -> None:
        lines.append(f"{indent}  {what:18} {shortened(printable(text), 200)}")

    if part.kernel is not None:
        add("kernel", part.kernel)
    if part.classes is not None:
        shown = ", ".join(map(str, part.classes[:_SHOWN]))
        add("classes", f"{len(part.classes)}: {shown}{', …' * (len(part.classes) > _SHOWN)}")
    for what, n in part.counts.items():
        add(what, f"{n:,}")
    given = {k: v for k, v in part.parameters.items() if v is not None and k != "kernel"}
    if given:
        add("parameters", _listed(given))
    for name, value in part.figures.items():
        add(name, _listed(value) if isinstance(value, dict) else str(value))
    for step in part.steps:
        lines += _part_lines(step, indent + "  ")
    return lines


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _array_lines(arrays: list[ArraySummary]) -> list[str]:
    lines = [f"{len(arrays)} arrays"]
    rows = [
        (printable(a.name), a.dtype, " x ".join(f"{n:,}" for n in a.shape), _size(a.n_bytes))
        for a in arrays[:_SHOWN]
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, dtype, shape, size in rows:
        first = f"  {name:{widths[0]}}  {dtype:{widths[1]}}"
        lines.append(f"{first}  {shape:>{widths[2]}}  {size:>{widths[3]}}")
    if len(arrays) > _SHOWN:
        lines.append(f"  and {len(arrays) - _SHOWN} smaller ones")
    return lines


def _size(n: int) -> str:
    size, units = float(n), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:,.0f} {units[0]}" if units[0] == "bytes" else f"{size:,.1f} {units[0]}"
