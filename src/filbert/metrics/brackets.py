"""Labelled brackets of parses, counted by the rules of EVALB."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.errors import InvalidParameterError
from filbert.forest import as_forest
from filbert.tree import Tree

_TOP = ("TOP", "ROOT", "S1", "")
_PUNCTUATION = (",", ":", "``", "''", ".")
_EMPTY = "-NONE-"
_SAME = {"PRT": "ADVP"}  # EVALB takes these labels for equal

Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class BracketCounts:
    """The brackets of parses, sentence by sentence.

    Attributes
    ----------
    matched, guessed, gold : ndarray of int
        The brackets that both trees have, those of the parse, and those of the gold tree.

    Examples
    --------
    >>> from filbert.metrics import count_brackets
    >>> gold = ["(S (NP (N I)) (VP (V saw) (NP (N it))))"]
    >>> counts = count_brackets(gold, ["(S (NP (N I)) (VP (V saw) (PP (N it))))"])
    >>> counts.matched, counts.f1
    (array([3]), 0.75)
    """

    matched: NDArray[np.int64]
    guessed: NDArray[np.int64]
    gold: NDArray[np.int64]

    @property
    def precision(self) -> float:
        """The share of the parses' brackets that are right, 0 if there are none."""
        return _quotient(self.matched.sum(), self.guessed.sum())

    @property
    def recall(self) -> float:
        """The share of the gold trees' brackets that were found, 0 if there are none."""
        return _quotient(self.matched.sum(), self.gold.sum())

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall over all sentences."""
        return _quotient(2 * self.matched.sum(), self.guessed.sum() + self.gold.sum())

    @property
    def exact(self) -> float:
        """The share of sentences whose brackets are all right and complete."""
        right = (self.matched == self.guessed) & (self.matched == self.gold)
        return float(right.mean()) if len(right) else 0.0

    def __getitem__(self, index: Any) -> "BracketCounts":
        """Return the counts of some sentences, such as those of the chosen candidates."""
        arrays = (np.atleast_1d(a[index]) for a in (self.matched, self.guessed, self.gold))
        return BracketCounts(*arrays)


def count_brackets(
    gold: Any, parses: Any, *, punctuation: Iterable[str] = _PUNCTUATION
) -> BracketCounts:
    """Count the labelled brackets of parses that are those of gold trees, as EVALB does.

    A bracket is a label with the words that it covers. Words and their tags are no brackets, and
    neither is the root TOP, ROOT or S1. Punctuation and empty words are left out, by the tags of
    the gold tree. Labels end before the first hyphen or equals sign, and PRT is the same as ADVP.

    Parameters
    ----------
    gold, parses : Forest, or sequence of trees or bracket strings
        Of the same sentences: each word is the only child of its tag.
    punctuation : tuple of str
        The tags of punctuation.

    Returns
    -------
    BracketCounts
        The counts, with precision, recall and F1.

    Raises
    ------
    InvalidParameterError
        If two trees are not of the same words.

    Examples
    --------
    >>> gold = ["(TOP (S (NP (D a) (N b)) (VP (V c)) (. .)))"]
    >>> counts = count_brackets(gold, ["(TOP (S (NP (D a)) (VP (N b) (V c)) (. .)))"])
    >>> counts.matched.tolist(), counts.guessed.tolist(), counts.gold.tolist()
    ([1], [3], [3])
    >>> round(counts.f1, 3)
    0.333
    """
    golden, guessed = as_forest(gold), as_forest(parses)
    if len(golden) != len(guessed):
        raise InvalidParameterError(
            f"there are {len(golden):,} gold trees, but {len(guessed):,} parses"
        )
    left_out = {*punctuation, _EMPTY}
    rows = [
        _counts(number, right, parse, left_out)
        for number, (right, parse) in enumerate(zip(golden, guessed, strict=True))
    ]
    return BracketCounts(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def _counts(number: int, gold: Tree, parse: Tree, left_out: set[str]) -> tuple[int, int, int]:
    words, tags, right = _brackets(gold)
    own_words, own_tags, found = _brackets(parse)
    # Gold trees have empty words, which parsers do not print.
    kept, own_kept = ([t != _EMPTY for t in both] for both in (tags, own_tags))
    if _chosen(words, kept) != _chosen(own_words, own_kept):
        raise InvalidParameterError(
            f"sentence {number}: the words of the gold tree are {' '.join(words)!r:.60}, those of "
            f"the parse are {' '.join(own_words)!r:.60}: pass trees of the same sentences"
        )
    counted = [tag not in left_out for tag in tags]
    own_counted = _spread([c for c, k in zip(counted, kept, strict=True) if k], own_kept)
    gold_brackets, parse_brackets = _moved(right, counted), _moved(found, own_counted)
    matched = sum((gold_brackets & parse_brackets).values())
    return matched, parse_brackets.total(), gold_brackets.total()


def _brackets(tree: Tree) -> tuple[list[str], list[str], list[Bracket]]:
    """Return the words, their tags, and the brackets with the places where they begin and end."""
    labels, parents = tree.to_parents()
    n = len(labels)
    has_children = np.zeros(n, dtype=bool)
    has_children[[p for p in parents if p >= 0]] = True
    begin, end, n_words = [0] * n, [0] * n, 0
    is_tag = [False] * n
    words, tags = [], []
    for node in range(n):  # in preorder
        begin[node] = n_words
        if not has_children[node]:
            words.append(labels[node])
            tags.append(labels[parents[node]] if node else "")
            is_tag[parents[node]] = node > 0
            n_words += 1
        end[node] = n_words
    for node in range(n - 1, 0, -1):
        end[parents[node]] = max(end[parents[node]], end[node])
    found = [
        (_plain(labels[node]), begin[node], end[node])
        for node in range(n)
        if has_children[node] and not is_tag[node] and labels[node] not in _TOP
    ]
    return words, tags, found


def _plain(label: str) -> str:
    """Return a label without its function tags: NP for NP-SBJ and NP=2, but -LRB- as it is."""
    for mark in "-=":
        place = label.find(mark, 1)
        label = label if place < 0 else label[:place]
    return _SAME.get(label, label)


def _moved(brackets: list[Bracket], counted: list[bool]) -> Counter[Bracket]:
    """Return the brackets over the counted words. Those without such words are left out."""
    before = np.concatenate([[0], np.cumsum(counted)]).tolist()
    moved = ((label, before[begin], before[end]) for label, begin, end in brackets)
    return Counter(bracket for bracket in moved if bracket[1] < bracket[2])


def _chosen(words: list[str], chosen: list[bool]) -> list[str]:
    return [word for word, is_chosen in zip(words, chosen, strict=True) if is_chosen]


def _spread(values: list[bool], places: list[bool]) -> list[bool]:
    """Return the values at the places that are True, and False at the others."""
    rest = iter(values)
    return [next(rest) if place else False for place in places]


def _quotient(above: float, below: float) -> float:
    return float(above / below) if below else 0.0
