"""Trees as text with lines."""

from filbert._core import Dag


def draw(dag: Dag, root: int, *, max_lines: int, max_depth: int) -> str:
    """Draw the subtree of `root`, one node a line; a single leaf stands beside its parent.

    Iterative, and bounded in both directions: a chain of a million nodes would otherwise need a
    million columns.
    """
    lines: list[str] = []
    # What is still to draw: a node, what stands before its label and what before its children.
    stack = [(root, "", "", 1)]
    while stack:
        if len(lines) >= max_lines:
            lines.append("…")
            break
        node, prefix, inner, depth = stack.pop()
        children = dag.children(node).tolist()
        text = prefix + _printable(dag.label(node))
        if len(children) == 1 and len(dag.children(children[0])) == 0:
            text += " ─ " + _printable(dag.label(children[0]))
            children = []
        elif children and depth >= max_depth:
            text += " ─ …"
            children = []
        lines.append(text)
        for i in reversed(range(min(len(children), max_lines + 1))):
            last = i == len(children) - 1
            branch, below = ("└─ ", "   ") if last else ("├─ ", "│  ")
            stack.append((children[i], inner + branch, inner + below, depth + 1))
    return "\n".join(lines)


def _printable(label: str) -> str:
    """Keep line breaks and other control characters of a label from breaking the drawing."""
    if label.isprintable():
        return label
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in label)
