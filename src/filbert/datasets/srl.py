"""Semantic role labelling: sentences with PropBank annotation -> predicate-argument trees.

A sentence is a JSON object with a constituency parse and its propositions::

    {"tree": "(TOP (S (NP (PRP I)) (VP (VBD found) (NP (PRP it)))))",
     "props": [{"pred": [1], "args": [["ARG0", 0, 1], ["ARG1", 2, 3]]}]}

``pred`` has the tokens of the predicate, head first. An argument is ``[role, start, end]``; tokens
are counted from 0, and ``end`` is exclusive. Other keys are ignored. A symbol of the parse is any
run of characters without round brackets and ASCII white space. A backslash is an ordinary
character.

An example is a predicate with a candidate node of the parse. Its tree is the smallest one that
contains both: the paths from their lowest common ancestor down to each, without side branches, and
the whole subtree of the candidate. ``-B`` marks the candidate, ``-P`` the tag of the predicate. For
the predicate "found" above and the candidate NP over "it"::

    (VP (VBD-P found) (NP-B (PRP it)))

If the candidate is above the predicate (only under rule A), the tree is the candidate's subtree
with both marks. If it is the predicate's own tag, the tag becomes ``VBD-B-P``. In a predicate of
several tokens, the head is marked.

The trees are those of Moschitti, Pighin & Basili, *Tree kernels for semantic role labeling*
(Computational Linguistics 34(2), 2008).
"""

import gzip
import json
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from filbert.datasets.one_hot import OneHotColumns, OneHotRows
from filbert.datasets.srl_features import ParseFeatures, StandardFeatures
from filbert.datasets.srl_parse import Leaves, Parse, read_parse
from filbert.errors import InvalidParameterError, ParseError
from filbert.examples import Examples
from filbert.forest import Forest
from filbert.read.files import open_binary

Rule = Literal["A", "B", "C", "VB", "VC"]
Task = Literal["boundary", "role"]
Sentences = str | os.PathLike[str] | Iterable[Mapping[str, Any]]

Example = tuple[int | str, str]
DescribedExample = tuple[int | str, str, StandardFeatures]

_T = TypeVar("_T")


@overload
def srl_boundary(
    sentences: Sentences,
    *,
    rule: Rule = ...,
    task: Task = ...,
    leaves: Leaves = ...,
    features: Literal[False] = ...,
) -> Iterator[Example]: ...
@overload
def srl_boundary(
    sentences: Sentences,
    *,
    rule: Rule = ...,
    task: Task = ...,
    leaves: Leaves = ...,
    features: Literal[True],
) -> Iterator[DescribedExample]: ...


def srl_boundary(
    sentences: Sentences,
    *,
    rule: Rule = "VB",
    task: Task = "boundary",
    leaves: Leaves = "words",
    features: bool = False,
) -> Iterator[Any]:
    """Stream the examples of annotated sentences as ``(label, tree in bracket notation)``.

    Examples come sentence by sentence, predicate by predicate, candidates in preorder.

    Parameters
    ----------
    sentences : iterable of dict, or path
        Dictionaries as above, or the path of a JSON Lines file, plain, ``.gz`` or ``.xz``.
    rule : {"A", "B", "C", "VB", "VC"}
        Which pairs of a predicate and a node are examples:

        ====== ==================================================================
        ``A``  all predicates, all nodes
        ``B``  A without the nodes over a token of the predicate
        ``C``  B with one node for each span: the topmost one of a unary chain
        ``VB`` B for predicates that are verbs (tag ``VB*``) and have an argument
        ``VC`` C for the same predicates
        ====== ==================================================================
    task : {"boundary", "role"}
        ``"boundary"``: the label is 1 if the span of the node is exactly that of an argument,
        otherwise -1. ``"role"``: only nodes with the span of an argument are examples, and the
        label is the role of the argument as it is written, including ``C-`` and ``R-``. If several
        arguments have the same span, the first gives the role. Under A, B and VB each node of a
        unary chain is an example with that role.
    leaves : {"words", "tags"}
        ``"words"``: each leaf is a word, the only child of its tag, and is not a candidate.
        ``"tags"``: the parse has no words; its leaves are the tags, and they are candidates.
    features : bool
        Add the standard flat features as a third entry,
        :class:`~filbert.datasets.StandardFeatures`: phrase type, predicate word, head word,
        governing category, position, voice and path. :class:`~filbert.datasets.OneHotColumns`
        turns them into a sparse matrix.

    Yields
    ------
    label : int or str
        1 and -1, or the role.
    tree : str
        The tree in bracket notation.
    features : StandardFeatures
        If they are asked for.

    Raises
    ------
    ParseError
        When the stream reaches a sentence that cannot be read.

    Examples
    --------
    >>> tree = "(S (NP (PRP I)) (VP (VBD found) (NP (PRP it))))"
    >>> props = [{"pred": [1], "args": [["ARG0", 0, 1], ["ARG1", 2, 3]]}]
    >>> for label, tree in srl_boundary([{"tree": tree, "props": props}], rule="VC"):
    ...     print(label, tree)
    1 (S (NP-B (PRP I)) (VP (VBD-P found)))
    1 (VP (VBD-P found) (NP-B (PRP it)))
    """
    _check_option("rule", rule, Rule)
    _check_option("task", task, Task)
    _check_option("leaves", leaves, Leaves)
    return _stream(sentences, rule, task, leaves, features)


@overload
def load_srl(
    sentences: Sentences,
    *,
    rule: Rule = ...,
    task: Task = ...,
    leaves: Leaves = ...,
    columns: None = ...,
) -> tuple[Forest, NDArray[Any]]: ...
@overload
def load_srl(
    sentences: Sentences,
    *,
    rule: Rule = ...,
    task: Task = ...,
    leaves: Leaves = ...,
    columns: OneHotColumns,
) -> tuple[Examples, NDArray[Any]]: ...


def load_srl(
    sentences: Sentences,
    *,
    rule: Rule = "VB",
    task: Task = "boundary",
    leaves: Leaves = "words",
    columns: OneHotColumns | None = None,
) -> tuple[Forest | Examples, NDArray[Any]]:
    """Collect the examples of :func:`srl_boundary` into a forest and an array of labels.

    With `columns`, return Examples with the parts ``tree`` and ``features``. The latter is a sparse
    matrix of the standard features with one column for each value::

        columns = OneHotColumns(StandardFeatures._fields)
        X, y = load_srl("train.jsonl", columns=columns)
        X_test, y_test = load_srl("test.jsonl", columns=columns.freeze())

    Parameters
    ----------
    sentences, rule, task, leaves
        As for :func:`srl_boundary`.
    columns : OneHotColumns, optional
        Where the standard features get their columns.

    Returns
    -------
    X : Forest, or Examples if there are columns
        The trees, with the features.
    y : ndarray
        The labels: 1 and -1, or roles as text.

    Examples
    --------
    >>> tree = "(S (NP (PRP I)) (VP (VBD found) (NP (PRP it))))"
    >>> props = [{"pred": [1], "args": [["ARG0", 0, 1], ["ARG1", 2, 3]]}]
    >>> load_srl([{"tree": tree, "props": props}], rule="VC", task="role")
    (Forest of 2 trees: 13 nodes, 11 distinct subtrees
      0  (S (NP-B (PRP I)) (VP (VBD-P found)))
      1  (VP (VBD-P found) (NP-B (PRP it))), array(['ARG0', 'ARG1'], dtype='<U4'))
    """
    labels: list[int | str] = []
    rows = None if columns is None else OneHotRows(columns)

    def trees() -> Iterator[str]:  # one at a time: the texts of a treebank fill gigabytes
        for example in _stream(sentences, rule, task, leaves, rows is not None):
            labels.append(example[0])
            if rows is not None:
                rows.add(example[2])
            yield example[1]

    _check_option("rule", rule, Rule)
    _check_option("task", task, Task)
    _check_option("leaves", leaves, Leaves)
    forest = Forest.from_brackets(trees())
    y = np.array(labels, dtype=np.int64 if task == "boundary" else np.str_)
    return (forest if rows is None else Examples(tree=forest, features=rows.matrix())), y


def _check_option(name: str, value: str, options: Any) -> None:
    allowed = get_args(options)
    if value not in allowed:
        raise InvalidParameterError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")


# --- Sentences ---------------------------------------------------------------------------------


class _Place(TypedDict, total=False):
    """The location of a sentence, as keyword arguments of ParseError."""

    source: str
    line: int
    sample: int


class _Predicate(NamedTuple):
    tokens: list[int]  # the head first
    roles: dict[tuple[int, int], str]  # by span


def _read_sentences(sentences: Sentences) -> Iterator[tuple[_Place, object]]:
    if not isinstance(sentences, str | os.PathLike):
        for number, sentence in enumerate(sentences):
            yield _Place(sample=number), sentence
        return
    source = os.fspath(sentences)
    for number, line in _read_lines(source):
        try:
            sentence = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"not a line of JSON in UTF-8: {error}"
            raise ParseError(reason, source=source, line=number) from error
        yield _Place(source=source, line=number), sentence


def _read_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, counted from 1."""
    number = 0
    try:
        with open_binary(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.isspace():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        reason = f"the file is damaged or not of the kind its name says: {error}"
        raise ParseError(reason, source=path, line=number + 1) from error


def _read_predicates(sentence: object, n_tokens: int) -> Iterator[_Predicate]:
    for proposition in _entry(sentence, "props", list):
        tokens = _entry(proposition, "pred", list)
        if not tokens or not all(isinstance(t, int) and 0 <= t < n_tokens for t in tokens):
            raise ParseError(
                f"pred {tokens!r} does not name tokens of a sentence of {n_tokens}",
                hint="tokens are numbered from 0, and the head of the predicate comes first",
            )
        roles: dict[tuple[int, int], str] = {}
        for argument in _entry(proposition, "args", list):
            role, span = _read_argument(argument, n_tokens)
            roles.setdefault(span, role)
        yield _Predicate(tokens, roles)


def _read_argument(argument: object, n_tokens: int) -> tuple[str, tuple[int, int]]:
    match argument:
        case [str(role), int(start), int(end)] if role and 0 <= start < end <= n_tokens:
            return role, (start, end)
    raise ParseError(
        f"argument {argument!r} does not fit a sentence of {n_tokens} tokens",
        hint="an argument is [role, start, end], tokens numbered from 0, end exclusive",
    )


def _entry(mapping: object, key: str, kind: type[_T]) -> _T:
    if not isinstance(mapping, Mapping):
        raise ParseError(f"expected an object with the key {key!r}, found {mapping!r:.60}")
    if key not in mapping:
        raise ParseError(f"the key {key!r} is missing; found {', '.join(map(str, mapping))}")
    value = mapping[key]
    if not isinstance(value, kind):
        found = type(value).__name__
        raise ParseError(f"{key!r} must be of type {kind.__name__}, not {found}")
    return value


# --- Examples ----------------------------------------------------------------------------------


def _stream(
    sentences: Sentences, rule: Rule, task: Task, leaves: Leaves, features: bool
) -> Iterator[Any]:
    for place, sentence in _read_sentences(sentences):
        try:
            parse = read_parse(_entry(sentence, "tree", str), leaves)
            described = ParseFeatures(parse) if features else None
            for predicate in _read_predicates(sentence, len(parse.tag)):
                yield from _predicate_examples(parse, predicate, rule, task, described)
        except ParseError as error:
            raise error.located(**place) from None


def _predicate_examples(
    parse: Parse, predicate: _Predicate, rule: Rule, task: Task, described: ParseFeatures | None
) -> Iterator[Any]:
    head = parse.tag[predicate.tokens[0]]
    roles, span = predicate.roles, parse.span
    if rule.startswith("V") and not (roles and parse.label[head].startswith("VB")):
        return
    keep = _candidates(parse, predicate, rule)
    if task == "role":
        keep = [kept and span[node] in roles for node, kept in enumerate(keep)]
    features = None if described is None else described.of_predicate(head)
    for node, tree in _predicate_argument_trees(parse, head, keep):
        if task == "role":
            label: int | str = roles[span[node]]
        else:
            label = 1 if span[node] in roles else -1
        yield (label, tree) if features is None else (label, tree, features.of_candidate(node))


def _candidates(parse: Parse, predicate: _Predicate, rule: Rule) -> list[bool]:
    """Return for each node whether the rule makes it an example with this predicate."""
    keep = parse.is_topmost.copy() if rule.endswith("C") else parse.is_node.copy()
    if rule != "A":
        for token in predicate.tokens:
            for node in parse.chain(parse.tag[token]):
                keep[node] = False
    return keep


def _predicate_argument_trees(
    parse: Parse, head: int, keep: Sequence[bool]
) -> Iterator[tuple[int, str]]:
    """Yield each node to keep, in preorder, with its tree.

    In preorder, the nodes whose lowest common ancestor with the head is ``above`` form two runs:
    those from ``above`` to the next node ``below`` on the path down to the head, and those from
    the end of ``below`` to the end of ``above``. All trees of a run share the predicate's side.
    The candidate's side is the part of the candidate's path below the ancestor.
    """
    path, indent, depth, stop = parse.path, parse.indent, parse.depth, parse.stop
    chain = parse.chain(head)
    steps = list(zip(chain[1:], chain, _predicate_sides(parse, chain), strict=False))
    for above, below, side in reversed(steps):
        if keep[above]:
            yield above, parse.with_both_marks(above, head)
        cut, level = indent[above], depth[below]
        for node in range(above + 1, below):
            if keep[node]:
                yield node, f"{path[node][cut:]}{')' * (depth[node] - level)} {side})"
    if keep[head]:
        yield head, parse.with_both_marks(head, head)
    for above, below, side in steps:
        cut, level = indent[below], depth[below]
        opening = f"({parse.label[above]} {side} "
        for node in range(stop[below], stop[above]):
            if keep[node]:
                yield node, f"{opening}{path[node][cut:]}{')' * (depth[node] - level)})"


def _predicate_sides(parse: Parse, chain: Sequence[int]) -> list[str]:
    """Return, for each node from the head up to the root, the path from it down to the head."""
    sides = [parse.with_mark(chain[0], "-P")]
    for node in chain[1:]:
        sides.append(f"({parse.label[node]} {sides[-1]})")
    return sides
