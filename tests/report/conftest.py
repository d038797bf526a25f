from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from filbert.report.html import render
from tests.expected import chromium
from tests.report.explanations import explanation, hostile

CHROMIUM = chromium()


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
        assert self.noise == []
        self.page.goto("about:blank")  # without the part of the address that names an example
        self.noise.clear()
        self.page.goto(path.as_uri())
        assert self.noise.pop(0) == f"request: {path.as_uri()}"
        if self.page.evaluate("document.documentElement.classList.contains('js')"):
            self.page.wait_for_selector("html.ready", state="attached")
        return self.page


@pytest.fixture(scope="session")
def visits(browser: Any) -> Iterator[dict[Any, Visit]]:
    """Pages by what distinguishes them; tests share them, since a new one takes long."""
    made: dict[Any, Visit] = {}
    yield made
    for one in made.values():
        one.page.context.close()


@pytest.fixture
def visit(
    browser: Any, pages: dict[str, Path], visits: dict[Any, Visit]
) -> Iterator[Callable[..., Any]]:
    """Open a report; afterwards nothing may have been said or asked for."""

    def opened(name: str, *, width: int = 1280, script: bool = True) -> Any:
        key = (width, script)
        if key not in visits:
            context = browser.new_context(
                viewport={"width": width, "height": 800},
                has_touch=width < 500,
                java_script_enabled=script,
                reduced_motion="reduce",
            )
            context.set_default_timeout(10_000)
            visits[key] = Visit(context.new_page())
        visits[key].page.emulate_media(color_scheme="light", media="screen")
        return visits[key].open(pages[name])

    yield opened
    for one in visits.values():
        noise, one.noise[:] = list(one.noise), []
        assert noise == []
