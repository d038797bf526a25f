import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from filbert.report.html import render
from tests.report.explanations import explanation, hostile

CHROMIUM = os.environ.get("FILBERT_CHROMIUM") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, without a sandbox since tests may run as root."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def rendered() -> dict[str, str]:
    """Reports by name."""
    explanations = {
        "many": explanation(),
        "binary": explanation(["no", "yes"]),
        "hostile": hostile(),
    }
    return {name: render(made) for name, made in explanations.items()}


@pytest.fixture(scope="session")
def pages(rendered: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same as files."""
    folder = tmp_path_factory.mktemp("report")
    paths = {name: folder / f"{name}.html" for name in rendered}
    for name, path in paths.items():
        path.write_text(rendered[name], encoding="utf-8")
    return paths


class Visit:
    """A page, with all that it says and asks for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.noise: list[str] = []
        page.on("console", lambda message: self.noise.append(message.text))
        page.on("pageerror", lambda error: self.noise.append(str(error)))
        page.on("dialog", lambda dialog: (self.noise.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: self.noise.append(f"request: {request.url[:200]}"))
        page.on("popup", lambda popup: self.noise.append("popup"))

    def open(self, path: Path) -> Any:
        self.page.goto(path.as_uri())
        assert self.noise.pop(0) == f"request: {path.as_uri()}"
        return self.page


@pytest.fixture
def visit(browser: Any, pages: dict[str, Path]) -> Iterator[Callable[..., Any]]:
    """Open a report; afterwards nothing may have been said or asked for."""
    contexts, visits = [], []

    def opened(name: str, *, width: int = 1280, scheme: str = "light", script: bool = True) -> Any:
        contexts.append(
            browser.new_context(
                viewport={"width": width, "height": 800},
                color_scheme=scheme,
                java_script_enabled=script,
                reduced_motion="reduce",
            )
        )
        visits.append(Visit(contexts[-1].new_page()))
        return visits[-1].open(pages[name])

    yield opened
    noise = [message for one in visits for message in one.noise]
    for context in contexts:
        context.close()
    assert noise == []
