"""Claim: trees are read at more than 150 MB/s (small file) and 40 MB/s (a million trees).

Predicate-argument trees of the English Web Treebank, one a line, on one core: the first 5,000 as a
small file, and all of them; the benchmark file of the SDAG program beside them.

With ``--only documents``: the structure of XML, HTML and JSON is read at about 20 MB/s or more. The
files are those of $FILBERT_DOCUMENTS. This folder has a folder for each format, and in it a folder
for each source of files: ``xml/iso-codes-4.15.0``, ``html/python3.11-doc-3.11.2``, ...

With ``--only sources``: source code, parses, phylogenetic trees and RNA structures that others have
written, from the same place, such as ``python/cpython-3.11.7-lib``. Python's goal is 20 MB/s where
its own parser allows that.
"""

import argparse
import ast
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from warnings import catch_warnings, simplefilter

import conllu
from lxml import etree
from selectolax.lexbor import LexborHTMLParser
from tree_sitter import Language, Parser

from benchmarks.datasets import DATASETS
from benchmarks.measure import shared_data, timed, write
from filbert import Forest, read_examples, read_trees
from filbert.read.catalogue import TREE_FORMATS
from filbert.read.languages import LANGUAGES

Parse = Callable[[bytes], Any]
Options = dict[str, Any]

# What parsers say of a file that is not well-formed.
NO_DOCUMENT = (etree.XMLSyntaxError, SyntaxError, conllu.exceptions.ParseException)


def syntax_parser(language: str) -> Parse:
    """Return the parser of tree-sitter for a language."""
    grammar = import_module(f"tree_sitter_{language}")
    parser = Parser(Language(grammar.language()))
    return parser.parse


# What parses a document and builds its own tree, and the options that keep all that it holds.
PARSERS: dict[str, tuple[Parse, list[Options]]] = {
    "xml": (etree.fromstring, [{}, {"attributes": True, "text": "whole"}]),
    "html": (LexborHTMLParser, [{}, {"attributes": True, "text": "whole"}]),
    "json": (json.loads, [{}, {"values": True}]),
}
# For other formats: the parser, or None if Filbert has its own, and options.
SOURCES: dict[str, tuple[Parse | None, list[Options]]] = {
    "python": (ast.parse, [{}, {"unit": "function"}]),
    **{name: (None, [{}, {"unit": "function"}]) for name in ("java", "javascript", "c", "go")},
    "conllu": (lambda text: conllu.parse(text.decode()), [{}]),
    "newick": (None, [{}]),
    "dot-bracket": (None, [{}]),
}


def measured(title: str, trees: list[str], folder: Path, repeat: int) -> dict[str, object]:
    path = folder / "trees.txt"
    path.write_text("\n".join(trees) + "\n")
    megabytes = path.stat().st_size / 1e6
    times = timed(lambda: Forest.from_brackets(path), repeat=repeat)
    forest = Forest.from_brackets(path)
    return {
        "trees": title,
        "n_trees": len(forest),
        "megabytes": round(megabytes, 2),
        "distinct_subtrees": forest.n_subtrees,
        "megabytes_per_cpu_second": round(megabytes / times["cpu_seconds"], 1),
        "bytes_per_distinct_subtree": round(forest.nbytes / forest.n_subtrees, 1),
        **times,
    }


def measure_brackets() -> None:
    data = shared_data()
    trees = list(DATASETS["srl-ewt"](data))
    sdag, _ = read_examples(data / "srl-5000" / "dataset_5000.dat.xz")
    with TemporaryDirectory() as folder:
        figures = [
            measured("srl-5000", [str(t) for t in sdag["tree"]], Path(folder), 101),
            measured("srl-ewt, first 5,000", trees[:5000], Path(folder), 101),
            measured("srl-ewt, all", trees, Path(folder), 5),
        ]
    write("reading", "150 MB/s small, 40 MB/s for a million trees, 64 bytes a subtree", figures)


# ------------------------------------------------------------------ documents


def measured_documents(
    format: str, folder: Path, parse: Parse | None, settings: list[Options], repeat: int
) -> Iterator[dict[str, object]]:
    """Read the documents of a folder: their structure, and then with other options."""
    suffixes = TREE_FORMATS[format].suffixes
    contents = [p.read_bytes() for p in sorted(folder.rglob("*")) if p.suffix in suffixes]
    megabytes = sum(map(len, contents)) / 1e6
    if format in LANGUAGES:
        parse = syntax_parser(format)

    def parse_all() -> None:
        assert parse is not None
        for content in contents:
            with suppress(*NO_DOCUMENT):
                parse(content)

    alone = {} if parse is None else {
        "parser_megabytes_per_cpu_second": round(
            megabytes / timed(parse_all, repeat=repeat)["cpu_seconds"], 1
        )
    }  # fmt: skip
    for options in settings:

        def read() -> Any:
            return read_trees(folder, format=format, on_error="skip", **options)  # noqa: B023

        times = timed(read, repeat=repeat)
        X = read()["tree"]
        yield {
            "format": format,
            "files": folder.name,
            "n_files": len(contents),
            "skipped": len(read().skipped),
            "megabytes": round(megabytes, 3),
            "options": ", ".join(f"{name}={value!r}" for name, value in options.items()),
            "trees": len(X),
            "nodes": X.n_nodes,
            **alone,
            "megabytes_per_cpu_second": round(megabytes / times["cpu_seconds"], 1),
            **times,
        }


def figures_of(formats: Mapping[str, tuple[Parse | None, list[Options]]]) -> list[dict[str, Any]]:
    """Measure the folders of some formats."""
    place = os.environ.get("FILBERT_DOCUMENTS")
    if not place:
        raise SystemExit("set FILBERT_DOCUMENTS to a folder of documents: see benchmarks.reading")
    figures: list[dict[str, Any]] = []
    with catch_warnings():
        simplefilter("ignore")  # files that are not well-formed are counted
        for format, (parse, settings) in formats.items():
            for folder in sorted(Path(place).glob(f"{format}/*")):
                megabytes = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / 1e6
                repeat = 3 if megabytes > 0.5 else 15
                figures += measured_documents(format, folder, parse, settings, repeat)
    return figures


def measure_documents() -> None:
    figures = figures_of(PARSERS)
    notes = [
        "The parser alone builds its own tree from bytes in memory. Filbert reads files. Skipped "
        "files are not well-formed: an & without its entity.",
        "Other programs ran on the machine, so that seconds vary by a factor of two.",
    ]
    write(
        "reading_documents",
        "the structure of XML, HTML and JSON is read at about 20 MB/s or more",
        figures,
        notes=notes,
        command="reading --only documents",
    )


def measure_sources() -> None:
    notes = [
        "The parser alone is ast for Python, tree-sitter for the other languages and the library "
        "conllu. It builds its own tree from bytes in memory. Filbert has its own parser of Newick "
        "and of dot-bracket. What is skipped has errors for the parser, such as macros in C.",
        "Other programs ran on the machine, so that seconds vary by a factor of two.",
    ]
    write(
        "reading_sources",
        "source code, parses, phylogenetic trees and RNA structures of others are read; Python at "
        "20 MB/s if its parser allows it",
        figures_of(SOURCES),
        notes=notes,
        command="reading --only sources",
    )


SECTIONS = {
    "brackets": measure_brackets,
    "documents": measure_documents,
    "sources": measure_sources,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, default="brackets")
    SECTIONS[parser.parse_args().only]()


if __name__ == "__main__":
    main()
