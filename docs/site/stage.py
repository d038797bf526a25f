"""Collects the sources of the site in one folder, which Sphinx then reads.

The pages of docs/ and the Markdown files of the repository link to each other by their paths, so
that they can be read where they are. Here they become pages of one site: files get the names of
their pages, and links follow them.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from docs.site.navigation import below

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

# Pages that are elsewhere or have another name in docs/.
RENAMED = {
    "docs/README.md": "guide",
    "docs/decisions/README.md": "decisions/index",
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "benchmarks/README.md": "benchmarks-how",
    "benchmarks/papers.md": "paper-figures",
}
# What other links to the repository become.
INSTEAD = {
    "README.md": "index",
    "docs": "guide",
    "docs/decisions": "decisions/index",
    "examples": "gallery/index",
    "benchmarks/RESULTS.md": "benchmarks",
}
RST = {"gallery/index", "api/index"}
# A comment that the site replaces by a picture; elsewhere it is invisible.
_PICTURE = re.compile(r"^<!-- (plot|drawing): (\S+) (.*?) -->$", re.MULTILINE)
_FOLDERS = {"plot": "plots", "drawing": "drawings"}
_LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(```|~~~).*?^\1`*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def sources() -> dict[str, Path]:
    """Return the Markdown file of each page."""
    own = {
        path.relative_to(DOCS).with_suffix("").as_posix(): path
        for path in sorted(DOCS.rglob("*.md"))
        if path.relative_to(ROOT).as_posix() not in RENAMED
        and "site" not in path.relative_to(DOCS).parts
    }
    return own | {page: ROOT / name for name, page in RENAMED.items()}


def relinked(text: str, file: Path, page: str, pages: dict[str, Path]) -> str:
    """Return the text with links that lead to pages of the site."""
    names = {path.relative_to(ROOT).as_posix(): name for name, path in pages.items()} | INSTEAD

    def link(match: re.Match[str]) -> str:
        mark, label, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if not path or "://" in path or path.startswith("mailto:") or mark:
            return match[0]
        wanted = os.path.relpath(file.parent / path, ROOT).rstrip("/")
        if wanted not in names:
            if Path(path).suffix in {".rst", ".html"}:  # a page that Sphinx makes
                return match[0]
            return f"{label} (`{wanted}`)" if f"`{wanted}`" != label else label
        name = names[wanted] + (".rst" if names[wanted] in RST else ".md")
        return f"[{label}]({os.path.relpath(name, Path(page).parent)}{hash_}{anchor})"

    return "".join(piece if is_code else _LINK.sub(link, piece) for piece, is_code in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Split into text and code; a link whose label is code stays in one piece of text."""
    start = 0
    for match in _CODE.finditer(text):
        if match[1] is None:  # inline code: may be the label of a link
            continue
        yield text[start : match.start()], False
        yield match[0], True
        start = match.end()
    yield text[start:], False


def pictured(text: str, page: str) -> str:
    """Return the text with pictures in place of the comments that stand for them."""
    up = "../" * page.count("/")

    def picture(match: re.Match[str]) -> str:
        kind, name, caption = match.groups()
        return f"![{caption}]({up}{_FOLDERS[kind]}/{name}){{.drawing}}"

    return _PICTURE.sub(picture, text)


def write(path: Path, text: str) -> None:
    """Write a file if it would change, so that Sphinx reads only what is new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def stage(target: Path, generated: dict[str, str]) -> None:
    """Write all pages to `target`: those of the repository and the generated ones.

    Parameters
    ----------
    target : Path
        The folder of the sources.
    generated : dict
        The text of further pages, by name with extension.
    """
    pages = sources()
    names = {*pages, *(name.rpartition(".")[0] for name in generated), "gallery/index"}
    kept = set()
    for page, file in pages.items():
        text = pictured(relinked(file.read_text("utf-8"), file, page, pages), page)
        kept.add(target / f"{page}.md")
        write(target / f"{page}.md", text + below(page, names))
    for name, text in generated.items():
        kept.add(target / name)
        page = name.rpartition(".")[0]
        if name.endswith(".md"):  # its links are those of the page in benchmarks/
            linked = relinked(text, ROOT / "benchmarks" / "RESULTS.md", page, pages)
            write(target / name, linked + below(page, names))
        else:
            write(target / name, text)
    shutil.copytree(DOCS / "images", target / "images", dirs_exist_ok=True)
    shutil.rmtree(target / "api" / "generated", ignore_errors=True)
    for old in [*target.rglob("*.md"), *target.glob("api/*.rst")]:
        if old not in kept and "gallery" not in old.relative_to(target).parts:
            old.unlink()
