"""The report as a file: its structure, its size, and that labels stay text."""

import json
import re
from copy import deepcopy
from html.parser import HTMLParser
from typing import Any

import pytest

from filbert import TreePerceptron, TreeSVC, explain
from filbert.drawing.labels import printable
from filbert.errors import InvalidParameterError
from filbert.kernels import PartialTree, Subtree
from filbert.report import view
from filbert.report.html import render
from filbert.report.notebook import render_notebook
from filbert.report.trees import level
from tests.report.explanations import arrays, chain, explanation, hostile, hostile_labels

_VOID = {"meta", "link", "input", "path", "rect", "use", "circle"}


class Page(HTMLParser):
    """The tags of a page, its attributes and its texts by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def values(self, *names: str) -> list[str | None]:
        return [value for _, attrs in self.tags for key, value in attrs.items() if key in names]


@pytest.fixture(scope="module")
def page(rendered: dict[str, str]) -> Page:
    return Page(rendered["many"])


@pytest.fixture(scope="module")
def hostile_page(rendered: dict[str, str]) -> Page:
    return Page(rendered["hostile"])


def test_the_page_is_well_formed(page: Page, hostile_page: Page) -> None:
    assert page.open == hostile_page.open == []
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    targets = {value.removeprefix("#") for value in page.values("href") if value[0] == "#"}
    assert targets <= set(ids)


def test_it_refers_to_nothing_outside(page: Page, hostile_page: Page) -> None:
    for one in (page, hostile_page):
        assert all(re.match("#|data:image/svg", value) for value in one.values("href"))
        assert one.values("src", "srcset", "action", "data", "xlink:href", "style") == []
        assert not [name for _, attrs in one.tags for name in attrs if name.startswith("on")]


def test_its_policy_allows_nothing_but_itself(page: Page) -> None:
    [policy] = [
        attrs["content"] for tag, attrs in page.tags if tag == "meta" and "http-equiv" in attrs
    ]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert policy.count("'sha256-") == 3


def test_hostile_labels_add_no_tags(page: Page, hostile_page: Page) -> None:
    assert {tag for tag, _ in hostile_page.tags} <= {tag for tag, _ in page.tags} | {"pre"}
    n_scripts = [tag for tag, _ in hostile_page.tags].count("script")
    assert n_scripts == 3


def test_every_hostile_label_is_there_as_text(hostile_page: Page) -> None:
    drawn = set(hostile_page.texts["text"])
    assert len(hostile_labels()) >= 100
    for label in hostile_labels():
        text = printable(label)
        assert text in drawn or any(
            len(text) > 28 and one.endswith("…") and text.startswith(one[:-1]) for one in drawn
        )


def test_no_character_can_turn_the_page_around_or_break_it(rendered: dict[str, str]) -> None:
    text = rendered["hostile"]
    text.encode("utf-8")  # no half of a pair
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", text
    )


def test_text_of_unknown_origin_is_isolated() -> None:
    text = render(explanation(["abc", "שלום", "x"], title="עולם"))
    for one in ("שלום", "עולם"):
        inside = re.findall(f"(<[^<]*)>{one}<", text)
        assert inside
        assert {tag.split()[0] for tag in inside} <= {"<bdi", "<option", "<title", "<text"}


def test_the_program_gets_numbers_alone(hostile_page: Page) -> None:
    [numbers] = [text for text in hostile_page.texts["script"] if text.startswith("{")]

    def leaves(part: Any) -> list[Any]:
        if isinstance(part, dict | list):
            inner = part.values() if isinstance(part, dict) else part
            return [leaf for one in inner for leaf in leaves(one)]
        return [part]

    assert {type(leaf) for leaf in leaves(json.loads(numbers))} == {int, float}


@pytest.mark.parametrize(
    ("name", "value", "gone"),
    [
        ("metrics", None, "confusion"),
        ("data", None, "Nodes</dt>"),
        ("examples", [], 'id="examples"'),
        ("trees", [], 'id="trees"'),
    ],
)
def test_parts_may_be_missing(name: str, value: Any, gone: str) -> None:
    made = explanation()
    if name == "trees":  # nothing refers to them
        made["examples"] = []
        for problem in made["problems"]:
            for fragment in [*problem["for"], *problem["against"]]:
                fragment["examples"] = []
    whole = render(made)
    made[name] = value
    body = render(made).partition("<body>")[2].partition("<script")[0]
    assert gone not in body
    assert name in ("examples", "trees") or gone in whole
    Page(render(made))


def test_a_model_without_fragments_or_convergence_or_labels() -> None:
    made = explanation()
    made["model"]["convergence"] = []
    for problem in made["problems"]:
        problem["for"] = problem["against"] = []
    for example in made["examples"]:
        example["actual"] = None
        example["support"] = []
    page = Page(render(made))
    assert "fragments" not in page.values("id")
    assert "example-0" in page.values("id")
    assert "wrong only" not in "".join(page.texts["label"])


def test_a_large_explanation_is_a_few_megabytes() -> None:
    trees = [arrays(f"(S {'(phrase some words in it)' * 10})")] * 200  # 61 nodes
    size = len(render(explanation(trees=trees)).encode())
    assert 1_000_000 < size < 5_000_000


def test_what_is_too_much_to_draw_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST_DRAWN", 30)
    monkeypatch.setattr(view, "MOST_DRAWN_SUPPORT", 10)
    page = Page(render(explanation(trees=[chain([f"n{i}" for i in range(10)])] * 5)))
    assert len(page.texts["pre"]) == 2 + 4  # examples and support vectors
    assert "├─ n1\n" in page.texts["pre"][-1]


def test_of_a_large_tree_the_program_gets_what_is_drawn() -> None:
    tree = arrays(f"(S {'(phrase some words in it)' * 400})")
    page = Page(render(explanation(trees=[tree, tree])))
    [numbers] = [json.loads(text) for text in page.texts["script"] if text.startswith("{")]
    for one in numbers["examples"]:
        lengths = {len(values) for values in (one["parents"], *one["contributions"])}
        assert lengths == {400}
        assert one["parents"][0] == -1
        assert all(0 <= parent < place for place, parent in enumerate(one["parents"]) if place)


X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))", "(X d)"]
Y = ["statement", "statement", "question", "question", "other"]


@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(),
        TreeSVC(PartialTree()),
        TreeSVC(Subtree(), strategy="sdag+", random_state=0),
        TreePerceptron(),
    ],
)
def test_explanations_of_models_are_shown(learner: Any) -> None:
    for made in (
        explain(learner.fit(X, Y), X, Y),
        explain(learner, X),
        explain(learner),
        explain(learner.fit(X[:4], Y[:4]), X[:4], Y[:4], top=0),
    ):
        assert Page(render(made.to_dict())).open == []
        assert Page(render_notebook(made.to_dict())).open == []


def test_rendering_changes_nothing_and_is_the_same_each_time() -> None:
    made = explanation()
    before = deepcopy(made)
    assert render(made) == render(made)
    assert made == before


@pytest.mark.parametrize("show", [render, render_notebook])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "not an explanation"),
        ({"format": "else", "version": 1}, "not an explanation"),
        ([], "not an explanation"),
        ({"format": "filbert-explanation", "version": 2}, "version 2"),
    ],
)
def test_only_explanations_are_shown(show: Any, wrong: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        show(wrong)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (0.019, 0), (0.02, 1), (0.19, 1), (0.2, 2), (0.99, 5), (1, 5), (-0.5, -3), (-1, -5)],
)
def test_levels_are_equal_steps(value: float, expected: int) -> None:
    assert level(3 * value, 3.0) == expected
    assert level(value, 0.0) == 0


# ---------------------------------------------------------------- notebooks


@pytest.mark.parametrize("made", [explanation(), explanation(["no", "yes"]), hostile()])
def test_a_notebook_gets_mark_up_without_programs(made: dict[str, Any]) -> None:
    page = Page(render_notebook(made))
    assert page.open == []
    tags = {tag for tag, _ in page.tags}
    assert tags.isdisjoint({"script", "iframe", "img", "link", "a", "object"})
    assert [tag for tag, _ in page.tags].count("style") == 1
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert page.values("href", "src") == []


def test_a_notebook_shows_what_matters_most() -> None:
    page = Page(render_notebook(explanation()))
    texts = [text for some in page.texts.values() for text in some]
    assert "Questions, statements and orders" in texts
    assert "+1.000" in texts
    assert "\u22123.000" in texts
    assert page.texts["text"].count("barks") >= 3
