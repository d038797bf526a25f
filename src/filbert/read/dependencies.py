"""Trees of dependency parses: GRCT, LCT, LOCT, and plain dependency trees.

Croce, Moschitti & Basili (EMNLP 2011) define the first three for kernels on dependency parses. For
"a dog ran", where "ran" governs "dog" and "dog" governs "a":

* ``grct``, grammatical relations: a relation governs the relations of its dependents and its own
  part of speech, in the order of the words: ``(root (nsubj (det (DET a)) (NOUN dog)) (VERB run))``;
* ``lct``, words: a word governs its dependents, and after them its part of speech and its relation:
  ``(run (dog (a DET det) NOUN nsubj) VERB root)``;
* ``loct``, words only: ``(run (dog a))``;
* ``dependency``: like ``loct``, with any columns as labels, such as ``upos`` or ``form/deprel``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from filbert.errors import InvalidParameterError
from filbert.read.bracket_text import bracket_text

_JOINT_ROOT = "ROOT"
_MISSING = ("", "_", None)

# A node of a tree is the number of a word, or a label with the nodes below it.
_Item = int | tuple[str, Sequence["_Item"]]


class Word(NamedTuple):
    """A word of a parsed sentence. Annotations may be missing: ``None``, ``""`` or ``"_"``."""

    form: str
    lemma: str | None
    upos: str | None
    xpos: str | None
    deprel: str | None
    head: int  # the position of the word that governs this one, or -1 for the root


class BadWordError(Exception):
    """A word that makes a parse unusable. Readers turn it into an error with a place."""

    def __init__(self, word: int, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.word = word
        self.reason = reason
        self.hint = hint


_CHOICES = {
    "tree": ("grct", "lct", "loct", "dependency"),
    "lexical": ("lemma", "form"),
    "pos": ("upos", "xpos"),
    "style": ("plain", "kelp"),
    "several_roots": ("raise", "join"),
}
_COLUMNS = ("form", "lemma", "upos", "xpos", "deprel")


@dataclass(frozen=True)
class DependencyOptions:
    """What trees are made of a parse.

    Attributes
    ----------
    tree : {"grct", "lct", "loct", "dependency"}
        The kind of tree.
    lexical : {"lemma", "form"}
        The label of words. The form replaces a missing lemma.
    pos : {"upos", "xpos"}
        The label of parts of speech.
    label : str, optional
        Only for ``tree="dependency"``: the label of words, one or several of form, lemma, upos,
        xpos and deprel, joined by ``/``. The default is form.
    style : {"plain", "kelp"}
        ``"kelp"`` writes the labels as KeLP does: ``SYNT##nsubj``, ``POS##NN``, ``LEX##dog::n``.
        Words are lower-cased, and the letter after them is the first one of the part of speech.
    punctuation : bool
        Keep punctuation. If False, words with the UPOS PUNCT or the relation punct are dropped
        unless they govern other words.
    several_roots : {"raise", "join"}
        Whether a parse with several roots is an error, or its trees are joined below a node
        ``ROOT``.
    """

    tree: str = "grct"
    lexical: str = "lemma"
    pos: str = "upos"
    label: str | None = None
    style: str = "plain"
    punctuation: bool = True
    several_roots: str = "raise"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                listed = ", ".join(map(repr, allowed))
                raise InvalidParameterError(
                    f"{name} must be one of {listed}, got {getattr(self, name)!r}"
                )
        if not isinstance(self.punctuation, bool):
            raise InvalidParameterError(
                f"punctuation must be True or False, got {self.punctuation!r}"
            )
        if self.tree != "dependency" and self.label is not None:
            raise InvalidParameterError(
                f"label is for tree='dependency'; tree={self.tree!r} has lexical and pos"
            )
        if self.tree == "dependency" and self.style != "plain":
            raise InvalidParameterError("style='kelp' is for the trees grct, lct and loct")
        self.label_columns()

    def label_columns(self) -> list[str]:
        """Return the columns of a plain dependency tree's labels."""
        columns = ("form" if self.label is None else self.label).split("/")
        for column in columns:
            if column not in _COLUMNS:
                raise InvalidParameterError(
                    f"label must name {', '.join(_COLUMNS)}, or several of them joined by '/'; "
                    f"got {self.label!r}"
                )
        return columns


def dependency_text(words: Sequence[Word], options: DependencyOptions) -> str:
    """Return the tree of a parse in bracket notation.

    Raises
    ------
    BadWordError
        If the heads are not a tree, or if a word lacks an annotation that the tree needs.
    """
    roots, dependents = _checked_tree(words)
    if len(roots) > 1 and options.several_roots == "raise":
        raise BadWordError(
            roots[1],
            f"there are {len(roots)} roots",
            "use several_roots='join' to make one tree of them",
        )
    if not options.punctuation:
        dependents = [
            [below for below in one if dependents[below] or not _is_punctuation(words[below])]
            for one in dependents
        ]
    node = _NODES[options.tree](words, dependents, options)

    def view(item: _Item) -> tuple[str, Sequence[_Item]]:
        return node(item) if isinstance(item, int) else item

    top: _Item = roots[0] if len(roots) == 1 else (_JOINT_ROOT, roots)
    return bracket_text(top, view)


# ---------------------------------------------------------------- the kinds of trees

_NodeView = Callable[[int], tuple[str, Sequence[_Item]]]


def _grct(
    words: Sequence[Word], dependents: list[list[int]], options: DependencyOptions
) -> _NodeView:
    labels = _Labels(words, options)

    def node(word: int) -> tuple[str, Sequence[_Item]]:
        below: list[_Item] = [other for other in dependents[word] if other < word]
        below.append((labels.pos(word), [(labels.lexical(word), ())]))
        below.extend(other for other in dependents[word] if other > word)
        return labels.relation(word), below

    return node


def _lct(
    words: Sequence[Word], dependents: list[list[int]], options: DependencyOptions
) -> _NodeView:
    labels = _Labels(words, options)

    def node(word: int) -> tuple[str, Sequence[_Item]]:
        own: list[_Item] = [(labels.pos(word), ()), (labels.relation(word), ())]
        return labels.lexical(word), [*dependents[word], *own]

    return node


def _loct(
    words: Sequence[Word], dependents: list[list[int]], options: DependencyOptions
) -> _NodeView:
    labels = _Labels(words, options)
    return lambda word: (labels.lexical(word), dependents[word])


def _dependency(
    words: Sequence[Word], dependents: list[list[int]], options: DependencyOptions
) -> _NodeView:
    labels = _Labels(words, options)
    columns = options.label_columns()

    def node(word: int) -> tuple[str, Sequence[_Item]]:
        return "/".join(labels.column(word, column) for column in columns), dependents[word]

    return node


_NODES: dict[str, Callable[[Sequence[Word], list[list[int]], DependencyOptions], _NodeView]] = {
    "grct": _grct,
    "lct": _lct,
    "loct": _loct,
    "dependency": _dependency,
}


class _Labels:
    """The labels of words, in one of the styles."""

    def __init__(self, words: Sequence[Word], options: DependencyOptions) -> None:
        self._words = words
        self._options = options
        self._kelp = options.style == "kelp"

    def column(self, word: int, name: str) -> str:
        value: Any = getattr(self._words[word], name)
        if name == "lemma" and value in _MISSING:
            name, value = "form", self._words[word].form
        if name == "form" and value:  # the form "_" is an underscore
            return str(value)
        if value in _MISSING:
            raise BadWordError(
                word,
                f"the word {self._words[word].form!r} has no {name}",
                _OTHERWISE.get(name, "parse the text first"),
            )
        return str(value)

    def relation(self, word: int) -> str:
        relation = self.column(word, "deprel")
        return f"SYNT##{relation}" if self._kelp else relation

    def pos(self, word: int) -> str:
        pos = self.column(word, self._options.pos)
        return f"POS##{pos}" if self._kelp else pos

    def lexical(self, word: int) -> str:
        text = self.column(word, self._options.lexical)
        if not self._kelp:
            return text
        return f"LEX##{text.lower()}::{self.column(word, self._options.pos)[0].lower()}"


_OTHERWISE = {
    "upos": "use pos='xpos' if the words have XPOS, or tag the text",
    "xpos": "use pos='upos' if the words have UPOS, or tag the text",
}


# ---------------------------------------------------------------- checks


def _checked_tree(words: Sequence[Word]) -> tuple[list[int], list[list[int]]]:
    """Return the roots and each word's dependents, in the order of the words."""
    roots: list[int] = []
    dependents: list[list[int]] = [[] for _ in words]
    for number, word in enumerate(words):
        (roots if word.head < 0 else dependents[word.head]).append(number)
    reached = list(roots)
    for number in reached:  # the list grows while it is read
        reached.extend(dependents[number])
    if len(reached) < len(words):
        bad = _on_a_cycle(words, set(reached))
        raise BadWordError(
            bad, f"the word {words[bad].form!r} governs itself", "mend the cycle of heads"
        )
    return roots, dependents


def _on_a_cycle(words: Sequence[Word], reached: set[int]) -> int:
    """Return the first word of a cycle, given the words that a root governs."""
    word = next(number for number in range(len(words)) if number not in reached)
    path: dict[int, None] = {}
    while word not in path:
        path[word] = None
        word = words[word].head
    around = list(path)
    return min(around[around.index(word) :])


def _is_punctuation(word: Word) -> bool:
    return word.upos == "PUNCT" or word.deprel == "punct"
