"""The report as a file: its structure, its size, and that labels stay text."""

import base64
import json
import re
import zlib
from copy import deepcopy
from html.parser import HTMLParser
from random import Random
from typing import Any

import pytest

from filbert import TreePerceptron, TreeSVC, explain
from filbert.drawing.labels import title_of
from filbert.errors import InvalidParameterError
from filbert.kernels import PartialTree, SubsetTree, Subtree
from filbert.report.html import render
from filbert.report.notebook import render_notebook
from filbert.report.view import level
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


def unpacked(text: str) -> Any:
    """Return what the script of a page gets."""
    [packed] = re.findall('id="data">([A-Za-z0-9+/=]*)</script>', text)
    return json.loads(zlib.decompress(base64.b64decode(packed)))


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
    assert {tag for tag, _ in hostile_page.tags} <= {tag for tag, _ in page.tags}
    n_scripts = [tag for tag, _ in hostile_page.tags].count("script")
    assert n_scripts == 3


def test_the_script_gets_every_hostile_label_as_data(rendered: dict[str, str]) -> None:
    data = unpacked(rendered["hostile"])
    whole = {int(number): text for number, text in data["whole"].items()}
    labels = {whole.get(i, text) for i, text in enumerate(data["labels"])}
    assert len(hostile_labels()) >= 100
    assert labels >= set(map(title_of, hostile_labels()))


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


@pytest.mark.parametrize(
    ("name", "value", "gone"),
    [
        ("metrics", None, "confusion"),
        ("data", None, "Nodes</dt>"),
        ("examples", [], 'id="examples"'),
        ("trees", [], 'class="link"'),
    ],
)
def test_parts_may_be_missing(name: str, value: Any, gone: str) -> None:
    made = explanation()
    if name == "trees":  # nothing refers to them
        made["examples"] = []
        for problem in made["problems"]:
            for fragment in [*problem["for"], *problem["against"]]:
                fragment["examples"] = fragment["occurrences"] = []
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


def test_a_large_explanation_is_below_three_megabytes() -> None:
    """200 examples of ten classes, with 61 nodes that all have different values."""
    random = Random(0)
    trees = [arrays(f"(S {'(phrase some words in it)' * 10})") for _ in range(200)]
    for i, tree in enumerate(trees):
        tree["labels"][1:] = [f"{label}{(i * j) % 91}" for j, label in enumerate(tree["labels"])]
    made = explanation([f"class {i}" for i in range(10)], trees)
    made["trees"] = made["trees"][:20]
    for one in made["examples"]:
        one["contributions"] = [
            [random.gauss(0, 0.1) for _ in values] for values in one["contributions"]
        ]
    size = len(render(made).encode())
    assert 300_000 < size < 1_500_000


def test_many_large_trees_are_folded_more() -> None:
    """Pages of the web: 200 examples and many linked trees, all of several hundred nodes."""
    random = Random(0)
    tags = ["div", "p", "a", "ul", "li", "td", "span", "code"]
    trees = [chain([random.choice(tags) for _ in range(500)]) for _ in range(200)]
    made = explanation([f"class {i}" for i in range(10)], trees)
    made["trees"] = [{**tree, "note": ""} for tree in trees * 3]
    for one in made["examples"]:
        one["contributions"] = [
            [random.gauss(0, 0.1) for _ in one["tree"]["labels"]] for _ in range(10)
        ]
    page = render(made)
    data = unpacked(page)
    drawn = [len(one["drawing"]["labels"]) for one in (*data["trees"], *data["examples"])]
    assert len(drawn) == 800
    assert min(drawn) >= 130
    assert len(page.encode()) < 3_000_000


def test_of_a_large_tree_the_script_gets_what_is_drawn() -> None:
    tree = arrays(f"(S {'(phrase some words in it)' * 400})")
    made = explanation(trees=[tree, tree])
    last = len(tree["labels"]) - 1
    for problem in made["problems"]:
        problem["for"][0]["occurrences"] = [[last - 4, last], []]
    data = unpacked(render(made))
    for one in data["examples"]:
        drawing = one["drawing"]
        n = len(drawing["labels"])
        assert n - len(drawing["hidden"]) == 400
        assert n + sum(drawing["hidden"].values()) - len(drawing["hidden"]) == last + 1
        assert {len(values) for values in (drawing["parents"], *one["contributions"])} == {n}
        assert drawing["parents"][0] == -1
        assert all(0 <= parent < i for i, parent in enumerate(drawing["parents"]) if i)
    [[number, places], _] = data["fragments"][0]["trees"]
    labels = data["trees"][number]["drawing"]["labels"]
    assert [data["labels"][labels[place]] for place in places] == ["phrase", "it"]  # is drawn


def test_values_keep_three_decimals_and_four_digits() -> None:
    made = explanation(["no", "yes"])
    for one, largest in zip(made["examples"], (123.4567, 0.98765, 2.2222e-5, 0.0), strict=False):
        one["contributions"] = [[largest, -largest / 3, *one["contributions"][0][2:]]]
        one["contributions"][0][2:] = [0.0] * len(one["contributions"][0][2:])
    for one, before in zip(unpacked(render(made))["examples"], made["examples"][:4], strict=False):
        values = [value * one["unit"] for value in one["contributions"][0]]
        largest = max(map(abs, before["contributions"][0]))
        assert values == pytest.approx(before["contributions"][0], abs=min(6e-5, 1e-3 * largest))


X = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(Q (VP b) (NP a))", "(Q (VP c) (NP d))", "(X d)"]
Y = ["statement", "statement", "question", "question", "other"]


@pytest.mark.parametrize(
    "learner",
    [
        TreeSVC(SubsetTree(), C=1.0, loss="hinge"),
        TreeSVC(PartialTree(), C=1.0, loss="hinge"),
        TreeSVC(Subtree(), strategy="sdag+", random_state=0, C=1.0),
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
