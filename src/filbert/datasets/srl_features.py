"""The standard features of a predicate and a candidate node in a parse, each one a category.

They were proposed by Gildea & Jurafsky, *Automatic labeling of semantic roles* (Computational
Linguistics 28(3), 2002), and are listed in section V of Aiolli, Da San Martino, Sperduti &
Moschitti, *Efficient kernel-based learning for trees* (CIDM 2007).
"""

from typing import NamedTuple

from filbert.datasets.head_words import base_label, head_child
from filbert.datasets.srl_parse import Parse

_BE = {"be", "am", "is", "are", "was", "were", "been", "being", "'s", "'m", "'re", "m", "re"}
_GET = {"get", "gets", "got", "gotten", "getting"}
_HAVE = {"have", "has", "had", "having", "'ve", "'d", "ve"}


class StandardFeatures(NamedTuple):
    """The flat features of a candidate; each is a category.

    In parses without words (``leaves="tags"``), tags take the place of words.

    Parameters
    ----------
    phrase_type : str
        The candidate's label.
    predicate_word : str
        The head of the predicate, in lower case.
    head_word : str
        The head word of the candidate, found by :mod:`filbert.datasets.head_words`.
    governing_category : str or None
        For a noun phrase ``NP``, the nearest ``S`` or ``VP`` above it; None for other phrases.
    position : str
        Whether the candidate is ``before`` or ``after`` the predicate, or ``over`` it (rule A).
    voice : str
        The voice of the predicate, ``active`` or ``passive``.
    path : str
        From the predicate's tag up and down to the candidate: ``VBD↑VP↑S↓NP``.

    Examples
    --------
    >>> from filbert.datasets import srl_boundary
    >>> tree = "(S (NP (PRP I)) (VP (VBD found) (NP (PRP it))))"
    >>> sentence = {"tree": tree, "props": [{"pred": [1], "args": [["ARG0", 0, 1]]}]}
    >>> label, _, features = next(srl_boundary([sentence], features=True))
    >>> features.phrase_type, features.head_word, features.position, features.path
    ('NP', 'I', 'before', 'VBD↑VP↑S↓NP')
    """

    phrase_type: str
    """The candidate's label."""
    predicate_word: str
    """The head of the predicate, in lower case."""
    head_word: str
    """The head word of the candidate, by :mod:`filbert.datasets.head_words`."""
    governing_category: str | None
    """For a noun phrase ``NP``, the nearest ``S`` or ``VP`` above it; None for other phrases."""
    position: str
    """Whether the candidate is ``before`` or ``after`` the predicate, or ``over`` it (rule A)."""
    voice: str
    """The voice of the predicate, ``active`` or ``passive``: see :func:`voice`."""
    path: str
    """From the predicate's tag up and down to the candidate: ``VBD↑VP↑S↓NP``."""


class ParseFeatures:
    """The features of all pairs of a predicate and a node in one parse."""

    def __init__(self, parse: Parse) -> None:
        self.parse = parse
        self.base = [base_label(label) for label in parse.label]
        self._head_word = _head_words(parse, self.base)
        self._governing = _governing_categories(parse, self.base)
        # The path from the root, ``↓TOP↓S↓NP``; cut off at an ancestor, it is the path from there.
        self._down: list[str] = []
        for up, label in zip(parse.parent, parse.label, strict=True):
            self._down.append(f"{self._down[up] if up >= 0 else ''}↓{label}")

    def of_predicate(self, head: int) -> "PredicateFeatures":
        """Return the features of candidates with the predicate whose tag is this node."""
        return PredicateFeatures(self, head)


class PredicateFeatures:
    """The features of candidates with one predicate."""

    def __init__(self, whole: ParseFeatures, head: int) -> None:
        parse = whole.parse
        self._whole = whole
        self._head = head
        word = head if parse.is_leaf[head] else head + 1
        self._word = parse.label[word].lower()
        self._voice = voice(parse, whole.base, head)
        chain = parse.chain(head)
        self._up: dict[int, str] = {}  # to each node above the predicate: ``VBD↑VP↑S``
        for below, node in zip([None, *chain], chain, strict=False):
            label = parse.label[node]
            self._up[node] = label if below is None else f"{self._up[below]}↑{label}"
        self._meeting = [0] * len(parse.label)  # the lowest common ancestor of node and predicate
        for node in reversed(chain):
            self._meeting[node : parse.stop[node]] = [node] * (parse.stop[node] - node)

    def of_candidate(self, node: int) -> StandardFeatures:
        """Return all features of a node with this predicate."""
        whole, meeting = self._whole, self._meeting[node]
        down = whole._down
        position = "over" if meeting == node else "before" if node < self._head else "after"
        return StandardFeatures(
            whole.parse.label[node],
            self._word,
            whole._head_word[node],
            whole._governing[node],
            position,
            self._voice,
            self._up[meeting] + down[node][len(down[meeting]) :],
        )


def voice(parse: Parse, base: list[str], head: int) -> str:
    """Return ``passive`` or ``active`` for the predicate with this tag.

    A participle ``VBN`` is passive in two cases:

    * Its nearest auxiliary is a form of *be* or *get*. An auxiliary is a verb before the participle
      in one of the nested verb phrases ``VP`` right above it, or in the ``SQ`` or ``SINV`` above
      these. *have* makes a perfect, "has seen"; but "has been seen" is passive, because *been* is
      nearer.
    * It has no auxiliary, and its verb phrase is part of a noun phrase: "the book seen".

    ``'s`` counts as *is* and ``'d`` as *had*.
    """
    if base[head] != "VBN":
        return "active"
    below, node = head, parse.parent[head]
    while node >= 0 and base[node] in ("VP", "SQ", "SINV"):
        for sister in reversed(_children_before(parse, node, below)):
            if base[sister].startswith(("VB", "AUX")) and not parse.is_leaf[sister]:
                word = parse.label[sister + 1].lower()
                if word in _BE or word in _GET:
                    return "passive"
                if word in _HAVE:
                    return "active"
        if base[node] != "VP":
            return "active"
        below, node = node, parse.parent[node]
    return "passive" if node >= 0 and base[node] == "NP" and below != head else "active"


def _children_before(parse: Parse, node: int, child: int) -> list[int]:
    children, sister = [], node + 1
    while sister < child:
        children.append(sister)
        sister = parse.stop[sister]
    return children


def _head_words(parse: Parse, base: list[str]) -> list[str]:
    """Find the head word of each node; the head word of a word is the word itself."""
    found = parse.label.copy()
    children: list[list[int]] = [[] for _ in found]
    for node in range(len(found) - 1, -1, -1):  # children come after their parents
        if own := children[node]:
            own.reverse()
            found[node] = found[own[head_child(base[node], [base[child] for child in own])]]
        if node:
            children[parse.parent[node]].append(node)
    return found


def _governing_categories(parse: Parse, base: list[str]) -> list[str | None]:
    above: list[str | None] = []  # the nearest S or VP above each node
    for up in parse.parent:
        if up < 0:
            above.append(None)
        else:
            above.append(base[up] if base[up] in ("S", "VP") else above[up])
    return [over if own == "NP" else None for own, over in zip(base, above, strict=True)]
