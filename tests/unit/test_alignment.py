"""Aligned trees: common fragments against a plain definition, drawings, and the page."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.clones import Alignment, Side, align, clone_classes, clones_to_html
from filbert.errors import FilbertError, InvalidParameterError, MatrixTooLargeError
from tests.profiles import n_examples
from tests.reference.trees import Node, nodes, write
from tests.strategies import forests


def common(a: Node, b: Node) -> int:
    """The largest fragment with these roots: by all alignments of the children."""
    if a.label != b.label:
        return 0

    def best(xs: tuple[Node, ...], ys: tuple[Node, ...]) -> int:
        if not xs or not ys:
            return 0
        size = common(xs[0], ys[0])
        taken = size + best(xs[1:], ys[1:]) if size else 0
        return max(taken, best(xs[1:], ys), best(xs, ys[1:]))

    return 1 + best(tuple(a.children), tuple(b.children))


def ancestors(side: Side, node: int) -> set[int]:
    found = set()
    while side.parents[node] >= 0:
        node = side.parents[node]
        found.add(node)
    return found


def assert_consistent(found: Alignment) -> None:
    """Partners have the same labels, order and ancestors; fragments are connected."""
    first, second = found.first, found.second
    pairs = [(a, b) for a, b in enumerate(first.partner) if b >= 0]
    assert pairs == sorted((a, b) for b, a in enumerate(second.partner) if a >= 0)
    assert [b for _, b in pairs] == sorted(b for _, b in pairs)
    matched = {a for a, _ in pairs}
    for a, b in pairs:
        assert first.labels[a] == second.labels[b]
        assert first.fragment[a] == second.fragment[b] >= 0
        own = {first.partner[x] for x in ancestors(first, a) & matched}
        assert own == {y for y in ancestors(second, b) if second.partner[y] >= 0}
    for side in (first, second):
        counts = np.bincount([f for f in side.fragment if f >= 0], minlength=len(found.sizes))
        assert tuple(counts.tolist()) == found.sizes
        for fragment in range(len(found.sizes)):
            own = {i for i, f in enumerate(side.fragment) if f == fragment}
            assert sum(side.parents[i] not in own for i in own) == 1  # its root
    assert list(found.sizes) == sorted(found.sizes, reverse=True)


@given(forests(2, 2, 9), st.integers(1, 3))
@n_examples(300)
def test_the_largest_common_fragment_is_the_first(trees: list[Node], min_size: int) -> None:
    a, b = trees
    found = align(write(a), write(b), min_size=min_size)
    assert_consistent(found)
    largest = max(common(x, y) for x in nodes(a) for y in nodes(b))
    assert found.sizes[:1] == ((largest,) if largest >= min_size else ())
    assert all(size >= min_size for size in found.sizes)
    again = align(Forest([write(a)])[0], Forest([write(b)])[0], min_size=min_size)
    assert again == found


@given(forests(1, 1, 12))
@n_examples(40)
def test_equal_trees_are_one_fragment(trees: list[Node]) -> None:
    found = align(write(trees[0]), write(trees[0]), min_size=1)
    assert found.first.partner == list(range(len(found.first.labels)))
    assert found.sizes == (len(found.first.labels),)
    assert {line.count("<") + line.count(">") for line in found.draw().split("\n")} == {0}


FIRST = "(F (args (arg x) (arg y)) (body (Assign (Name z) (Call f x)) (Return (Name z))))"
SECOND = "(F (args (arg x) (arg k)) (body (Assign (Name z) (Call f x)) (If (Return (Name z)))))"


def test_both_trees_are_drawn_beside_each_other() -> None:
    found = align(FIRST, SECOND)
    assert found.sizes == (12, 3)
    assert found.draw().split("\n") == [
        "F                F",
        "├ args           ├ args",
        "│ ├ arg ─ x      │ ├ arg ─ x",
        "│ └ arg ─ y    | │ └ arg ─ k",
        "└ body           └ body",
        "  ├ Assign         ├ Assign",
        "  │ ├ Name ─ z     │ ├ Name ─ z",
        "  │ └ Call         │ └ Call",
        "  │   ├ f          │   ├ f",
        "  │   └ x          │   └ x",
        "  │            >   └ If",
        "  └ Return           └ Return",
        "    └ Name ─ z         └ Name ─ z",
    ]
    few = found.draw(context=1).split("\n")
    assert few[0] == "… 2 equal lines"
    assert few[4] == "… 4 equal lines"
    assert few[-1] == "… 1 equal line"


@given(forests(2, 2, 12), st.integers(20, 60), st.none() | st.integers(0, 3))
@n_examples(100)
def test_drawings_have_all_labels_and_no_long_line(
    trees: list[Node], width: int, context: int | None
) -> None:
    found = align(*map(write, trees))
    drawn = found.draw(width=width, context=context)
    assert max(map(len, drawn.split("\n"))) <= width
    n_different = sum(b < 0 for side in (found.first, found.second) for b in side.partner)
    assert n_different == 0 or any(mark in drawn for mark in "<>|")


def test_deep_trees_need_no_recursion() -> None:
    deep = ["(A " * n + "x" + ")" * n for n in (3000, 50)]
    found = align(*deep)
    assert found.sizes == (51,)
    assert max(map(len, found.draw(width=80).split("\n"))) <= 80


def test_trees_that_are_too_large_are_refused() -> None:
    wide = f"(S {' '.join('a' * 10_001)})"
    with pytest.raises(MatrixTooLargeError, match="10,002 nodes"):
        align(wide, "(S a)")
    with pytest.raises(MatrixTooLargeError, match="pairs of children"):
        align(f"(S {' '.join('ab' * 1000)})", f"(S {' '.join('ba' * 1001)})")


def test_as_many_pairs_of_children_as_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("filbert.clones.alignment._MOST_CELLS", 6)
    assert align("(S a b)", "(S a b c)").sizes == (3,)
    with pytest.raises(MatrixTooLargeError, match="8 pairs of children"):
        align("(S a b)", "(S a b c d)")


@pytest.mark.parametrize(
    "call",
    [
        lambda: align(3, "(S a)"),
        lambda: align("(S a", "(S a)"),
        lambda: align("(S a)", "(S a)", min_size=0),
        lambda: align("(S a)", "(S a)").draw(width=3),
        lambda: align("(S a)", "(S a)").draw(context=-1),
        lambda: clones_to_html([], ["(S a)"], names=[]),
    ],
)
def test_bad_input(call: Any) -> None:
    with pytest.raises((FilbertError, InvalidParameterError)):
        call()


# ---------------------------------------------------------------- the page


class Page(HTMLParser):
    """The elements of a page, their texts, and the labels by class."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.labels: list[tuple[str, str]] = []
        self.titles: list[str] = []
        self._class = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._class = dict(attributes).get("class") or "" if tag == "bdi" else tag

    def handle_data(self, data: str) -> None:
        if self._class.startswith(("shared", "differs")):
            self.labels.append((self._class, data))
            self._class = ""


def page_of(trees: list[str], **options: Any) -> str:
    found = clone_classes(trees, min_similarity=0.05)
    return clones_to_html(found, trees, **options)


def test_the_page_highlights_common_fragments() -> None:
    page = Page(page_of([FIRST, SECOND]))
    assert page.labels.count(("differs", "If")) == 1
    assert page.labels.count(("shared0", "F")) == 2
    assert page.labels.count(("shared1", "Return")) == 2
    assert ("differs", "y") in page.labels
    assert ("differs", "k") in page.labels
    assert page.tags.count("svg") == 2
    assert "script" not in page.tags


def test_the_page_escapes_labels_and_names() -> None:
    evil = "<script>alert(1)</script>"
    trees = [f"(S (A {evil}) (B {x}) (C (D d) (E e)))" for x in ("\u202ex", "y")]
    names = [f"{evil}.py:1", '"><img src=x onerror=y>']
    page = page_of(trees, names=names, title=evil)
    assert evil not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert not {"script", "img"} & set(Page(page).tags)


def test_the_page_of_equal_trees_and_of_none() -> None:
    equal = page_of(["(S (A a))", "(S (A a))"])
    assert "2 trees, 3 nodes, equal" in equal
    assert Page(equal).tags.count("svg") == 1
    assert "0 classes" in clones_to_html([], ["(S a)"])


def test_the_page_compares_a_few_distinct_members() -> None:
    trees = [f"(S (A a) (B b) (C {leaf}))" for leaf in "uvwxyz"]
    page = page_of([*trees, trees[0]])
    assert "7 trees" in page
    assert Page(page).tags.count("svg") == 2 * 3
    assert "2 other distinct members are not compared here" in page
    assert "not compared here" not in page_of(trees[:4])


def test_fragments_are_numbered_by_their_sizes() -> None:
    found = align("(R (A a) (B b c d e))", "(Q (A a) (B b c d e))")
    assert found.sizes == (5, 2)
    assert found.first.fragment == [-1, 1, 1, 0, 0, 0, 0, 0]


def test_trees_that_are_too_large_are_named_on_the_page() -> None:
    trees = [f"(S (X {' '.join('ab' * n)}) (A a) (B b) (C c))" for n in (1000, 1001)]
    page = page_of(trees)
    assert "Not compared" in page
