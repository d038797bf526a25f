"""The report in a real browser: Debian's chromium, by Playwright."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

Open = Callable[..., Any]


def texts(page: Any, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_inner_texts()]


def focused(page: Any, what: str = "id") -> Any:
    return page.evaluate(f"document.activeElement.{what}")


# ---------------------------------------------------------------- rendering


def test_it_opens_on_the_summary(visit: Open) -> None:
    page = visit("many")
    assert page.title() == "Questions, statements and orders"
    assert page.locator("h1").is_visible()
    assert texts(page, ".tiles dd") == ["66.7\u202f%", "60.0\u202f%", "6", "55", "3", "4,321"]
    assert page.locator(".confusion tbody td").count() == 9
    assert page.locator(".charts .chart .line").count() == 6


@pytest.mark.parametrize("name", ["many", "binary", "hostile"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_does_not_scroll_sideways(visit: Open, name: str, width: int) -> None:
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_colours_can_be_read(visit: Open, scheme: str) -> None:
    """WCAG 2 asks for a contrast of 4.5 between text and what it stands on."""
    page = visit("many", scheme=scheme)
    contrasts = page.evaluate(_CONTRASTS)
    assert len(contrasts) == 11
    assert min(contrasts) >= 4.5


# Paints one node in all levels in turn, and measures.
_CONTRASTS = """() => {
  const node = document.querySelector(".example.current .node:not(.leaf)");
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  return [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5].map((level) => {
    node.dataset.level = level;
    const a = light(getComputedStyle(node.querySelector("rect")).fill);
    const b = light(getComputedStyle(node.querySelector("text")).fill);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}"""


def test_the_theme_follows_the_system_and_can_be_changed(visit: Open) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = visit("many", scheme="light").evaluate(background)
    page = visit("many", scheme="dark")
    dark = page.evaluate(background)
    assert light != dark
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.click("#theme")
    assert page.evaluate(background) == light
    page.click("#theme")
    assert page.evaluate(background) == dark


def test_without_a_program_everything_is_there(visit: Open) -> None:
    page = visit("many", script=False)
    assert page.locator(".fragment").count() == 24
    assert page.locator(".fragment >> visible=true").count() == 24
    assert page.locator(".example >> visible=true").count() == 6
    assert page.locator(".needs-js >> visible=true").count() == 0
    levels = {node.get_attribute("data-level") for node in page.locator(".node").all()}
    assert len(levels) > 5  # coloured


def test_paper_gets_what_is_shown_without_controls(visit: Open) -> None:
    page = visit("many", scheme="dark")
    page.click("#example-rows a >> nth=2")
    page.emulate_media(media="print")
    assert page.locator("h1, .example.current, .fragment").first.is_visible()
    assert page.locator(".fragment >> visible=true").count() == 24
    assert page.locator("#example-2 .support").is_visible()
    assert page.locator("form >> visible=true, button >> visible=true").count() == 0
    assert (
        page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(26, 29, 33)"
    )
    assert page.pdf().startswith(b"%PDF")


# ---------------------------------------------------------------- fragments


def test_fragments_are_sorted(visit: Open) -> None:
    page = visit("many")
    weights = [abs(float(w.replace("\u2212", "-"))) for w in texts(page, ".fragment .weight")]
    assert weights == sorted(weights, reverse=True)
    for order, pattern in (("frequency", r"\d+ times"), ("large", r"\d+ nodes")):
        page.select_option("#fragment-sort", order)
        found = page.evaluate(
            f"[...document.querySelectorAll('.fragment .meta')]"
            f".map((meta) => parseInt(/{pattern}/.exec(meta.textContent)[0]))"
        )
        assert found == sorted(found, reverse=True)
        assert len(set(found)) > 1


def test_fragments_are_filtered(visit: Open) -> None:
    page = visit("many")
    assert texts(page, "#fragment-count") == ["24 fragments"]
    page.select_option("#fragment-class", label="question")
    assert texts(page, "#fragment-count") == ["8 of 24 fragments"]
    page.check("input[name=fragment-side][value=against]", force=True)
    assert set(texts(page, ".fragment .chip")) == {"against question"}
    page.fill("#fragment-frequency", "17")
    assert page.locator(".fragment").count() == 2
    page.fill("#fragment-text", "SLEEPS")
    assert texts(page, ".fragment .text") == ["(S (NP …) (VP (V sleeps)))"]
    page.fill("#fragment-text", "unicorn")
    assert page.locator(".fragment").count() == 0
    page.click("#fragment-reset")
    assert page.locator(".fragment").count() == 24


def test_more_fragments_are_shown_when_asked_for(visit: Open) -> None:
    page = visit("hostile")
    assert texts(page, "#fragment-count") == ["96 fragments"]
    assert page.locator(".fragment").count() == 24
    page.focus("#fragment-more")
    page.keyboard.press("Enter")
    assert page.locator(".fragment").count() == 48
    assert page.evaluate("document.activeElement.closest('.fragment:nth-child(25)') !== null")


def test_two_classes_have_one_problem(visit: Open) -> None:
    page = visit("binary")
    assert page.locator("#fragment-class").count() == 0
    assert set(texts(page, ".fragment .chip")) == {"for yes", "for no"}
    page.check("input[name=fragment-side][value=against]", force=True)
    assert set(texts(page, ".fragment .chip")) == {"for no"}
    assert page.locator("#example-0 .score").count() == 1


# ---------------------------------------------------------------- examples


def test_examples_are_filtered(visit: Open) -> None:
    page = visit("many")
    rows = "#example-rows li >> visible=true"
    assert page.locator(rows).count() == 6
    page.check("#example-wrong")
    assert page.locator(rows).count() == 2
    assert page.locator("#example-2").is_visible()  # the first that is left
    page.uncheck("#example-wrong")
    page.select_option("#example-class", label="statement")
    assert page.locator(rows).count() == 4  # predicted or actual
    page.fill("#example-text", "Asleep")
    assert page.locator(rows).count() == 1
    page.fill("#example-text", "unicorn")
    assert page.locator("#example-empty").is_visible()


def test_a_class_is_chosen_for_the_colours(visit: Open) -> None:
    page = visit("many")
    node = page.locator("#example-0 .node[data-node='1']")
    assert node.get_attribute("data-level") == "3"  # 0.2, where the largest is 0.5
    page.check("#example-0 .score input[value='1']")
    assert node.get_attribute("data-level") == "5"
    assert node.get_attribute("aria-label") == "NP: +0.500 for question"
    assert texts(page, "#example-0 .adds") == ["+1.500", "+0.500"]
    total, intercept, score = texts(page, "#example-0 .sum b")
    assert float(total.replace("\u2212", "-")) + float(intercept) == pytest.approx(
        float(score.replace("\u2212", "-"))
    )


def test_pointing_at_a_node_says_what_it_adds(visit: Open) -> None:
    page = visit("many")
    page.hover("#example-0 .node[data-node='1']")
    assert texts(page, "#tip") == ["NP +0.200 for statement"]
    page.hover("h1")
    assert not page.locator("#tip").is_visible()


def test_support_vectors_are_shown_in_a_dialog(visit: Open) -> None:
    page = visit("many")
    page.click("#example-0 .tree-link >> nth=1")
    assert page.locator("#dialog .tree").is_visible()
    assert "training example 1" in page.locator("#dialog").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#dialog").is_visible()
    assert focused(page, "className") == "tree-link"


# ---------------------------------------------------------------- keyboard


def test_the_skip_link_comes_first(visit: Open) -> None:
    page = visit("many")
    page.keyboard.press("Tab")
    assert focused(page, "className") == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert focused(page) == "content"


def test_focus_can_be_seen(visit: Open) -> None:
    page = visit("many")
    page.evaluate(  # few fragments, so that one is soon around
        """() => {
          const field = document.querySelector("#fragment-text");
          field.value = "barks";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    seen = set()
    while True:
        page.keyboard.press("Tab")
        if focused(page, "localName") == "body":  # once around
            break
        seen.add(focused(page, "closest('[id]')?.id"))
        assert page.evaluate(_IS_OUTLINED), focused(page, "outerHTML.slice(0, 200)")
    assert {"theme", "fragment-text", "example-text", "example-rows", "example-0"} <= seen


# A radio button is unseen, and the text beside it has the outline; a tree's node has a frame.
_IS_OUTLINED = """() => {
  const { outlineStyle, outlineWidth, strokeWidth } = getComputedStyle(
    document.activeElement.querySelector("rect")
    || document.activeElement.parentElement.querySelector(".segments :focus-visible + span")
    || document.activeElement);
  const [frame, outline] = [parseFloat(strokeWidth), parseFloat(outlineWidth)];
  return (outlineStyle !== "none" && outline >= 2) || frame >= 2;
}"""


def test_arrow_keys_go_from_example_to_example(visit: Open) -> None:
    page = visit("many")
    page.focus("#example-rows [aria-current]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert focused(page, "hash") == "#example-1"
    assert page.locator(".example >> visible=true").get_attribute("id") == "example-1"
    assert page.evaluate("location.hash") == "#example-1"
    page.keyboard.press("End")
    assert page.locator("#example-5").is_visible()
    assert page.locator("#example-rows [tabindex='0']").count() == 1


def test_arrow_keys_go_from_node_to_node(visit: Open) -> None:
    page = visit("many")
    page.focus("#example-0 .node[data-node='0']")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert focused(page, "dataset.node") == "5"  # S, NP, D, N, dog
    assert focused(page, "getAttribute('aria-label')").startswith("dog: ")
    assert page.locator("#tip").inner_text().startswith("dog ")
    page.keyboard.press("ArrowUp")
    assert focused(page, "dataset.node") == "4"
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_an_address_can_name_an_example(visit: Open) -> None:
    page = visit("many")
    page.evaluate("location.hash = '#example-3'")
    page.wait_for_function("document.querySelector('#example-3.current')")
    assert page.locator("#example-3").is_visible()


# ---------------------------------------------------------------- hostile labels


def test_hostile_labels_execute_nothing(visit: Open) -> None:
    page = visit("hostile")
    page.fill("#fragment-text", "<")
    page.fill("#fragment-text", "")
    page.select_option("#fragment-class", index=2)
    page.check("input[name=fragment-side][value=against]", force=True)
    page.fill("#example-text", "script")
    page.fill("#example-text", "")
    page.evaluate(
        """() => {  // all examples, all of their classes, each node, all support vectors
          for (const link of document.querySelectorAll("#example-rows a")) link.click();
          for (const radio of document.querySelectorAll(".current .score input")) radio.click();
          document.querySelector("#example-rows a").click();
          for (const node of document.querySelectorAll(".current .node")) node.focus();
          for (const link of document.querySelectorAll(".current .tree-link")) {
            link.click();
            document.querySelector("#dialog").close();
          }
        }"""
    )
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.scripts.length") == 3
    assert page.evaluate("document.querySelectorAll('style, link, base, meta').length") == 8
    assert page.evaluate(_STRANGERS) == []


# Elements that the report does not have, attributes that run something, links that lead away.
_STRANGERS = """() => {
  const known = "a article b bdi body button circle code dd details dialog div dl dt fieldset "
    + "figcaption figure footer form g h1 h2 h3 h4 head header html i input label legend li link "
    + "main meta nav ol option p path pre rect script section select span strong style summary svg "
    + "symbol table tbody td text th thead title tr ul use";
  const names = new Set(known.split(" "));
  return [...document.querySelectorAll("*")].filter((element) =>
    !names.has(element.localName)
    || [...element.attributes].some((attribute) => /^on|^src/.test(attribute.name))
    || (element.hasAttribute("style") && element.id !== "tip")  // which is moved
    || (element.hasAttribute("href") && !/^(#|data:image\\/svg)/.test(element.getAttribute("href")))
  ).map((element) => element.outerHTML.slice(0, 200))
}"""


def test_the_policy_forbids_other_scripts_and_styles(browser: Any, pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["many"].as_uri())
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hit = 1";
          document.body.append(script);
          document.body.setAttribute("onclick", "window.hit = 1");
          document.body.click();
          document.body.setAttribute("style", "display: none");
        }"""
    )
    assert page.evaluate("window.hit") is None
    assert page.locator("h1").is_visible()
    assert page.evaluate("fetch('data:,x').then(() => 'allowed', () => 'forbidden')") == "forbidden"
    page.close()
