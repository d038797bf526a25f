"""HTML pages as trees: the documentation of Python's standard library, as its pydoc writes it.

A node is a tag, or #text. The pages are made once and kept in build/, since importing all modules
takes time and memory.
"""

import importlib
import json
import pydoc
import sys
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from benchmarks.measure import ROOT

FILE = ROOT / "build" / "pydoc-pages.json"
EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta"}  # tags without an end
SKIPPED = {"antigravity", "idlelib", "this"}  # to import these does something

Nodes = list[tuple[str, int]]  # in the order of the document: label, depth


class _Reader(HTMLParser):
    """Forgiving, as browsers are: an end without a beginning means nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.open = ["#document"]
        self.nodes: Nodes = [("#document", 0)]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.nodes.append((tag, len(self.open)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.nodes.append(("#text", len(self.open)))


def pages() -> dict[str, Nodes]:
    """Return the nodes of all pages, by module."""
    if not FILE.exists():
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(dict(_made())))
    stored: dict[str, Nodes] = json.loads(FILE.read_text())
    return stored


def _made() -> Iterator[tuple[str, Nodes]]:
    warnings.simplefilter("ignore")
    for name in sorted(sys.stdlib_module_names - SKIPPED):
        if name.startswith("_"):
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:  # of another system
            continue
        reader = _Reader()
        reader.feed(pydoc.html.page(name, pydoc.html.document(module, name)))
        yield name, reader.nodes


def tree_of(nodes: Nodes, n: int) -> str:
    """Write the first n nodes of a page as a tree."""
    text: list[str] = []
    depth = 0
    for label, at in nodes[:n]:
        text.append(")" * (depth - at) + f" ({label}")
        depth = at + 1
    return "".join(text).strip() + ")" * depth
