"""The report in a real browser: Debian's chromium, by Playwright.

A page takes a tenth of a second to open, so each test looks at several things.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from filbert.drawing.labels import title_of
from tests.report.explanations import hostile_labels

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


@pytest.mark.parametrize("name", ["many", "hostile"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_does_not_scroll_sideways(visit: Open, name: str, width: int) -> None:
    page = visit(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.check("input[name=fragment-view][value=table]", force=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_text_in_colours_can_be_read(visit: Open) -> None:
    """WCAG 2 asks for a contrast of 4.5 between text and what it stands on."""
    page = visit("many")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        contrasts = page.evaluate(_CONTRASTS)
        assert len(contrasts) == 12
        assert min(contrasts) >= 4.5


# Paints one node in all levels in turn, marks it as part of an occurrence, and measures.
_CONTRASTS = """() => {
  const node = document.querySelector("#example-tree .node:not(.leaf)");
  const light = (colour) => {
    const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const contrast = () => {
    const a = light(getComputedStyle(node.querySelector("rect")).fill);
    const b = light(getComputedStyle(node.querySelector("text")).fill);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const contrasts = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5].map((level) => {
    node.dataset.level = level;
    return contrast();
  });
  node.dataset.level = 0;
  node.classList.add("hit");
  contrasts.push(contrast());
  node.classList.remove("hit");
  return contrasts;
}"""


def test_the_theme_follows_the_system_and_can_be_changed(visit: Open) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    page = visit("many")
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(background)
    assert light != dark
    page.wait_for_selector('#theme[aria-pressed="true"]')  # the page is told a little later
    page.click("#theme")
    assert page.evaluate(background) == light
    page.click("#theme")
    assert page.evaluate(background) == dark


def test_without_a_script_figures_and_lists_are_there(visit: Open) -> None:
    page = visit("many", script=False)
    assert "does not run here" in page.locator(".no-js").inner_text()
    assert page.locator(".fragments tbody tr >> visible=true").count() == 24
    assert page.locator("#example-rows li >> visible=true").count() == 6
    assert page.locator(".needs-js >> visible=true").count() == 0


def test_paper_gets_what_is_shown_without_controls(visit: Open) -> None:
    page = visit("many")
    page.emulate_media(color_scheme="dark", media="print")
    assert page.locator("h1").is_visible()
    assert page.locator(".fragment >> visible=true").count() == 24
    assert page.locator("#example .support").is_visible()
    assert page.locator("form >> visible=true").count() == 0
    assert page.locator("button >> visible=true").count() == 2  # texts of nearest trees
    assert (
        page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(26, 29, 33)"
    )
    assert page.pdf().startswith(b"%PDF")


# ---------------------------------------------------------------- fragments


def test_fragments_are_sorted(visit: Open) -> None:
    page = visit("many")
    weights = [abs(float(w.replace("\u2212", "-"))) for w in texts(page, ".fragment .weight")]
    assert weights == sorted(weights, reverse=True)
    for order, pattern in (("frequency", r"\d+ times"), ("size", r"\d+ nodes")):
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
    page.uncheck("#fragment-words")
    assert texts(page, "#fragment-count") == ["18 of 24 fragments"]
    assert "(V barks)" not in texts(page, ".fragment .text")
    page.check("#fragment-words")
    page.fill("#fragment-smallest", "4")
    page.fill("#fragment-largest", "4")
    assert set(texts(page, ".fragment .text")) == {"(PP (P at) (NP …))"}
    page.fill("#fragment-smallest", "")
    assert set(texts(page, ".fragment .meta span:nth-child(2)")) == {"2 nodes", "4 nodes"}
    page.fill("#fragment-largest", "")
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


def test_a_table_of_fragments_is_sorted_by_its_heads(visit: Open) -> None:
    page = visit("many")
    page.focus("input[name=fragment-view][value=cards]")
    page.keyboard.press("ArrowRight")  # a table, by keyboard
    rows = ".fragments tbody tr >> visible=true"
    assert page.locator(rows).count() == 24
    assert page.locator(".fragment").count() == 0
    head = page.locator(".fragments [data-key=frequency]")
    for direction in ("descending", "ascending"):
        head.locator("button").press("Enter")
        assert head.get_attribute("aria-sort") == direction
        times = list(map(int, texts(page, ".fragments tbody td:nth-child(4)")))
        assert times == sorted(times, reverse=direction == "descending")
        assert len(set(times)) > 1
    page.click(".fragments [data-key=text] button")
    shown = texts(page, ".fragments code")
    assert shown == sorted(shown, key=str.lower)
    page.fill("#fragment-text", "sleeps")
    assert page.locator(rows).count() == 6
    page.click("#fragment-count")
    page.check("input[name=fragment-view][value=cards]", force=True)
    assert page.locator(".fragment").count() == 6


def test_an_occurrence_is_highlighted_in_its_tree(visit: Open) -> None:
    page = visit("many")
    page.fill("#fragment-text", "barks")
    links = ".fragment >> nth=0 >> .link"
    assert texts(page, links) == ["the dog barks", "a cat sleeps"]
    page.click(f"{links} >> nth=0")
    assert texts(page, "#dialog-title") == ["Where (V barks) occurs"]
    assert page.locator("#dialog .node.hit").all_text_contents() == ["V", "barks"]
    assert page.locator("#dialog .edge.hit").count() == 1
    page.keyboard.press("Escape")
    page.check("input[name=fragment-view][value=table]", force=True)
    page.click(".fragments .link >> nth=0")
    assert page.locator("#dialog .node.hit").all_text_contents() == ["V", "barks"]


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
    assert page.locator("#example .score").count() == 1
    page.hover("#example-tree [data-node='0']")
    assert texts(page, "#tip") == ["S +0.500 for no"]
    page.mouse.move(2, 2)


# ---------------------------------------------------------------- examples


def test_examples_are_filtered(visit: Open) -> None:
    page = visit("many")
    rows = "#example-rows li >> visible=true"
    assert page.locator(rows).count() == 6
    page.check("#example-wrong")
    assert page.locator(rows).count() == 2
    assert texts(page, "#example-number") == ["Example 2, 10 nodes"]  # the first that is left
    page.uncheck("#example-wrong")
    page.select_option("#example-class", label="statement")
    assert page.locator(rows).count() == 4  # predicted or actual
    page.fill("#example-text", "Asleep")
    assert page.locator(rows).count() == 1
    page.fill("#example-text", "unicorn")
    assert page.locator("#example-empty").is_visible()


def test_a_class_is_chosen_for_the_colours(visit: Open) -> None:
    page = visit("many")
    node = page.locator("#example-tree [data-node='1']")
    assert node.get_attribute("data-level") == "3"  # 0.2, where the largest is 0.5
    page.check("#example .score input[value='1']")
    assert node.get_attribute("data-level") == "5"
    assert node.get_attribute("aria-label") == "NP: +0.500 for question"
    assert texts(page, "#example .adds") == ["+1.500", "+0.500"]
    total, intercept, score = texts(page, "#example .sum b")
    assert float(total.replace("\u2212", "-")) + float(intercept) == pytest.approx(
        float(score.replace("\u2212", "-"))
    )


def test_pointing_at_a_node_says_what_it_adds(visit: Open) -> None:
    page = visit("many")
    page.hover("#example-tree [data-node='1']")
    assert texts(page, "#tip") == ["NP +0.200 for statement"]
    page.hover("h1")
    assert not page.locator("#tip").is_visible()


def test_a_finger_gets_values_and_sees_that_wide_trees_scroll(visit: Open) -> None:
    page = visit("hostile", width=390)
    page.tap("#example-tree [data-node='0']")
    assert " for " in page.locator("#tip").inner_text()
    page.tap("#example-title")
    assert not page.locator("#tip").is_visible()
    box = page.locator("#example-tree")
    page.wait_for_selector("#example-tree.more-right")
    assert "gradient" in box.evaluate("(box) => getComputedStyle(box).maskImage")
    assert box.get_attribute("tabindex") == "0"
    box.evaluate("(box) => { box.scrollLeft = box.scrollWidth; }")
    page.wait_for_selector("#example-tree.more-left:not(.more-right)")


def test_support_vectors_are_shown_in_a_dialog(visit: Open) -> None:
    page = visit("many")
    page.click("#example .link >> nth=1")
    assert page.locator("#dialog .tree").is_visible()
    assert "training example 1" in page.locator("#dialog").inner_text()
    assert page.locator("#dialog .hit").count() == 0
    page.keyboard.press("Escape")
    assert not page.locator("#dialog").is_visible()
    assert focused(page, "className") == "link"


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
          field.value = "(S";
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
    assert {"theme", "fragment-text", "fragment-words", "example-text", "example-0"} <= seen


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
    assert texts(page, "#example-title") == ["a cat sleeps"]
    assert page.evaluate("location.hash") == "#example-1"
    page.keyboard.press("End")
    assert texts(page, "#example-title") == ["look at the dog"]
    assert page.locator("#example-rows [tabindex='0']").count() == 1
    page.click("[data-step='-1']")
    assert texts(page, "#example-title") == ["go home"]
    page.evaluate("location.hash = '#example-3'")  # an address can name an example
    page.wait_for_function("document.querySelector('#example-3 [aria-current]')")


def test_arrow_keys_go_from_node_to_node(visit: Open) -> None:
    page = visit("many")
    page.focus("#example-tree [data-node='0']")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert focused(page, "dataset.node") == "5"  # S, NP, D, N, dog
    assert focused(page, "getAttribute('aria-label')").startswith("dog: ")
    assert page.locator("#tip").inner_text().startswith("dog ")
    page.keyboard.press("ArrowUp")
    assert focused(page, "dataset.node") == "4"
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


# ---------------------------------------------------------------- hostile labels


def test_hostile_labels_are_drawn_and_execute_nothing(visit: Open) -> None:
    page = visit("hostile")
    page.fill("#fragment-text", "<")
    page.fill("#fragment-text", "")
    page.select_option("#fragment-class", index=2)
    page.check("input[name=fragment-side][value=against]", force=True)
    page.check("input[name=fragment-view][value=table]", force=True)
    page.check("input[name=fragment-view][value=cards]", force=True)
    page.fill("#example-text", "script")
    page.fill("#example-text", "")
    drawn = page.evaluate(
        """() => {  // all examples, all of their classes, each node, all support vectors
          const drawn = [];
          for (const link of document.querySelectorAll("#example-rows a")) {
            link.click();
            for (const node of document.querySelectorAll("#example-tree [data-node]")) {
              drawn.push(node.getAttribute("aria-label"));
            }
          }
          for (const radio of document.querySelectorAll("#example .score input")) radio.click();
          document.querySelector("#example-rows a").click();
          for (const node of document.querySelectorAll("#example-tree .node")) node.focus();
          for (const link of document.querySelectorAll("#example .link, .fragment .link")) {
            link.click();
            document.querySelector("#dialog").close();
          }
          return drawn;
        }"""
    )
    assert len(hostile_labels()) >= 100
    assert {label.rpartition(": ")[0] for label in drawn} >= set(map(title_of, hostile_labels()))
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.scripts.length") == 3
    assert page.evaluate("document.querySelectorAll('style, link, base, meta').length") == 8
    assert page.evaluate(_STRANGERS) == []


# Elements that the report does not have, attributes that run something, links that lead away.
_STRANGERS = """() => {
  const known = "a article b bdi body button circle code dd dialog div dl dt fieldset figcaption "
    + "figure footer form g h1 h2 h3 h4 head header html i input label legend li link main meta "
    + "nav ol option p path rect script section select span strong style svg symbol table tbody "
    + "td text th thead title tr ul use";
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
    refused = page.evaluate(
        """() => {
          const script = document.createElement("script");
          const attempts = [
            () => { script.textContent = "window.hit = 1"; document.body.append(script); },
            () => { document.querySelector("h1").innerHTML = "<b>bold</b>"; },
            () => { document.body.setAttribute("onclick", "window.hit = 1"); },
          ];
          return attempts.filter((attempt) => {
            try { attempt(); return false; } catch (error) { return error instanceof TypeError; }
          }).length;
        }"""
    )
    assert refused >= 2
    page.evaluate("document.body.setAttribute('style', 'display: none')")
    page.click("h1")
    assert page.evaluate("window.hit") is None
    assert page.locator("h1").is_visible()
    assert page.evaluate("fetch('data:,x').then(() => 'allowed', () => 'forbidden')") == "forbidden"
    page.close()
