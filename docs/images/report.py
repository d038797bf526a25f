"""Makes report.png: a part of the report on the functions of Python's standard library.

Also makes fragments.png, the fragments of that part.

Needs chromium and Pillow besides ``pip install ".[browser]"``.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from sklearn.model_selection import GroupShuffleSplit

from filbert import Explanation, TreeSVC, explain
from filbert.datasets import load_stdlib_functions
from filbert.kernels import SubsetTree

TARGET = Path(__file__).with_suffix(".png")
SIZE = {"width": 1200, "height": 1630}
FRAGMENTS = (
    40,
    456,
    1760,
    968,
)  # left, top, right and bottom of the cards, in pixels of the picture


def explanation() -> Explanation:
    """Explain what a function is called, no module being both in training and in test."""
    data = load_stdlib_functions()
    modules = [name.split(".")[0] for name in data.names]
    [(train, test)] = GroupShuffleSplit(1, test_size=0.25, random_state=0).split(
        data.target, groups=modules
    )
    clf = TreeSVC(SubsetTree(), C=3, loss="hinge", random_state=0).fit(
        data.data[train], data.target[train]
    )
    title = "What is a function called?"
    return explain(clf, data.data[test], data.target[test], max_examples=200, title=title)


def photograph(page: Page) -> None:
    """Look for fragments that raise, and at a function that checks something."""
    page.select_option("#fragment-class", label="check")
    page.fill("#fragment-text", "body (Raise …")
    page.click("#example-rows a:has-text('_state NotEq RUN ValueError')")
    page.mouse.move(2, 2)
    page.evaluate("document.activeElement.blur()")
    page.evaluate("document.querySelector('#example-rows [aria-current]').scrollIntoView()")
    page.evaluate("document.querySelector('#fragments').scrollIntoView()")
    shot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    few_colours = shot.quantize(256, kmeans=2, dither=Image.Dither.NONE)
    few_colours.save(TARGET, optimize=True)
    few_colours.crop(FRAGMENTS).save(TARGET.with_name("fragments.png"), optimize=True)


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder, "report.html")
        explanation().to_html(path)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.5, reduced_motion="reduce")
        page.goto(path.as_uri())
        page.wait_for_selector("html.ready", state="attached")
        photograph(page)
        browser.close()


if __name__ == "__main__":
    main()
