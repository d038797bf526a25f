"""The drawings of docs/how-it-works.md: a small forest, its classes and columns.

Everything that is drawn is computed from the forest: its distinct subtrees, the fragments, their
classes and the columns. The trees are those of the page, of which a test makes sure.
"""

import re
from itertools import product
from pathlib import Path
from xml.sax.saxutils import escape

from filbert import Forest, Tree

PAGE = Path(__file__).resolve().parents[1] / "how-it-works.md"
DECAY = 0.5
INK, PALE, LINE = "#1f2933", "#e8edf3", "#9aa7b4"
COLOURS = ("#2a67b0", "#c2691c", "#3b8a5a", "#8a4f9e", "#b8891b", "#a23b56", "#43808a", "#5f6b76")


def page_forest() -> Forest:
    """Return the trees that the page shows first."""
    text = PAGE.read_text("utf-8")
    [block] = re.findall(r"forest = Forest\(\n    \[\n(.*?)\n    \]\n\)", text, re.DOTALL)
    return Forest(re.findall(r'"(.*?)"', block))


# ------------------------------------------------------------------ what is drawn


def fragments(node: Tree) -> dict[str, int]:
    """Return the fragments rooted at a node of a small tree, with their numbers of productions."""
    if node.is_leaf:
        return {}
    choices = [
        [(c.label if c.is_leaf else f"({c.label} …)", 0), *fragments(c).items()]
        for c in node.children
    ]
    return {
        f"({node.label} {' '.join(text for text, _ in chosen)})": 1 + sum(n for _, n in chosen)
        for chosen in product(*choices)
    }


def distinct_subtrees(forest: Forest) -> list[Tree]:
    """Return the distinct subtrees that have children, in the order of their labels and sizes."""
    found = dict.fromkeys(n for tree in forest for n in tree.nodes() if not n.is_leaf)
    return sorted(found, key=lambda node: (-node.depth, node.label, str(node)))


Classes = dict[tuple[int, ...], tuple[str, int, float]]


def classes_of(distinct: list[Tree]) -> Classes:
    """Return the places of each class -> its largest fragment, number of fragments and mass."""
    places: dict[str, list[int]] = {}
    size: dict[str, int] = {}
    for u, node in enumerate(distinct):
        for text, n in fragments(node).items():
            places.setdefault(text, []).append(u)
            size[text] = n
    found: dict[tuple[int, ...], list[str]] = {}
    for text, where in places.items():
        found.setdefault(tuple(where), []).append(text)
    return {
        where: (max(texts, key=lambda t: size[t]), len(texts), sum(DECAY ** size[t] for t in texts))
        for where, texts in found.items()
    }


def columns_of(
    forest: Forest, distinct: list[Tree], classes: Classes
) -> dict[tuple[int, ...], float]:
    """Return the counts by tree -> the mass, of each column."""
    number = {node: u for u, node in enumerate(distinct)}
    nodes = [[number[n] for n in tree.nodes() if not n.is_leaf] for tree in forest]
    columns: dict[tuple[int, ...], float] = {}
    for where, (_, _, mass) in classes.items():
        counts = tuple(sum(u in where for u in own) for own in nodes)
        columns[counts] = columns.get(counts, 0.0) + mass
    return dict(sorted(columns.items(), key=lambda item: (-sum(item[0]), item[0][::-1])))


# ------------------------------------------------------------------ pieces of pictures


class Picture:
    """An SVG that grows."""

    def __init__(self, width: float, height: float) -> None:
        self.size = (width, height)
        self.parts: list[str] = []

    def _add(self, tag: str, text: str = "", **attributes: object) -> None:
        listed = " ".join(
            f'{name.replace("_", "-")}="{value:.1f}"'
            if isinstance(value, float)
            else f'{name.replace("_", "-")}="{value}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.parts.append(f"<{tag} {listed}>{escape(text)}</{tag}>")

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = LINE) -> None:
        """Draw a line."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour, stroke_width=1.3)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        colour: str = INK,
        size: float = 12,
        anchor: str = "middle",
        bold: bool = False,
        mono: bool = False,
        turn: float = 0,
    ) -> None:
        """Write a text whose middle line is at y."""
        self._add(
            "text",
            text,
            x=x,
            y=y + size * 0.35,
            fill=colour,
            font_size=size,
            text_anchor=anchor,
            font_weight=600 if bold else None,
            font_family="ui-monospace, monospace" if mono else None,
            transform=f"rotate({turn} {x:.1f} {y:.1f})" if turn else None,
        )

    def box(
        self, x: float, y: float, width: float, height: float, fill: str, stroke: str = "none"
    ) -> None:
        """Draw a rectangle around (x, y)."""
        self._add(
            "rect",
            x=x - width / 2,
            y=y - height / 2,
            width=width,
            height=height,
            rx=4,
            fill=fill,
            stroke=stroke,
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 6) -> None:
        """Draw a disc."""
        self._add("circle", cx=x, cy=y, r=radius, fill=colour)

    def node(self, x: float, y: float, label: str, colour: str | None) -> None:
        """Draw a node: a box for an inner node, a text for a word."""
        if colour is None:
            self.text(x, y, label, size=12)
        else:
            self.box(x, y, 9 * len(label) + 14, 20, colour)
            self.text(x, y, label, colour="#fff", bold=True)

    def svg(self) -> str:
        """Return the whole picture, on white."""
        width, height = self.size
        head = 'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif"'
        size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
        return (
            f'<svg {head} {size}><rect width="100%" height="100%" fill="#fff"/>'
            + "".join(self.parts)
            + "</svg>\n"
        )


def _draw_tree(picture: Picture, tree: Tree, x: float, y: float, colours: dict[Tree, str]) -> None:
    step, level = 52.0, 44.0

    def draw(node: Tree, left: float, depth: int) -> tuple[float, float]:
        right, middles = left, []
        for child in node.children:
            middle, right = draw(child, right, depth + 1)
            middles.append(middle)
        if not middles:
            middles, right = [left + step / 2], left + step
        middle = (middles[0] + middles[-1]) / 2
        for below in middles if not node.is_leaf else []:
            picture.line(middle, y + depth * level + 10, below, y + (depth + 1) * level - 10)
        picture.node(middle, y + depth * level, node.label, colours.get(node))
        return middle, right

    draw(tree, x, 0)


def _colours(distinct: list[Tree], forest: Forest) -> dict[Tree, str]:
    """One colour for each subtree that occurs in several trees, grey for the others."""
    several = [u for u in distinct if sum(u in set(tree.nodes()) for tree in forest) > 1]
    colours = {u: COLOURS[i % len(COLOURS)] for i, u in enumerate(several)}
    return {u: colours.get(u, "#9aa7b4") for u in distinct}


# ------------------------------------------------------------------ the pictures


def draw_forest(forest: Forest) -> str:
    """Draw the trees side by side; equal subtrees have the same colour."""
    colours = _colours(distinct_subtrees(forest), forest)
    picture = Picture(180 * len(forest) + 10, 200)
    for i, tree in enumerate(forest):
        picture.text(180 * i + 88, 16, f"tree {i + 1}", colour="#5f6b76", size=12)
        _draw_tree(picture, tree, 180 * i + 12, 46, colours)
    return picture.svg()


def draw_dag(forest: Forest) -> str:
    """Draw each distinct subtree once, by depth, with the trees as roots."""
    distinct = distinct_subtrees(forest)
    colours = _colours(distinct, forest)
    words = sorted({leaf for tree in forest for leaf in tree.leaves()})
    width = 760.0
    at: dict[object, tuple[float, float]] = {}
    labels = ("S", "NP", "VP", "D", "N", "V")
    first = {n: i for i, tree in reversed(list(enumerate(forest))) for n in tree.nodes()}

    def order(node: Tree) -> tuple[int, int, str]:
        return labels.index(node.label), first[node], str(node)

    # VP is above V as NP is above D and N, so they share a line.
    rows = [
        [n for n in distinct if n.label in names]
        for names in (("S",), ("NP", "VP"), ("D", "N", "V"))
    ]
    for r, row in enumerate(rows):
        for i, node in enumerate(sorted(row, key=order)):
            at[node] = (width * (i + 0.5) / len(row), 50 + 68 * r)
    for node in rows[2]:
        at[node.children[0].label] = (at[node][0], 50 + 68 * 3 - 14)
    picture = Picture(width, 256)
    for node in distinct:
        x, y = at[node]
        for child in node.children:
            cx, cy = at[child.label if child.is_leaf else child]
            picture.line(x, y + 10, cx, cy - 10, colours[node])
    for word in words:
        picture.node(*at[word], word, None)
    for node in distinct:
        picture.node(*at[node], node.label, colours[node])
    for i, tree in enumerate(forest):
        x, y = at[tree]
        picture.text(x, y - 26, f"tree {i + 1}", colour="#5f6b76")
    return picture.svg()


def draw_classes(forest: Forest) -> str:
    """Draw the shared classes against the distinct subtrees."""
    distinct = distinct_subtrees(forest)
    shared = {w: c for w, c in classes_of(distinct).items() if len(w) > 1}
    used = sorted({u for where in shared for u in where})
    left, top, step, row = 330.0, 112.0, 30.0, 27.0
    picture = Picture(left + step * len(used) + 110, top + row * len(shared) + 20)
    for j, u in enumerate(used):
        x = left + step * (j + 0.5)
        label = " ".join(distinct[u].leaves())
        picture.text(
            x, top - 14, f"{distinct[u].label}  {label}", anchor="start", size=11, turn=-60
        )
    heads = {"colour": "#5f6b76", "size": 11}
    picture.text(left - 10, top - 16, "the largest fragment of the class", anchor="end", **heads)
    picture.text(left + step * len(used) + 60, top - 16, "mass", colour="#5f6b76", size=11)
    for i, (where, (text, n, mass)) in enumerate(shared.items()):
        y = top + row * (i + 0.5)
        colour = COLOURS[i % len(COLOURS)]
        if i % 2 == 0:
            picture.box(picture.size[0] / 2, y, picture.size[0] - 8, row, "#f4f6f9")
        more = f"  and {n - 1} more" if n > 1 else ""
        short = text.replace(" …", "…")
        picture.text(left - 10, y, short + more, anchor="end", size=10, mono=True)
        xs = [left + step * (used.index(u) + 0.5) for u in where]
        picture.line(xs[0], y, xs[-1], y, colour)
        for x in xs:
            picture.dot(x, y, colour)
        picture.text(left + step * len(used) + 60, y, f"{mass:g}", size=11)
    return picture.svg()


def draw_columns(forest: Forest) -> str:
    """Draw A, with counts in the cells and masses above, and the kernel matrix."""
    distinct = distinct_subtrees(forest)
    columns = columns_of(forest, distinct, classes_of(distinct))
    cell, left, top = 46.0, 70.0, 46.0
    n = len(forest)
    kernel = [
        [sum(m * c[i] * c[j] for c, m in columns.items()) for j in range(n)] for i in range(n)
    ]
    width = left + cell * len(columns) + 60 + 64 * n + 20
    picture = Picture(width, top + cell * n + 40)
    picture.text(left - 8, top - 16, "mass", anchor="end", colour="#5f6b76", size=11)
    for j, (counts, mass) in enumerate(columns.items()):
        x = left + cell * (j + 0.5)
        private = sum(c > 0 for c in counts) == 1
        colour = "#9aa7b4" if private else COLOURS[j % len(COLOURS)]
        picture.text(x, top - 16, f"{mass:.3g}", size=11)
        for i, count in enumerate(counts):
            y = top + cell * (i + 0.5)
            picture.box(x, y, cell - 4, cell - 4, colour if count else PALE)
            picture.text(x, y, str(count) if count else "", colour="#fff", bold=True)
    for i in range(n):
        picture.text(left - 8, top + cell * (i + 0.5), f"tree {i + 1}", anchor="end", size=11)
    first_private = sum(sum(c > 0 for c in counts) > 1 for counts in columns)
    below = top + cell * n + 16
    picture.text(left + cell * first_private / 2, below, "shared columns", colour="#5f6b76")
    picture.text(
        left + cell * (first_private + len(columns)) / 2, below, "private columns", colour="#5f6b76"
    )
    right = left + cell * len(columns) + 60
    picture.text(right - 30, top + cell * n / 2, "→", size=22)
    picture.text(right + 32 * n, below, "K = A Aᵀ", colour="#5f6b76")
    for i, j in product(range(n), range(n)):
        x, y = right + 64 * (j + 0.5), top + cell * (i + 0.5)
        picture.box(x, y, 60, cell - 4, "#dce8f5" if i != j else "#b9d2ee")
        picture.text(x, y, f"{kernel[i][j]:.2f}", size=11)
    return picture.svg()


def draw_walk(forest: Forest) -> str:
    """Draw the walk through the children of NP -> D N as a tree of sets."""
    phrases = [n for n in distinct_subtrees(forest) if n.label == "NP"]
    names = [" ".join(node.leaves()) for node in phrases]
    width, height = 760.0, 325.0
    picture = Picture(width, height)

    def branch(members: list[int]) -> str:
        return "{ " + ", ".join(names[i] for i in members) + " }"

    def card(x: float, y: float, members: list[int], note: str) -> None:
        alone = len(members) == 1
        picture.box(x, y, 178, 40, "#f4f6f9" if alone else "#dce8f5", LINE if alone else "#2a67b0")
        picture.text(x, y - 7, branch(members), size=11, colour="#5f6b76" if alone else INK)
        picture.text(x, y + 9, note, size=10, colour="#5f6b76")

    def chosen(slot: int, members: list[int]) -> dict[str, list[int]]:
        groups: dict[str, list[int]] = {}
        for i in members:
            groups.setdefault(str(phrases[i].children[slot]), []).append(i)
        return groups

    everyone = list(range(len(phrases)))
    card(width / 2, 30, everyone, f"start: λ = {DECAY}")
    steps = [("(D …)", everyone, DECAY)] + [
        (text, members, DECAY * DECAY) for text, members in chosen(0, everyone).items()
    ]
    picture.text(8, 60, "child 1", anchor="start", colour="#5f6b76", size=11)
    picture.text(8, 178, "child 2", anchor="start", colour="#5f6b76", size=11)
    columns = [130.0, 380.0, 630.0]
    for (text, members, mass), x in zip(steps, columns, strict=True):
        picture.line(width / 2, 50, x, 110)
        picture.text(
            (width / 2 + x) / 2 + (18 if x >= width / 2 else -18), 78, text, size=11, mono=True
        )
        card(
            x, 130, members, f"mass {mass:g}" if len(members) > 1 else "one member: to its diagonal"
        )
        if len(members) == 1:
            continue
        ends = [("(N …)", members, mass)] + [
            (below, some, mass * DECAY) for below, some in chosen(1, members).items()
        ]
        kept = [end for end in ends if len(end[1]) > 1]
        for k in range(len(kept)):  # the second class hangs from the left, behind the first
            picture.line(x - 70 * k, 150, x - 70 * k, 215 + 56 * k)
        for k, (below, some, value) in enumerate(kept):
            y = 235 + 56 * k
            card(x, y, some, f"{below}: a class of mass {value:g}")
    return picture.svg()


def draw_all(folder: Path) -> list[Path]:
    """Write all drawings into a folder."""
    forest = page_forest()
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "forest": draw_forest,
        "dag": draw_dag,
        "classes": draw_classes,
        "columns": draw_columns,
        "walk": draw_walk,
    }
    written = []
    for name, draw in pictures.items():
        written.append(folder / f"{name}.svg")
        written[-1].write_text(draw(forest), "utf-8")
    return written


if __name__ == "__main__":
    print(*draw_all(Path("build/drawings")))
