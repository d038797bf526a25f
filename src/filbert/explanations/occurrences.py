"""Where a fragment occurs in a tree."""

from collections.abc import Callable, Sequence

from filbert.explanations.data import PlainTree
from filbert.kernels import TreeKernel
from filbert.read.preorder import children_of

# For the children of a fragment's node and of a tree's node, and the matches of the former: the
# children of the tree's node that match, or None.
Rule = Callable[[Sequence[int], Sequence[int], list[dict[int, list[int]]]], list[int] | None]


class SearchedTree:
    """A tree in which fragments are searched, with its nodes by label."""

    def __init__(self, tree: PlainTree) -> None:
        self.children = children_of(tree.parents)
        self.by_label: dict[str, list[int]] = {}
        for node, label in enumerate(tree.labels):
            self.by_label.setdefault(label, []).append(node)

    def first(self, kernel: TreeKernel, fragment: PlainTree) -> tuple[int, ...]:
        """Return the nodes of the first occurrence, in preorder; empty if there is none.

        Every fragment node is compared with the tree nodes of its label, children first.
        """
        rule = _RULES[kernel.capabilities.children]
        return self.first_by([rule] * len(fragment.parents), fragment)

    def first_by(self, rules: Sequence[Rule], fragment: PlainTree) -> tuple[int, ...]:
        """Return the first occurrence by one rule for each node of the fragment."""
        below = children_of(fragment.parents)
        matches: list[dict[int, list[int]]] = [{} for _ in below]
        for node in reversed(range(len(below))):
            for place in self.by_label.get(fragment.labels[node], []):
                chosen = rules[node](below[node], self.children[place], matches)
                if chosen is not None:
                    matches[node][place] = chosen
        if not matches[0]:
            return ()
        nodes: list[int] = []
        stack = [(0, min(matches[0]))]
        while stack:
            node, place = stack.pop()
            nodes.append(place)
            stack.extend(zip(below[node], matches[node][place], strict=True))
        return tuple(sorted(nodes))


def match_all(
    wanted: Sequence[int], given: Sequence[int], matches: list[dict[int, list[int]]]
) -> list[int] | None:
    """Match all children, and leaves with leaves."""
    if len(wanted) != len(given):
        return None
    pairs = zip(wanted, given, strict=True)
    return list(given) if all(place in matches[node] for node, place in pairs) else None


def _all_or_none(
    wanted: Sequence[int], given: Sequence[int], matches: list[dict[int, list[int]]]
) -> list[int] | None:
    """Match all children, or none if the fragment ends here."""
    return match_all(wanted, given, matches) if wanted else []


def _some_in_order(
    wanted: Sequence[int], given: Sequence[int], matches: list[dict[int, list[int]]]
) -> list[int] | None:
    """Match children in their order, each with the first possible one; others may lie between."""
    chosen: list[int] = []
    for place in given:
        if len(chosen) < len(wanted) and place in matches[wanted[len(chosen)]]:
            chosen.append(place)
    return chosen if len(chosen) == len(wanted) else None


def match_run(*, at_start: bool, at_end: bool) -> Rule:
    """Return a rule for adjacent children, if they must be the first or the last ones, or both."""

    def rule(
        wanted: Sequence[int], given: Sequence[int], matches: list[dict[int, list[int]]]
    ) -> list[int] | None:
        last = len(given) - len(wanted)
        for first in range(last + 1):
            run = list(given[first : first + len(wanted)])
            fits = (first == 0 or not at_start) and (first == last or not at_end)
            if fits and all(p in matches[w] for w, p in zip(wanted, run, strict=True)):
                return run
        return None

    return rule


_RULES: dict[str, Rule] = {"all": match_all, "all or none": _all_or_none, "some": _some_in_order}
