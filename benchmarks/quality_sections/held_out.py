"""Tasks on which nothing was chosen: no default, no setting of the search.

They check that the choices made on the twelve tasks also hold for others.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from statistics import median
from typing import Any

from benchmarks.quality_sections.tasks import (
    Labelled,
    Task,
    frequent,
    given_split,
    records,
    sugars,
    table,
)


def genres(seed: int) -> Task:
    """Sentences of the English Web Treebank, by the genre of their document."""
    return given_split(
        *(_sentences(f"srl-ewt/{part}.jsonl.xz") for part in ("train", "test")), seed=seed
    )


def newspaper(seed: int) -> Task:
    """Sentences without words: from the Wall Street Journal or from another genre."""
    return given_split(_by_source("train", 10_000), _by_source("test", 1_640), seed=seed)


def phyla(seed: int) -> Task:
    """Phyla with at least 20 glycans in the training data."""
    return frequent(*(list(sugars("phylum", part)) for part in ("train", "test")), seed=seed)


def binding(protein: str, seed: int) -> Task:
    """Whether a protein binds a glycan more strongly than the median one of the training data."""
    measured = [list(_bindings(protein, part)) for part in ("train", "test")]
    middle = median(value for value, _ in measured[0])
    return given_split(
        *([(str(value > middle), tree) for value, tree in part] for part in measured), seed=seed
    )


def pages(seed: int) -> Task:
    """Whole HTML pages, by the package of documentation."""
    files = (f"html-docs/{part}.tsv.xz" for part in ("train", "test"))
    return given_split(*(table(path, 0, 2) for path in files), seed=seed)


def later_web_logs(seed: int) -> Task:
    """Sessions of the second week, then of the third."""
    return given_split(*(table(f"cslogs/cslog{week}.tsv.xz", 0, 1) for week in (2, 3)), seed=seed)


def fine_questions(seed: int) -> Task:
    """The fine classes of questions, by dependency trees."""
    return given_split(*(_fine(part) for part in ("train", "test")), seed=seed)


def _sentences(path: str) -> Labelled:
    return ((record["id"].split("/")[0], record["tree"]) for record in records(path))


def _by_source(part: str, n: int) -> Iterator[tuple[Any, str]]:
    for source in ("wsj", "other"):
        for record in islice(records(f"srl-onto-unlex/{source}.{part}.jsonl.xz"), n):
            yield source, record["tree"]


def _bindings(protein: str, part: str) -> Iterator[tuple[float, str]]:
    path = f"glycan-binding/{part}.tsv.xz"
    for (name, value), (_, tree) in zip(table(path, 0, 1), table(path, 0, 2), strict=True):
        if name == protein:
            yield float(value), tree


def _fine(part: str) -> Labelled:
    return ((one["fine"], one["trees"]["grct"]) for one in records(f"qc/{part}.jsonl.xz"))


HELD_OUT: dict[str, Callable[[int], Task]] = {
    "genres of sentences": genres,
    "newspaper or not": newspaper,
    "glycans: phylum": phyla,
    "glycans bound by AAL": partial(binding, "AAL"),
    "HTML pages": pages,
    "web logs 2 -> 3": later_web_logs,
    "questions: fine classes": fine_questions,
}
