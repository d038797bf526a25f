"""The examples of the README and of pages in docs/ work, and print what the pages show."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PAGES = [
    "add-a-reader.md",
    "choosing.md",
    "features.md",
    "first-steps.md",
    "formats-nlp.md",
    "from-grakel.md",
    "from-svc.md",
    "how-it-works.md",
    "index.md",
    "install.md",
    "patterns.md",
    "recurring-fragments.md",
    *sorted(f"{path.parent.name}/{path.name}" for path in DOCS.glob("kernels/*.md")),
    *sorted(f"{path.parent.name}/{path.name}" for path in DOCS.glob("learners/*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_is_shown(page: str) -> None:
    blocks = BLOCK.findall((DOCS / page).read_text("utf-8"))
    names: dict[str, object] = {}
    exec("import filbert", names)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for language, code in blocks:
            if language == "python":
                exec(code, names)
    assert printed.getvalue() == "".join(text for language, text in blocks if not language)


def write_examples_of_the_readme(folder: Path) -> None:
    """Write the files that the README names."""
    pairs = [(d, n) for d in ("a", "the", "this") for n in ("dog", "cat", "hen", "bird")]
    trees = [("statement", f"(S (NP (D {d}) (N {n})) (VP (V barks)))") for d, n in pairs]
    trees += [("question", f"(Q (V is) (NP (D {d}) (N {n})) (A asleep))") for d, n in pairs]
    (folder / "train.tsv").write_text("".join(f"{label}\t{tree}\n" for label, tree in trees))
    signs = {"statement": "-1", "question": "1"}
    lines = [f"{signs[label]} |BT| {tree} |ET| 1:0.5 7:1\n" for label, tree in trees]
    (folder / "examples.dat").write_text("".join(lines))


def test_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of Python in their order. The first one prints a tree, which is shown below it."""
    blocks = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))
    write_examples_of_the_readme(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = io.StringIO()
    n = 0
    with contextlib.redirect_stdout(printed):
        for language, code in blocks:
            if language == "python":
                exec(code, names)
                names["X_test"], names["y_test"] = names["X"], names.get("y")
                n += 1
    assert n >= 5
    assert printed.getvalue() == blocks[1][1]
    assert (tmp_path / "report.html").stat().st_size > 10_000
