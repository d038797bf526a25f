"""RNA secondary structures in dot-bracket notation: ``((..(...).))``.

A base pair is an inner node, and an unpaired base is a leaf. The root is ``RNA``. With a sequence,
labels are the bases: ``GC`` for a pair, ``A`` for an unpaired base. Without a sequence, they are
``pair`` and ``.``. A strand break is a leaf ``&``.

A record is a structure, or a sequence and one or several structures of the same length. Both may
have several lines. A line ``>name`` gives the column ``name`` of the structures after it, and an
energy after a structure its column ``energy``. A new name or an empty line after a structure ends
the use of its sequence. Lines that begin with ``#`` or ``;`` are comments.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from filbert.errors import InvalidParameterError, ParseError
from filbert.read.documents import Document, Row, TreeRecord

_ROOT, _PAIR, _UNPAIRED, _BREAK = "RNA", "pair", ".", "&"
_SEQUENCE = re.compile(r"[A-Za-z&]+")
_STRUCTURE = re.compile(r"(\S*[().]\S*)(?:\s+(\S.*))?")
_ENERGY = re.compile(r"[(\[{]?\s*([-+]?\d+(?:\.\d+)?)\s*[)\]}]?")
_KNOT = re.compile(r"[\[\]{}<>A-Za-z]")


@dataclass(frozen=True)
class Options:
    """How structures are read.

    Attributes
    ----------
    pseudoknots : {"raise", "drop"}
        Whether pairs in other brackets than round ones are an error, or are read as unpaired bases.
        Such pairs may cross others, and a tree cannot hold pairs that cross.
    """

    pseudoknots: str = "raise"

    def __post_init__(self) -> None:
        if self.pseudoknots not in ("raise", "drop"):
            raise InvalidParameterError(
                f"pseudoknots must be 'raise' or 'drop', got {self.pseudoknots!r}"
            )


@dataclass
class _Record:
    """What has been read of a record."""

    name: str = ""
    sequence: str = ""
    structure: str = ""
    places: list[tuple[int, int]] = field(default_factory=list)  # line and column of each character
    n_structures: int = 0  # that were read with this sequence
    is_only_name: bool = False  # nothing but a name was read

    def begin(self, name: str) -> ParseError | None:
        """Begin a new record; return the error if the one before is not complete."""
        error = None
        if self.sequence and (self.structure or not self.n_structures):
            error = self.wrong_length()
        elif self.is_only_name:
            error = ParseError(
                f"the name {self.name!r:.40} has no structure",
                hint="write the structure on a line of its own after the name",
            )
        self.is_only_name = False
        self.name, self.sequence, self.n_structures = name, "", 0
        self.end_structure()
        return error

    def add_structure(self, text: str, line: int, column: int) -> None:
        self.structure += text
        self.places.extend((line, column + i) for i in range(len(text)))

    def end_structure(self) -> None:
        self.structure, self.places = "", []
        self.n_structures += bool(self.sequence)

    def wrong_length(self) -> ParseError:
        return ParseError(
            f"the sequence has {len(self.sequence)} bases and its structure {len(self.structure)}",
            hint="write a structure of the same length after each sequence",
        )


def read(document: Document, options: Options) -> Iterator[Row]:
    """Yield the structures of a document, and an error for each bad one."""
    record = _Record()
    number = 0
    for number, raw in document.lines():
        try:
            made = _add_line(record, raw, number, options)
        except ParseError as error:
            yield _located(error, document, number)
        else:
            if made is not None:
                yield made
    if incomplete := record.begin(""):
        yield _located(incomplete, document, number)


def _located(error: ParseError, document: Document, line: int) -> ParseError:
    return error.located(source=document.name, line=error.line or line)


def _add_line(record: _Record, raw: str, number: int, options: Options) -> TreeRecord | None:
    """Add a line to a record; return the tree that it completes."""
    line = raw.strip()
    if line.startswith(("#", ";")):
        return None
    error = None
    if not line:
        if record.n_structures and not record.structure:
            record.begin(record.name)
    elif line.startswith(">"):
        error = record.begin(line[1:].strip())
        record.is_only_name = True
    elif _SEQUENCE.fullmatch(line):
        record.is_only_name = False
        if record.n_structures or record.structure:
            error = record.begin(record.name)
        record.sequence += line
    elif match := _STRUCTURE.fullmatch(line):
        record.is_only_name = False
        record.add_structure(match[1], number, raw.index(match[1]) + 1)
        if len(record.structure) >= len(record.sequence):
            try:
                return TreeRecord(_brackets(record, options), _columns(record.name, match[2]))
            finally:
                record.end_structure()
    else:
        record.is_only_name = False
        raise ParseError(
            f"{line!r:.40} is neither a structure nor a sequence",
            hint="write structures with ( ) and . and names after >",
        )
    if error is not None:
        raise error
    return None


def write(labels: list[str], parents: list[int], options: Options) -> str:
    """Return a structure, after a line with its sequence if the labels are bases.

    An empty line after a sequence and its structure separates them from what follows.
    """
    del options
    if labels[0] != _ROOT or len(labels) == 1:
        raise _unwritable(f"the root must be {_ROOT} and have children")
    with_bases = not {_PAIR, _UNPAIRED} & set(labels[1:])
    if with_bases and {_BREAK} >= set(labels[1:]):
        raise _unwritable("there is no base")
    inner = set(parents)
    bases: list[str] = []
    structure: list[str] = []
    closing: list[tuple[int, str]] = []  # the open pairs and their second bases
    for node, (label, parent) in enumerate(zip(labels[1:], parents[1:], strict=True), 1):
        while closing and closing[-1][0] != parent:
            bases.append(closing.pop()[1])
            structure.append(")")
        first, second = _label_bases(label, with_bases, node in inner)
        bases.append(first)
        structure.append("(" if second else "&" if label == _BREAK else ".")
        if second:
            closing.append((node, second))
    for _, second in reversed(closing):
        bases.append(second)
        structure.append(")")
    text = "".join(structure)
    return f"{''.join(bases)}\n{text}\n" if with_bases else text


def _columns(name: str, rest: str | None) -> dict[str, str]:
    columns = {"name": name} if name else {}
    if rest:
        energy = _ENERGY.fullmatch(rest)
        if energy is None:
            raise ParseError(
                f"unexpected {rest!r:.40} after the structure",
                hint="only an energy such as (-1.20) may follow",
            )
        columns["energy"] = energy[1]
    return columns


def _brackets(record: _Record, options: Options) -> str:
    sequence, structure = record.sequence, record.structure
    if sequence and len(structure) > len(sequence):
        raise record.wrong_length()
    partner = _partners(record, options)
    pieces = [f"({_ROOT}"]
    for i, mark in enumerate(structure):
        if mark == "(":
            bases = sequence[i] + sequence[partner[i]] if sequence else _PAIR
            pieces.append(f" ({bases}")
        elif mark == ")":
            pieces.append(")")
        elif _BREAK in (mark, sequence[i : i + 1]):
            if sequence and mark != sequence[i]:
                raise _error(record, i, "a strand break must be in both lines", "write &")
            pieces.append(f" {_BREAK}")
        else:
            pieces.append(f" {sequence[i] if sequence else _UNPAIRED}")
    return "".join([*pieces, ")"])


def _partners(record: _Record, options: Options) -> dict[int, int]:
    """Return the position of the closing bracket of each opening one."""
    partner: dict[int, int] = {}
    unclosed: list[int] = []
    for i, mark in enumerate(record.structure):
        if mark == "(":
            unclosed.append(i)
        elif mark == ")":
            if not unclosed:
                raise _error(record, i, "unexpected ')'", "add the '('")
            partner[unclosed.pop()] = i
        elif _KNOT.fullmatch(mark):
            if options.pseudoknots == "raise":
                raise _error(
                    record, i, f"a pseudoknot: {mark!r}",
                    "use pseudoknots='drop' to read its bases as unpaired",
                )  # fmt: skip
        elif mark not in (_UNPAIRED, _BREAK):
            raise _error(record, i, f"unexpected {mark!r}", "use only ( ) . and &")
    if unclosed:
        raise _error(record, unclosed[-1], "the '(' is not closed", "add the ')'")
    return partner


def _error(record: _Record, position: int, reason: str, hint: str) -> ParseError:
    line, column = record.places[position]
    return ParseError(reason, hint=hint, line=line, column=column)


def _label_bases(label: str, with_bases: bool, has_children: bool) -> tuple[str, str]:
    """Return the two bases of a pair, or an unpaired base and an empty text."""
    if not with_bases:
        first, second = {_PAIR: ("(", ")"), _UNPAIRED: (".", ""), _BREAK: (_BREAK, "")}.get(
            label, ("", "")
        )
    else:
        fits = len(label) <= 2 and _SEQUENCE.fullmatch(label) and (label == "&" or "&" not in label)
        first, second = (label[0], label[1:]) if fits else ("", "")
    if not first or (has_children and not second):
        raise _unwritable(f"the node {label!r:.40} is neither a pair nor an unpaired base")
    return first, second


def _unwritable(reason: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"this tree cannot be written in dot-bracket notation: {reason}; pairs are nodes such as "
        f"'GC' or '{_PAIR}', unpaired bases are leaves such as 'A' or '{_UNPAIRED}'"
    )
