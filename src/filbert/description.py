"""Figures about a forest, as plain data and as text."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import islice
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert._core import Dag
from filbert.node_arrays import Ids, NodeArrays

_SHOWN = 8  # labels and leaves in the text
_BARS = 12  # lines of a histogram in the text
_BAR_WIDTH = 30


@dataclass(frozen=True)
class Spread:
    """The range of some numbers. All are 0 if there are none."""

    min: int
    median: float
    mean: float
    max: int


@dataclass(frozen=True, repr=False)
class ForestDescription:
    """Figures about a forest.

    Attributes
    ----------
    n_trees, n_distinct_trees : int
    n_nodes, n_leaves : int
        The nodes and the leaves of all trees, counting repeated ones each time.
    n_subtrees : int
        The distinct subtrees, which are the nodes that are stored.
    size, depth : Spread
        The nodes per tree, and the nodes on the longest path from the root to a leaf.
    branching : Spread
        The number of children of inner nodes.
    depth_counts, branching_counts : dict
        For each depth, the number of trees; for each number of children, that of inner nodes.
    label_counts, leaf_counts : dict
        For each label, the number of inner nodes or leaves that have it; the most frequent first.

    Examples
    --------
    >>> from filbert import Forest
    >>> Forest(["(S (NP a) (VP b))", "(S (NP a) (VP (V b) (NP a)))"]).describe()
    2 trees, 2 distinct
    13 nodes, 5 of them leaves; 8 distinct subtrees stored (61.5 % of the nodes)
    <BLANKLINE>
                     min    median      mean       max
    nodes              5       6.5       6.5         8
    depth              3       3.5       3.5         4
    children           1         1     1.375         2
    <BLANKLINE>
    depth   trees
        3       1  ##############################
        4       1  ##############################
    <BLANKLINE>
    4 labels of inner nodes: NP 3, S 2, VP 2, V 1
    2 leaves: a 3, b 2
    """

    n_trees: int
    n_distinct_trees: int
    n_nodes: int
    n_leaves: int
    n_subtrees: int
    size: Spread
    depth: Spread
    branching: Spread
    depth_counts: dict[int, int]
    branching_counts: dict[int, int]
    label_counts: dict[str, int]
    leaf_counts: dict[str, int]

    @property
    def stored_share(self) -> float:
        """The distinct subtrees divided by the nodes: the smaller, the more trees share."""
        return self.n_subtrees / self.n_nodes if self.n_nodes else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as dictionaries and numbers that JSON can store.

        JSON has only strings as keys, so the keys of histograms are strings.
        """
        plain = {**asdict(self), "stored_share": self.stored_share}
        for name in ("depth_counts", "branching_counts"):
            plain[name] = {str(key): count for key, count in plain[name].items()}
        return plain

    def __repr__(self) -> str:
        return str(self)  # the counts of all labels would fill the screen

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{_counted(self.n_trees, 'tree')}, {self.n_distinct_trees:,} distinct",
                f"{_counted(self.n_nodes, 'node')}, {self.n_leaves:,} of them leaves; "
                f"{_counted(self.n_subtrees, 'distinct subtree')} stored "
                f"({100 * self.stored_share:.3g} % of the nodes)",
                "",
                f"{'':10}{'min':>10}{'median':>10}{'mean':>10}{'max':>10}",
                _line("nodes", self.size),
                _line("depth", self.depth),
                _line("children", self.branching),
                "",
                *_histogram(self.depth_counts),
                *([""] if self.depth_counts else []),
                _frequent(self.label_counts, "label", " of inner nodes"),
                _frequent(self.leaf_counts, "leaf", plural="leaves"),
            ]
        )


def described_forest(dag: Dag, roots: Ids) -> ForestDescription:
    """Return figures about the trees with these roots."""
    nodes = NodeArrays.of(dag, roots)
    sizes, depths = Counter(dag.sizes(roots).tolist()), Counter(dag.depths(roots).tolist())
    listed = _occurrences(nodes)
    n_nodes, is_leaf = sum(listed), nodes.is_leaf
    counts = np.array(listed, dtype=np.int64 if n_nodes < 2**63 else object)
    labels = _sums_by(nodes.node_labels[~is_leaf], counts[~is_leaf])
    leaves = _sums_by(nodes.node_labels[is_leaf], counts[is_leaf])
    branching = _sums_by(nodes.n_children[~is_leaf], counts[~is_leaf])
    return ForestDescription(
        n_trees=len(roots),
        n_distinct_trees=len(np.unique(roots)),
        n_nodes=n_nodes,
        n_leaves=sum(leaves.values()),
        n_subtrees=len(nodes),
        size=_spread(sizes),
        depth=_spread(depths),
        branching=_spread(branching),
        depth_counts=dict(sorted(depths.items())),
        branching_counts=dict(sorted(branching.items())),
        label_counts=_by_frequency(labels, nodes.labels),
        leaf_counts=_by_frequency(leaves, nodes.labels),
    )


def _occurrences(nodes: NodeArrays) -> list[int]:
    """Return how often each distinct node occurs in all trees, without a limit."""
    counts: list[int] = np.bincount(nodes.roots, minlength=len(nodes)).tolist()
    below, begins = nodes.children.tolist(), [0, *nodes.child_ends.tolist()]
    for node in range(len(nodes) - 1, -1, -1):  # parents before children
        count = counts[node]
        for child in below[begins[node] : begins[node + 1]]:
            counts[child] += count
    return counts


def _sums_by(keys: NDArray[Any], counts: NDArray[Any]) -> Counter[int]:
    """Return the sum of the counts of each key."""
    order = np.argsort(keys, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    sums = np.add.reduceat(counts[order], first) if len(first) else counts
    return Counter(dict(zip(distinct.tolist(), sums.tolist(), strict=True)))


def _by_frequency(counts: Counter[int], labels: list[str]) -> dict[str, int]:
    """Return the counts by label, the most frequent first, equal ones in order of their labels."""
    named = [(labels[label], count) for label, count in counts.items()]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


def _spread(counts: Counter[int]) -> Spread:
    if not counts:
        return Spread(0, 0.0, 0.0, 0)
    n = sum(counts.values())
    mean = Fraction(sum(value * count for value, count in counts.items()), n)
    return Spread(min(counts), _median(counts, n), float(mean), max(counts))


def _median(counts: Counter[int], n: int) -> float:
    """Return the median of n numbers, of which each occurs so often as counts says."""
    values, passed = sorted(counts), 0
    middle: list[int] = []
    for value in values:
        passed += counts[value]
        if not middle and 2 * passed >= n:
            middle.append(value)
        if 2 * passed > n:
            middle.append(value)
            break
    return float(median(middle))


def _counted(n: int, noun: str, plural: str = "") -> str:
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def _line(name: str, spread: Spread) -> str:
    numbers = (spread.min, spread.median, spread.mean, spread.max)
    return f"{name:10}" + "".join(f"{_short(number):>10}" for number in numbers)


def _short(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def _histogram(counts: Mapping[int, int]) -> Iterable[str]:
    """Yield lines with bars. Many values are joined to ranges of equal width."""
    if not counts:
        return
    first, last = min(counts), max(counts)
    width = -(-(last - first + 1) // _BARS)
    joined: Counter[int] = Counter()
    for value, count in counts.items():
        joined[(value - first) // width] += count
    names = {}
    for i in range((last - first) // width + 1):
        begin, end = first + i * width, min(first + (i + 1) * width - 1, last)
        names[i] = str(begin) if begin == end else f"{begin}-{end}"
    wide = max(5, *map(len, names.values()))
    most = max(joined.values())
    yield f"{'depth':>{wide}}{'trees':>8}"
    for i, name in names.items():
        bar = "#" * -(-_BAR_WIDTH * joined[i] // most)
        yield f"{name:>{wide}}{joined[i]:>8,}  {bar}".rstrip()


def _frequent(counts: Mapping[str, int], noun: str, what: str = "", plural: str = "") -> str:
    shown = ", ".join(f"{label} {count:,}" for label, count in islice(counts.items(), _SHOWN))
    more = ", …" if len(counts) > _SHOWN else ""
    return f"{_counted(len(counts), noun, plural)}{what}{': ' if shown else ''}{shown}{more}"
