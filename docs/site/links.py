"""Checks the links inside the built site: every page, file and anchor must be there."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "#"}
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value:
                self.links.append(value)
                if tag in ("script", "img", "link") and "://" in value and _loads(tag, attrs):
                    self.outside.append(value)


def _loads(tag: str, attrs: list[tuple[str, str | None]]) -> bool:
    return tag != "link" or ("rel", "stylesheet") in attrs


def read(path: Path) -> _Page:
    """Read the links and anchors of a page."""
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def broken_links(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, or that loads something from outside."""
    pages = {
        path.resolve(): read(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts
    }
    problems = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        problems += [f"{where}: loads {url} from elsewhere" for url in page.outside]
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                problems.append(f"{where}: no file for {link}")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{where}: no anchor for {link}")
    return problems
