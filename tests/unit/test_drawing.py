"""Trees drawn as text and as SVG: complete, readable, and safe whatever the labels are."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, Tree
from filbert.drawing.layout import Layout, layout
from filbert.drawing.svg import tree_svg
from filbert.drawing.text import draw_arrays
from filbert.errors import InvalidParameterError
from tests.profiles import n_examples

SVG = "{http://www.w3.org/2000/svg}"
HEIGHT = 20  # of a node's box


def tree_of(text: str) -> Tree:
    return Forest([text])[0]


def shown(svg: str) -> list[str]:
    """The labels in a drawing, node by node."""
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def titles(svg: str) -> list[str]:
    return [title.text or "" for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]


# ---------------------------------------------------------------- text


def test_values_stand_in_front_of_a_drawing() -> None:
    tree = tree_of("(S (NP a) (VP b))")
    assert tree.draw(values=[0.5, -1, 0, 0.25, 0.125]).splitlines() == [
        "+0.500 ██     S",
        "-1.000 ░░░░░  ├─ NP ─ a",
        "+0.250 █      └─ VP",
        "+0.125 █         └─ b",
    ]
    assert tree.draw(values=[0] * 5).splitlines()[0].strip() == "S"


@pytest.mark.parametrize("values", [[1, 2], [[1] * 5], [1, 2, 3, 4, float("nan")]])
def test_values_must_fit_the_tree(values: list[float]) -> None:
    tree = tree_of("(S (NP a) (VP b))")
    for draw in (tree.draw, tree.to_svg):
        with pytest.raises(InvalidParameterError, match="one for each of the 5 nodes"):
            draw(values=values)


def test_open_nodes_are_marked_in_text() -> None:
    drawn = draw_arrays(["S", "NP", "VP"], [-1, 0, 0], open=[False, True, False])
    assert drawn.splitlines() == ["S", "├─ NP …", "└─ VP"]


def test_parents_are_in_preorder() -> None:
    labels, parents = tree_of("(S (NP (D a)) (VP b))").to_parents()
    assert labels == ["S", "NP", "D", "a", "VP", "b"]
    assert parents == [-1, 0, 1, 2, 0, 4]


# ---------------------------------------------------------------- layout


@st.composite
def parents_and_widths(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    """A tree in preorder: each node's parent is on the path to the node before it."""
    parents, path = [-1], [0]
    for node in range(1, draw(st.integers(1, 60))):
        del path[draw(st.integers(1, len(path))) :]
        parents.append(path[-1])
        path.append(node)
    width = st.floats(10, 200)
    return parents, draw(st.lists(width, min_size=len(parents), max_size=len(parents)))


def boxes(placed: Layout, widths: list[float]) -> list[tuple[float, float, float, float]]:
    return [
        (x - w / 2, y - HEIGHT / 2, x + w / 2, y + HEIGHT / 2)
        for (x, y), w in zip(placed.centres, widths, strict=True)
    ]


@n_examples(40)
@given(parents_and_widths(), st.sampled_from([200.0, 500.0, 2000.0]))
def test_nodes_do_not_overlap_and_stay_inside(
    tree: tuple[list[int], list[float]], max_width: float
) -> None:
    parents, widths = tree
    placed = layout(parents, widths, max_width=max_width)
    drawn = boxes(placed, widths)
    for a, b in combinations(drawn, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (a, b)
    for left, top, right, bottom in drawn:
        assert left >= -1e-6
        assert top >= 0
        assert right <= placed.width + 1e-6
        assert bottom <= placed.height
    for node, parent in enumerate(parents[1:], 1):
        assert placed.centres[node][1] > placed.centres[parent][1]
        assert len(placed.lines[node]) >= 2


def test_a_wide_tree_stays_within_its_width() -> None:
    n = 60
    placed = layout([-1] + [0] * n, [70.0] * (n + 1), max_width=900)
    assert placed.width <= 900
    assert placed.height < 600
    narrow = layout([-1] + [0] * n, [70.0] * (n + 1), max_width=300)
    assert narrow.width <= 300


@pytest.mark.parametrize("side", ["left", "right"])
def test_depth_does_not_add_to_the_width(side: str) -> None:
    n = 100
    if side == "right":
        text = "(S (W w) " * n + "end" + ")" * n
    else:
        text = "(S " * n + "end" + " (W w))" * n
    _, parents = tree_of(text).to_parents()
    placed = layout(parents, [40.0] * len(parents), max_width=600)
    assert placed.width < 700


def test_neighbours_are_even() -> None:
    """A small subtree between two large ones is in the middle, not close to one of them."""
    parents = [-1, 0, 1, 1, 1, 0, 0, 6, 6, 6]
    placed = layout(parents, [30.0] * 10)
    left, middle, right = (placed.centres[node][0] for node in (1, 5, 6))
    assert middle == pytest.approx((left + right) / 2)


# ---------------------------------------------------------------- SVG


def test_each_node_is_drawn_with_its_number() -> None:
    tree = tree_of("(S (NP (D a) (N dog)) (VP (V ran)))")
    labels, parents = tree.to_parents()
    svg = tree_svg(labels, parents)
    assert tree.to_svg() == svg == tree._repr_svg_()
    assert shown(svg) == labels
    groups = ElementTree.fromstring(svg).findall(f"{SVG}g")
    assert [int(group.attrib["data-node"]) for group in groups] == list(range(len(labels)))


def test_values_decide_colours() -> None:
    tree = tree_of("(S (NP a) (VP b))")
    svg = tree.to_svg(values=[2, -2, 0, 0, 1])
    fills = [rect.attrib["fill"] for rect in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert len(set(fills)) == 4  # for, less so, against, and two nodes of no value
    assert fills[2] == fills[3]
    assert titles(svg) == ["S: +2.000", "NP: -2.000", "a: 0", "VP: 0", "b: +1.000"]


def test_open_nodes_have_a_dashed_frame() -> None:
    svg = tree_svg(["S", "NP", "VP"], [-1, 0, 0], open=[False, True, False])
    rects = list(ElementTree.fromstring(svg).iter(f"{SVG}rect"))
    assert ["stroke-dasharray" in rect.attrib for rect in rects] == [False, True, False]


HOSTILE = [
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "]]>",
    "&amp;&#0;",
    "a\x00b\x1b[31m\x07",
    "\u202egnp.exe",
    "\ud800",
    "\ufffe\uffff",
    "",
    "  ",
    "ネコ\u0301é",
    "x" * 10_000,
]


def test_hostile_labels_are_text() -> None:
    parents = [-1] + [0] * (len(HOSTILE) - 1)
    svg = tree_svg(HOSTILE, parents)
    root = ElementTree.fromstring(svg)
    assert {element.tag for element in root.iter()} == {
        SVG + name for name in ("svg", "path", "g", "title", "rect", "text")
    }
    assert titles(svg)[0] == HOSTILE[0]
    assert titles(svg)[-1] == HOSTILE[-1]
    assert all(len(text) <= 40 for text in shown(svg))
    assert not re.search("[\x00-\x08\u202e\ud800-\udfff\ufffe\uffff]", svg)


def test_large_trees_are_folded() -> None:
    star = tree_of(f"(S {' '.join(map(str, range(5000)))})")
    svg = star.to_svg(max_nodes=50)
    assert len(shown(svg)) == 51
    assert titles(svg)[-1] == "4,951 nodes are not shown"
    chain = tree_of("(a " * 4999 + "a" + ")" * 4999)
    assert (
        titles(chain.to_svg())[-1]
        == f"{5000 - len(shown(chain.to_svg())) + 1:,} nodes are not shown"
    )
    labels, parents = star.to_parents()
    assert tree_svg(labels, parents, max_nodes=50) == svg


def test_folding_keeps_the_nodes_of_the_largest_values() -> None:
    labels = ["S", *(f"n{i}" for i in range(1000))]
    parents = [-1, *(0 if i % 10 == 0 else i for i in range(1000))]
    values = [0.0] * 1001
    values[997] = 5.0
    svg = tree_svg(labels, parents, values=values, max_nodes=40)
    assert "n996" in shown(svg)
    hidden = [int(t.split()[0].replace(",", "")) for t in titles(svg) if "not shown" in t]
    assert len([t for t in shown(svg) if t != "…"]) + sum(hidden) == 1001


def test_a_tree_with_more_nodes_than_atoms() -> None:
    """Equal subtrees are stored once, so a drawing must not go through all occurrences."""
    text = "(a b)"
    for _ in range(12):
        text = f"(a {text} {text})"
    tree = tree_of(text)
    assert tree.n_nodes > 10_000
    svg = tree.to_svg(max_nodes=30)
    hidden = [int(t.split()[0].replace(",", "")) for t in titles(svg) if "not shown" in t]
    assert 30 + sum(hidden) == tree.n_nodes


@pytest.mark.parametrize(
    ("labels", "parents", "match"),
    [
        ([], [], "has a root"),
        (["a"], [0], "has a root"),
        (["a", "b"], [-1], "parents must have one entry"),
        (["a", "b"], [-1, 1], "preorder"),
        (["a", "b", "c", "d"], [-1, 0, 0, 1], "preorder"),
        (["a", "b"], [-1, -1], "preorder"),
    ],
)
def test_arrays_must_be_a_tree(labels: list[str], parents: list[int], match: str) -> None:
    with pytest.raises(InvalidParameterError, match=match):
        tree_svg(labels, parents)


def test_limits_must_leave_something_to_draw() -> None:
    tree = tree_of("(a b)")
    with pytest.raises(InvalidParameterError, match="max_nodes"):
        tree.to_svg(max_nodes=0)
    with pytest.raises(InvalidParameterError, match="max_width"):
        tree.to_svg(max_width=-1)
