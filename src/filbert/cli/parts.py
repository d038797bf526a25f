"""Corpora in parts on the command line."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from filbert.errors import InvalidParameterError

if TYPE_CHECKING:
    from filbert.cli.data import DataFiles
    from filbert.corpus.parts import Parts

PARTS = "Data in parts"

_SAMPLE = 64  # examples that show which vectors there are


@dataclass(frozen=True)
class InParts:
    """Options for data that do not fit into memory, or for a cluster."""

    parts: Annotated[
        int | None,
        typer.Option(
            "--parts", min=1, metavar="N", rich_help_panel=PARTS,
            help="Read the data in at most N parts, one after another, so that they need not fit "
            "into memory.",
        ),
    ] = None  # fmt: skip
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", rich_help_panel=PARTS,
            help="Work on parts on the Dask cluster of this scheduler, such as "
            "tcp://10.0.0.5:8786. Its workers need the same files.",
        ),
    ] = None  # fmt: skip

    @property
    def wanted(self) -> bool:
        """Whether the data are to be read in parts."""
        return self.parts is not None or self.scheduler is not None


def check_not_standard_input(files: "DataFiles") -> None:
    """Raise InvalidParameterError for standard input, which can be read only once."""
    from filbert.read.files import STANDARD_INPUT

    if STANDARD_INPUT in files.given:
        raise InvalidParameterError(
            "data in parts are read several times, and standard input only once: name files"
        )


def corpus_of(files: "DataFiles", n_parts: int | None, *, labels: bool, **others: Any) -> "Parts":
    """Return the data of a command as a corpus in parts.

    Parameters
    ----------
    files : DataFiles
    n_parts : int, optional
    labels : bool
        Whether labels are wanted. If not, data without labels are read too.
    others
        Further options of `filbert.parts`, in place of those of the files.
    """
    from filbert.cli.data import FOLDER
    from filbert.corpus.sources import parts

    given: dict[str, Any] = {"on_error": files.on_error, "n_jobs": files.jobs}
    reading = files.reading
    source = [*files.given] if len(files.given) > 1 else files.given[0]
    if labels and reading.label == FOLDER:
        options = {**given, **files.settings()}
        return parts(source, n_parts=n_parts, label=FOLDER, format=reading.format, **options)
    path = files.paths[0]
    if files.has_trees_only(path):
        options = {**given, **files.settings()}
        return parts(source, n_parts=n_parts, label=False, format=reading.format, **options)
    with files.opened(path) as opened:
        if files.is_bare(opened):
            return parts(
                source,
                n_parts=n_parts,
                label=None if labels else False,
                format="brackets",
                bare_words=files.bare_words,
                **given,
            )
        own = files.options(opened.first_line, labels=labels)
    return parts(source, n_parts=n_parts, **{**given, **own, **others})


def without_examples(corpus: "Parts") -> Any:
    """Return no examples, in the form of those of a corpus of files."""
    from filbert.corpus.files import FilePiece

    first = corpus.pieces[0]
    assert isinstance(first, FilePiece)
    return first.without_examples()


def vectors_of(files: "DataFiles") -> list[str]:
    """Return the names of feature vectors in the first examples of a table."""
    from dataclasses import fields

    from filbert.read.formats import Layout
    from filbert.read.reader import Bounds, ExampleReader

    if files.has_trees_only(files.paths[0]) or files.reading.label == "folder":
        return []
    with files.opened(files.paths[0]) as source:
        if files.is_bare(source):
            return []
        own = files.options(source.first_line, labels=True)
        known = {field.name for field in fields(Layout)}
        layout = Layout(**{name: value for name, value in own.items() if name in known})
        reader = ExampleReader(source, layout, "skip", 1, files.vocabulary)
        for block in reader.blocks_of(_SAMPLE):
            return list(reader.read_lines(block, Bounds()).batch.vectors)
    return []
