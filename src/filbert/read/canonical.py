"""A canonical order of children, for trees in which their order means nothing."""

from collections.abc import Sequence
from itertools import groupby


def sort_children(labels: Sequence[str], label_of: Sequence[int], below: list[list[int]]) -> None:
    """Sort the children of all nodes: by label, then by depth, then by their sorted children.

    Parameters
    ----------
    labels : sequence of str
        Labels, of which several may be equal.
    label_of : sequence of int
        The position of each node's label.
    below : list of lists of int
        The children of each node, whose numbers are smaller than that of the node. They are sorted
        in place.
    """
    ranks = {label: i for i, label in enumerate(sorted(set(labels)))}
    rank_of = [ranks[label] for label in labels]
    depths: list[int] = []
    for own in below:
        depths.append(1 + max([depths[child] for child in own], default=0))
    bits = len(below).bit_length()
    keys = [0] * len(below)  # nodes compare like their keys: by label, depth and content
    by_depth = sorted(range(len(below)), key=depths.__getitem__)
    for depth, level in groupby(by_depth, key=depths.__getitem__):
        same: dict[tuple[int, ...], list[int]] = {}  # nodes that become the same node
        for node in level:
            own = below[node]
            own.sort(key=keys.__getitem__)
            content = (rank_of[label_of[node]], *[keys[child] for child in own])
            same.setdefault(content, []).append(node)
        for place, content in enumerate(sorted(same)):
            key = (((content[0] << bits) + depth) << bits) + place
            for node in same[content]:
                keys[node] = key
