"""The short examples of the documentation run, with files and names that they take for granted.

A block below ``<!-- not run: reason -->`` is only compiled. Pages whose blocks are complete, and
show what they print, are in test_docs_examples.py.
"""

import io
import re
import sys
from pathlib import Path

import pytest

from tests.docs_world import names_of, write_files
from tests.unit.test_docs_examples import DOCS, PAGES

BLOCK = re.compile(r"(<!-- not run: [^>]+-->\n\n?)?^```python\n(.*?)^```$", re.M | re.S)


def blocks(path: Path) -> list[tuple[bool, str]]:
    """Return the blocks of Python of a page, and whether they are run."""
    return [(not mark, code) for mark, code in BLOCK.findall(path.read_text("utf-8"))]


OTHERS = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if path.relative_to(DOCS).as_posix() not in PAGES and blocks(path)
]


@pytest.mark.filterwarnings("ignore")  # the data of these examples are far too few
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_snippets_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"(a,b)c;")))
    names = names_of(path.stem)
    for is_run, code in blocks(path):
        program = compile(code, path.name, "exec")
        if is_run:
            exec(program, names)


def test_most_snippets_are_run() -> None:
    marked = [code for path in OTHERS for is_run, code in blocks(path) if not is_run]
    assert len(OTHERS) > 20
    assert len(marked) <= 4
