"""Find the head word of a phrase: the word that represents it.

The method follows Magerman and Collins. A table tells for each phrase which of its children is the
head. Following the head children down to a word gives the head word. A rule names some labels and
an end of the phrase. It selects the child nearest to that end that has one of the labels. The rules
of a phrase are tried in order. If none fits, the head is the first child that is not punctuation.

The table is small and made for features, not for a parser. The head of a verb phrase is its first
verb, auxiliary or not. The head of a noun phrase is its last noun, or else its first noun phrase
("the man" of "the man in the street"). The head of a prepositional phrase is its preposition, and
the head of a clause is its verb phrase. Function tags are ignored: ``NP-SBJ`` is an ``NP``.
"""

from collections.abc import Sequence
from typing import Literal

_Rule = tuple[Literal["first", "last"], frozenset[str]]


def _rule(end: Literal["first", "last"], labels: str) -> _Rule:
    return end, frozenset(labels.split())


_NOUNS = "NN NNS NNP NNPS"
_VERBS = "VB VBD VBG VBN VBP VBZ MD TO AUX AUXG"
_ADJECTIVES = "JJ JJR JJS"
_ADVERBS = "RB RBR RBS"

_NOUN_PHRASE = [
    _rule("last", f"{_NOUNS} NML NX"),
    _rule("first", "NP"),
    _rule("last", "PRP EX WP CD QP $"),
    _rule("last", f"{_ADJECTIVES} ADJP VBG DT PRP$ POS"),
]
_CLAUSE = [
    _rule("first", "VP"),
    _rule("first", "S SQ SINV"),
    _rule("first", f"{_VERBS} SBAR ADJP UCP NP"),
]
_WH_PHRASE = [_rule("first", "WDT WP WP$ WRB WHNP WHADJP WHADVP WHPP IN")]

_TABLE: dict[str, list[_Rule]] = {
    "ADJP": [_rule("last", f"{_ADJECTIVES} VBN VBG"), _rule("last", f"ADJP {_NOUNS} CD QP $")],
    "ADVP": [_rule("last", f"{_ADVERBS} ADVP"), _rule("last", "IN RP NN JJ NP")],
    "CONJP": [_rule("last", "CC RB IN")],
    "NAC": _NOUN_PHRASE,
    "NML": _NOUN_PHRASE,
    "NP": _NOUN_PHRASE,
    "NX": _NOUN_PHRASE,
    "PP": [_rule("first", "IN TO VBG VBN RP FW"), _rule("first", "PP")],
    "PRT": [_rule("first", "RP")],
    "QP": [_rule("last", "CD $"), _rule("last", f"{_NOUNS} QP")],
    "S": _CLAUSE,
    "SBAR": [_rule("first", "WHNP WHPP WHADVP WHADJP IN DT"), _rule("first", "S SQ SINV SBAR")],
    "SBARQ": [_rule("first", "SQ S SINV SBARQ")],
    "SINV": _CLAUSE,
    "SQ": _CLAUSE,
    "VP": [_rule("first", _VERBS), _rule("first", "VP ADJP NP")],
    "WHADJP": _WH_PHRASE,
    "WHADVP": _WH_PHRASE,
    "WHNP": _WH_PHRASE,
    "WHPP": [_rule("first", "IN TO"), *_WH_PHRASE],
}
_PUNCTUATION = {".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "SYM"}


def base_label(label: str) -> str:
    """Return a label without function tags: ``NP`` for ``NP-SBJ-1`` and ``NP=2``."""
    if label.startswith("-"):
        return label  # a bracket, -LRB-
    return label.partition("-")[0].partition("=")[0] or label


def head_child(label: str, children: Sequence[str]) -> int:
    """Return the index of the child that is the head of a phrase; children are labels.

    >>> head_child("NP", ["DT", "JJ", "NN"])
    2
    >>> head_child("NP", ["NP", "PP"])
    0
    """
    for end, wanted in _TABLE.get(label, ()):
        places = [i for i, child in enumerate(children) if child in wanted]
        if places:
            return places[0 if end == "first" else -1]
    return next((i for i, child in enumerate(children) if child not in _PUNCTUATION), 0)
