"""Claim: trees are read at more than 150 MB/s (small file) and 40 MB/s (a million trees).

Predicate-argument trees of the English Web Treebank, one a line, on one core: the first 5,000 as a
small file, and all of them; the benchmark file of the SDAG program beside them.

With ``--only documents``: the structure of XML, HTML and JSON is read at about 20 MB/s or more. The
files are those of $FILBERT_DOCUMENTS. This folder has a folder for each format, and in it a folder
for each source of files: ``xml/iso-codes-4.15.0``, ``html/python3.11-doc-3.11.2``, ...
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from warnings import catch_warnings, simplefilter

from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from benchmarks.datasets import DATASETS
from benchmarks.measure import shared_data, timed, write
from filbert import Forest, read_examples, read_trees

# What parses a document and builds its own tree, and the options that keep all that it holds.
PARSERS: dict[str, tuple[Callable[[bytes], Any], dict[str, Any]]] = {
    "xml": (etree.fromstring, {"attributes": True, "text": "whole"}),
    "html": (LexborHTMLParser, {"attributes": True, "text": "whole"}),
    "json": (json.loads, {"values": True}),
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


def measured_documents(format: str, folder: Path) -> Iterator[dict[str, object]]:
    """Read the documents of a folder: their structure, and then all that they hold."""
    parse, everything = PARSERS[format]
    contents = [path.read_bytes() for path in sorted(folder.rglob(f"*.{format}"))]
    megabytes = sum(map(len, contents)) / 1e6
    repeat = 3 if megabytes > 5 else 15

    def parse_all() -> None:
        for content in contents:
            with suppress(etree.XMLSyntaxError):
                parse(content)

    parser = timed(parse_all, repeat=repeat)
    for options in ({}, everything):

        def read() -> Any:
            return read_trees(folder, format=format, on_error="skip", **options)  # noqa: B023

        times = timed(read, repeat=repeat)
        X = read()
        yield {
            "format": format,
            "files": folder.name,
            "n_files": len(contents),
            "skipped": len(X.skipped),
            "megabytes": round(megabytes, 2),
            "options": ", ".join(f"{name}={value!r}" for name, value in options.items()),
            "nodes": X["tree"].n_nodes,
            "parser_megabytes_per_cpu_second": round(megabytes / parser["cpu_seconds"], 1),
            "megabytes_per_cpu_second": round(megabytes / times["cpu_seconds"], 1),
            **times,
        }


def measure_documents() -> None:
    place = os.environ.get("FILBERT_DOCUMENTS")
    if not place:
        raise SystemExit("set FILBERT_DOCUMENTS to a folder of documents: see benchmarks.reading")
    figures: list[dict[str, object]] = []
    with catch_warnings():
        simplefilter("ignore")  # files that are not well-formed are counted
        for format in PARSERS:
            for folder in sorted(Path(place).glob(f"{format}/*")):
                figures += measured_documents(format, folder)
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


SECTIONS = {"brackets": measure_brackets, "documents": measure_documents}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, default="brackets")
    SECTIONS[parser.parse_args().only]()


if __name__ == "__main__":
    main()
