"""Hostile labels: nothing of them runs in a report, and nothing moves the cursor of a terminal."""

import re
import warnings
from html.parser import HTMLParser
from random import Random
from typing import Any
from xml.etree import ElementTree

import filbert
from filbert import Forest, TreeSVC, explain, read_trees
from filbert.errors import FilbertError

# What a terminal obeys: control characters except line ends, and marks that reverse text.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SEQUENCES = (
    "\x1b[2J", "\x1b[1;1H", "\x1b]0;title\x07", "\x1b]8;;http://example.invalid\x07x", "\x1b[31m",
    "\x1b[6n", "\x1b[?1049h", "\x1bP+q\x1b\\", "\x1b[10000A", "\x9b2J", "\x9d0;x\x9c", "\x07",
    "\x08",
    "\r", "\x0b", "\x0c", "\x7f", "\u202e", "\u2066", "\u200f", "\x1b[>c", "\x05", "\x84",
)  # fmt: skip
_MARKUP = (
    "<script>window.hit=1</script>", "</script><script>window.hit=1</script>", "-->", "]]>",
    "<img src=x onerror=window.hit=1>", '" onload="window.hit=1', "' onmouseover='window.hit=1",
    "<svg onload=window.hit=1>", "javascript:window.hit=1", "<iframe src=http://example.invalid>",
    "</title><script>1</script>", "</text></svg><script>1</script>", "{{ 7 * 7 }}", "{% raw %}",
    "&lt;script&gt;", "<a href=javascript:1>", "<style>@import 'x'</style>", "${1}", "<!--",
)  # fmt: skip


def hostile(n: int, seed: int = 0) -> list[str]:
    """Return texts that combine what a browser and a terminal may obey."""
    rng = Random(seed)
    parts = [*_SEQUENCES, *_MARKUP]
    made = [*parts]
    while len(made) < n:
        made.append("".join(rng.choices([*parts, "x", "界", " ", "(", ")"], k=rng.randint(2, 5))))
    return made[:n]


class _Tags(HTMLParser):
    """The tags of a page, the attributes by which something runs, and links outside."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        for name, value in attrs:
            outside = re.match(r"\s*(javascript:|https?:|//)", value or "", re.IGNORECASE)
            if name.startswith("on") or (name in ("href", "src") and outside):
                self.handlers.add(f"{name}={value}")


def tags_of(page: str) -> tuple[set[str], set[str]]:
    """Return the tags of a page and what in it may run."""
    parser = _Tags()
    parser.feed(page)
    return parser.tags, parser.handlers


def _trees(labels: list[str]) -> Forest:
    return Forest(f"(S {filbert.escape(one)} ({filbert.escape(one)} x))" for one in labels)


def _explained(labels: list[str]) -> Any:
    classes = [labels[i % 3] + str(i % 3) for i in range(len(labels))]
    X = _trees(labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TreeSVC(random_state=0, n_jobs=1).fit(X, classes)
        return explain(model, X[:8], classes[:8])


def run(n: int, at_once: int = 20) -> dict[str, Any]:
    """Show n labels everywhere; return how many of the texts and pages obey them."""
    plain_tags, plain_handlers = tags_of(
        _explained([f"label{i}" for i in range(at_once)]).to_html()
    )
    counts = {"labels": n, "pages": 0, "pictures": 0, "texts": 0, "obeyed": 0}
    told: list[str] = []
    labels = hostile(n)
    for begin in range(0, n, at_once):
        some = labels[begin : begin + at_once]
        explained = _explained(some)
        tags, handlers = tags_of(explained.to_html())
        counts["pages"] += 1
        told += [f"tags {tags - plain_tags}"] * (not tags <= plain_tags)
        told += [f"runs {handlers}"] * (not handlers <= plain_handlers)
        for tree in _trees(some):
            picture = tree.to_svg()
            counts["pictures"] += 1
            names = {
                element.tag.rpartition("}")[2] for element in ElementTree.fromstring(picture).iter()
            }
            told += [f"picture {names}"] * bool(
                names - {"svg", "path", "g", "title", "rect", "text"}
            )
        for text in [str(explained), *(tree.draw() for tree in _trees(some)), *_messages(some)]:
            counts["texts"] += 1
            found = _OBEYED.search(text)
            told += [f"text {text[max(0, found.start() - 40) : found.end()]!r}"] if found else []
    counts["obeyed"] = len(told)
    return {**counts, "told": told[:5]}


def _messages(labels: list[str]) -> list[str]:
    """Return the messages of errors that quote labels."""
    found = []
    for label in labels:
        for wrong in (f"(S {filbert.escape(label)}", f"(S) {label}", f"{label}(("):
            try:
                Forest([wrong])
            except FilbertError as error:
                found.append(str(error))
        try:
            read_trees(f"no such file {label}")
        except (FilbertError, OSError) as error:
            found.append(str(error))
    return found
