"""Choose the nodes to draw: the whole tree, or its top and the nodes that matter."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from filbert._core import Dag
from filbert.read.preorder import children_of

MAX_DEPTH = 120  # levels that are drawn


@dataclass
class Outline:
    """The nodes to draw, in preorder; an ellipsis is a node that stands for hidden ones.

    Attributes
    ----------
    labels : list of str
    parents : list of int
        -1 for the root.
    numbers : list of int
        The preorder number of each node in the whole tree; -1 for an ellipsis.
    hidden : list of int
        How many nodes an ellipsis stands for; 0 for a node.
    """

    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)

    def add(self, label: str, parent: int, number: int) -> int:
        """Add a node and return its position."""
        self.labels.append(label)
        self.parents.append(parent)
        self.numbers.append(number)
        self.hidden.append(0)
        return len(self.labels) - 1

    def add_ellipsis(self, parent: int, hidden: int) -> None:
        """Add an ellipsis that stands for `hidden` nodes."""
        self.hidden[self.add("…", parent, -1)] = hidden


def outline_of_arrays(
    labels: Sequence[str],
    parents: Sequence[int],
    values: Sequence[float] | None,
    max_nodes: int,
) -> Outline:
    """Choose the nodes of a tree that is given in preorder.

    Half of them are the nodes with the largest values, together with their ancestors. The others
    are the nodes nearest to the root.
    """
    children = children_of(parents)
    kept = _kept(parents, values, max_nodes)
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, 0, -1):
        sizes[parents[node]] += sizes[node]
    outline = Outline()
    stack = [(0, -1)]  # (node, its parent's position); -n stands for an ellipsis of n nodes
    while stack:
        node, parent = stack.pop()
        if node < 0:
            outline.add_ellipsis(parent, -node)
            continue
        place = outline.add(labels[node], parent, node)
        shown: list[int] = []
        for child in children[node]:
            if child in kept:
                shown.append(child)
            elif shown and shown[-1] < 0:
                shown[-1] -= sizes[child]
            else:
                shown.append(-sizes[child])
        stack.extend((child, place) for child in reversed(shown))
    return outline


def _kept(parents: Sequence[int], values: Sequence[float] | None, max_nodes: int) -> set[int]:
    depths = [0] * len(parents)
    for node in range(1, len(parents)):
        depths[node] = depths[parents[node]] + 1
    if len(parents) <= max_nodes and max(depths) < MAX_DEPTH:
        return set(range(len(parents)))
    kept = {0}
    if values is not None:
        by_value = sorted(range(len(parents)), key=lambda node: (-abs(values[node]), node))
        for node in by_value[:max_nodes]:
            if len(kept) >= max_nodes // 2 or values[node] == 0:
                break
            above = _path(parents, node, kept)
            if depths[node] < MAX_DEPTH and len(kept) + len(above) <= max_nodes:
                kept.update(above)
    for node in sorted(range(len(parents)), key=lambda node: (depths[node], node)):
        if len(kept) >= max_nodes or depths[node] >= MAX_DEPTH:
            break
        kept.add(node)
    return kept


def _path(parents: Sequence[int], node: int, kept: set[int]) -> list[int]:
    """Return a node and its ancestors, up to the first that is already kept."""
    path = []
    while node >= 0 and node not in kept:
        path.append(node)
        node = parents[node]
    return path


def outline_of_dag(dag: Dag, root: int, max_nodes: int) -> Outline:
    """Choose the nodes nearest to the root, without visiting any others.

    A tree can have more nodes than fit into memory, because equal subtrees are stored once.
    """
    nodes, children, numbers, depths = [root], [range(0)], [0], [0]
    hidden = [0]
    queue = deque([0])
    while queue:
        place = queue.popleft()
        below = dag.children(nodes[place])
        sizes = [int(size) for size in dag.sizes(below)]
        room = max_nodes - len(nodes) if depths[place] + 1 < MAX_DEPTH else 0
        n_shown = min(len(below), room)
        children[place] = range(len(nodes), len(nodes) + n_shown)
        hidden[place] = sum(sizes[n_shown:])
        number = numbers[place] + 1
        for child, size in zip(below[:n_shown].tolist(), sizes, strict=False):
            queue.append(len(nodes))
            nodes.append(child)
            children.append(range(0))
            numbers.append(number)
            depths.append(depths[place] + 1)
            hidden.append(0)
            number += size
    outline = Outline()
    stack = [(0, -1)]
    while stack:
        place, parent = stack.pop()
        if place < 0:
            outline.add_ellipsis(parent, -place)
            continue
        own = outline.add(dag.label(nodes[place]), parent, numbers[place])
        if hidden[place] > 0:
            stack.append((-hidden[place], own))
        stack.extend((child, own) for child in reversed(children[place]))
    return outline
