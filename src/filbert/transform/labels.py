"""Transformers that change labels and keep the shape of the trees."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from filbert.errors import InvalidParameterError
from filbert.node_arrays import NodeArrays, checked_label
from filbert.transform.base import TreeTransformer
from filbert.transform.choice import Kind, check_kind, nodes_of_kind


class MapLabels(TreeTransformer):
    """Replace the labels of inner nodes, of leaves or of all nodes.

    Parameters
    ----------
    mapping : dict or callable
        The new label of each label. Labels that a dictionary does not have are kept, unless
        `unknown` is set. A function is called once for each distinct label.
    nodes : {"inner", "leaves", "all"}
        Which nodes get new labels. By default, leaves (the words of parse trees) are kept.
    unknown : str, optional
        The label for all labels that a dictionary does not have.

    Examples
    --------
    >>> MapLabels({"NNP": "NN", "NNS": "NN"}).transform(["(NP (NNP Paris) (NNS NNS))"])[0]
    <Tree (NP (NN Paris) (NN NNS))>
    """

    def __init__(
        self,
        mapping: Mapping[str, str] | Callable[[str], str],
        *,
        nodes: Kind = "inner",
        unknown: str | None = None,
    ) -> None:
        self.mapping = mapping
        self.nodes = nodes
        self.unknown = unknown

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        check_kind(self.nodes)
        _check_mapping(self.mapping, self.unknown)

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        chosen = nodes_of_kind(nodes, self.nodes)
        return nodes.relabelled(chosen, lambda label: _looked_up(self, label, label))


class MapLeaves(TreeTransformer):
    """Replace the labels of leaves, for example words by their lemmas.

    Parameters
    ----------
    mapping : dict or callable
        The new label of each leaf. Leaves that a dictionary does not have are kept, unless
        `unknown` is set. A function is called once for each distinct leaf.
    by_parent : bool
        Look up the pair (label of the leaf, label of its parent), or call the function with these
        two arguments: the lemma of a word depends on its part of speech. A leaf without a parent,
        which is a tree of one node, is kept.
    unknown : str, optional
        The label for all leaves that a dictionary does not have.

    Examples
    --------
    >>> trees = ["(S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN saw))))"]
    >>> MapLeaves({("saw", "VBD"): "see"}, by_parent=True).transform(trees)[0]
    <Tree (S (NP (PRP I)) (VP (VBD see) (NP (DT the) (NN saw))))>
    >>> MapLeaves({"the": "the", "I": "I"}, unknown="?").transform(trees)[0].text
    'I ? the ?'
    """

    def __init__(
        self,
        mapping: Mapping[Any, str] | Callable[..., str],
        *,
        by_parent: bool = False,
        unknown: str | None = None,
    ) -> None:
        self.mapping = mapping
        self.by_parent = by_parent
        self.unknown = unknown

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        _check_mapping(self.mapping, self.unknown)
        if not isinstance(self.by_parent, bool | np.bool_):
            raise InvalidParameterError(f"by_parent must be True or False, got {self.by_parent!r}")
        if isinstance(self.mapping, Mapping):
            wrong = [key for key in self.mapping if isinstance(key, tuple) != bool(self.by_parent)]
            if wrong:
                expected = "pairs (leaf, parent)" if self.by_parent else "leaves"
                raise InvalidParameterError(
                    f"with by_parent={self.by_parent}, the keys of mapping must be {expected}; "
                    f"got {wrong[0]!r}"
                )

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        if self.by_parent:
            return _leaves_by_parent(nodes, lambda *pair: _looked_up(self, pair[0], *pair))
        return nodes.relabelled(nodes.is_leaf, lambda label: _looked_up(self, label, label))


class LowerCaseLeaves(TreeTransformer):
    """Write the labels of leaves, the words of parse trees, in lower case.

    Examples
    --------
    >>> LowerCaseLeaves().transform(["(S (NP (DT The) (NNP USA)))"])[0]
    <Tree (S (NP (DT the) (NNP usa)))>
    """

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        return nodes.relabelled(nodes.is_leaf, str.lower)


class StripFunctionTags(TreeTransformer):
    """Strip function tags and indices from the labels of inner nodes: ``NP-SBJ-1`` becomes ``NP``.

    A label ends before the first ``-`` or ``=``. Labels between two hyphens, such as ``-LRB-`` and
    ``-NONE-``, are kept, and so are labels that would be empty. Leaves are kept.

    Parameters
    ----------
    separators : str
        The characters that begin a tag. Add ``"|"`` to make ``ADVP|PRT`` an ``ADVP``.

    Examples
    --------
    >>> tree = "(S (NP-SBJ-1 (-LRB- -LRB-) (NN-X well-known)) (VP=2 (VBD ran)))"
    >>> StripFunctionTags().transform([tree])[0]
    <Tree (S (NP (-LRB- -LRB-) (NN well-known)) (VP (VBD ran)))>
    """

    def __init__(self, separators: str = "-=") -> None:
        self.separators = separators

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        if not isinstance(self.separators, str) or not self.separators:
            raise InvalidParameterError(
                f"separators must be a string of characters such as '-=', got {self.separators!r}"
            )

    def _rewrite(self, nodes: NodeArrays) -> NodeArrays:
        others = f"[^{re.escape(self.separators)}]+"
        category = re.compile(f"-{others}-|{others}")

        def stripped(label: str) -> str:
            match = category.match(label)
            return match[0] if match else label

        return nodes.relabelled(~nodes.is_leaf, stripped)


def _check_mapping(mapping: Any, unknown: Any) -> None:
    if not isinstance(mapping, Mapping) and not callable(mapping):
        raise InvalidParameterError(
            f"mapping must be a dictionary or a function from labels to labels, got {mapping!r}"
        )
    if unknown is None:
        return
    checked_label(unknown, "unknown")
    if not isinstance(mapping, Mapping):
        raise InvalidParameterError(
            "unknown is for labels that a dictionary does not have, but mapping is a function: "
            "leave unknown out, and let the function return it"
        )


def _looked_up(transformer: MapLabels | MapLeaves, label: str, *key: str) -> str:
    """Return the new label of a label. The key is what the mapping is asked for."""
    name, mapping = type(transformer).__name__, cast(Any, transformer.mapping)
    if not isinstance(mapping, Mapping):
        return checked_label(mapping(*key), f"what the function of {name} returns for {label!r}")
    kept = label if transformer.unknown is None else transformer.unknown
    found = mapping.get(key[0] if len(key) == 1 else key, kept)
    return checked_label(found, f"the value of {label!r} in the mapping of {name}")


def _leaves_by_parent(nodes: NodeArrays, new_label: Callable[[str, str], str]) -> NodeArrays:
    """Replace each leaf below a parent. A leaf occurs once for each label of its parents."""
    below = np.flatnonzero(nodes.is_leaf[nodes.children])  # places in `children`
    leaf_labels = nodes.node_labels[nodes.children[below]].astype(np.uint64)
    pairs = (leaf_labels << np.uint64(32)) | nodes.node_labels[nodes.parents[below]]
    distinct, numbers = np.unique(pairs, return_inverse=True)
    labels = nodes.labels
    new = [new_label(labels[pair >> 32], labels[pair % 2**32]) for pair in distinct.tolist()]
    # The new leaves come first, because children come before their parents.
    n = len(new)
    children = nodes.children + np.uint32(n)
    children[below] = numbers
    label_numbers = len(labels) + np.arange(n, dtype=np.uint32)
    return replace(
        nodes,
        labels=[*labels, *new],
        node_labels=np.concatenate([label_numbers, nodes.node_labels]),
        child_ends=np.concatenate([np.zeros(n, dtype=np.uint64), nodes.child_ends]),
        children=children,
        roots=nodes.roots + np.uint32(n),
    )
