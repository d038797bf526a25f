"""Forests of objects in memory: nested lists, parents, spaCy and stanza."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import filbert
from filbert import Forest, Tree
from filbert.errors import InputTypeError, InvalidParameterError, ParseError
from tests.profiles import n_examples
from tests.reference.trees import Node
from tests.reference.trees import write as brackets
from tests.strategies import RNG, unicode_trees
from tests.tree_formats import CHAIN


def forest_of(nodes: list[Node]) -> Forest:
    return Forest.from_brackets([brackets(node) for node in nodes])


# ---------------------------------------------------------------- nested lists


def as_dict(node: Node) -> dict[str, Any]:
    return {"label": node.label, "children": [as_dict(child) for child in node.children]}


@n_examples(50)
@given(st.lists(unicode_trees(), max_size=4))
def test_nested_trees_there_and_back(nodes: list[Node]) -> None:
    forest = forest_of(nodes)
    nested = [tree.to_nested() for tree in forest]
    assert Forest.from_nested(nested) == forest
    assert [tree.to_nested() for tree in Forest.from_nested(nested)] == nested
    assert Forest.from_nested(map(as_dict, nodes)) == forest


def test_nested_trees_may_mix_what_they_are_made_of() -> None:
    forest = Forest.from_nested([["S", ("NP", 1, np.int64(2)), {"label": "VP", "children": ["a"]}]])
    assert [str(tree) for tree in forest] == ["(S (NP 1 2) (VP a))"]


@pytest.mark.parametrize(
    ("trees", "kind", "message"),
    [
        (("S", ("NP", "a")), InputTypeError, "sample 0: str is not a nested tree: put a single"),
        ({"label": "S"}, InputTypeError, "put it into a list"),
        ("(S a)", InputTypeError, "expected a list of trees .* got str"),
        ([("S", "a"), ("S", None)], InputTypeError, "sample 1: a label must be .* NoneType"),
        ([("S", 0.5)], InputTypeError, "sample 0: a label must be a string or an integer"),
        ([("S", True)], InputTypeError, "got bool"),
        ([("S", "")], ParseError, "sample 0: a label is empty"),
        ([("S", [])], ParseError, "sample 0: an empty list is not a tree"),
        ([[["S"], "a"]], ParseError, "sample 0: a list begins with another list"),
        ([{"name": "S"}], ParseError, "sample 0: .* no key 'label'; it has 'name'"),
        ([{"label": "S", "children": "ab"}], InputTypeError, "children .* must be a list, not str"),
    ],
)
def test_bad_nested_trees(trees: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Forest.from_nested(trees)


def test_a_list_that_contains_itself_is_an_error() -> None:
    tree: list[Any] = ["S", ["NP"]]
    tree[1].append(tree)
    with pytest.raises(ParseError, match="sample 1: a node 'S' is below itself"):
        Forest.from_nested([["a"], tree])
    shared = ["NP", "a"]
    assert str(Forest.from_nested([["S", shared, shared]])[0]) == "(S (NP a) (NP a))"


# ---------------------------------------------------------------- parents


@n_examples(50)
@given(st.lists(unicode_trees(), max_size=4), RNG)
def test_parents_there_and_back(nodes: list[Node], rng: Any) -> None:
    forest = forest_of(nodes)
    pairs = [tree.to_parents() for tree in forest]
    labels, parents = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assert Forest.from_parents(labels, parents) == forest
    flat_labels = [label for one in labels for label in one]
    flat_parents = np.array([parent for one in parents for parent in one], dtype=np.int32)
    sizes = np.array([len(one) for one in labels], dtype=np.int64)
    assert Forest.from_parents(flat_labels, flat_parents, sizes=sizes) == forest
    for tree, pair in zip(forest, pairs, strict=True):
        assert Forest.from_parents(*pair)[0] == tree
        assert Forest.from_parents(*shuffled(*pair, rng))[0] == tree


def shuffled(labels: list[str], parents: list[int], rng: Any) -> tuple[list[str], list[int]]:
    """The nodes in another order, in which siblings keep theirs."""
    waiting: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        waiting.setdefault(parent, []).append(node)
    order: list[int] = []
    while waiting:
        parent = rng.choice(sorted(waiting))
        order.append(waiting[parent].pop(0))
        if not waiting[parent]:
            del waiting[parent]
    place = {node: number for number, node in enumerate(order)} | {-1: -1}
    return [labels[node] for node in order], [place[parents[node]] for node in order]


@pytest.mark.parametrize(
    ("labels", "parents", "sizes", "kind", "message"),
    [
        (["a", "b"], [-1, -1], None, ParseError, "nodes 0 and 1 are both roots"),
        (["a", "b"], [1, 0], None, ParseError, "no path leads from a root to node 0 .*cycle"),
        (["a", "b", "c"], [-1, 2, 1], None, ParseError, "root to node 1"),
        (["a"], [0], None, ParseError, "root to node 0"),
        (["a"], [1], None, ParseError, "parent of node 0 is 1, but the tree has 1 nodes"),
        (["a"], [-2], None, ParseError, "parent of node 0 is -2"),
        (["a"], [None], None, InputTypeError, "is NoneType, not an integer"),
        (["a"], np.array([-1.0]), None, InputTypeError, "is float, not an integer"),
        (["a", "b"], [-1], None, InvalidParameterError, "2 labels and 1 parents"),
        ([["a"], ["b"]], [[-1], [-1, 0]], None, ParseError, "sample 1: .*1 labels and 2 parents"),
        ([["a"], []], [[-1], []], None, ParseError, "sample 1: there is no node"),
        (["a"], [-1], [2], InvalidParameterError, "sizes sum to 2"),
        (["a"], [-1], [1, 0], InvalidParameterError, "at least 1, got 0"),
        ("a", [-1], None, InputTypeError, "expected labels as a list or an array, got str"),
        ([None], [-1], None, InputTypeError, "sample 0: a label must be a string"),
    ],
)
def test_bad_parents(
    labels: Any, parents: Any, sizes: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        Forest.from_parents(labels, parents, sizes=sizes)


# ---------------------------------------------------------------- other objects


@pytest.mark.parametrize(
    ("value", "method"),
    [(("S", "a"), "from_nested"),
     (type("DiGraph", (), {"__module__": "networkx.classes.digraph"})(), "from_networkx"),
     (type("Doc", (), {"__module__": "spacy.tokens.doc"})(), "from_spacy")],
)  # fmt: skip
def test_other_objects_name_the_method_for_them(value: Any, method: str) -> None:
    with pytest.raises(InputTypeError, match=f"sample 0 .*: use Forest.{method}"):
        Forest([value])


# ---------------------------------------------------------------- spaCy and stanza

WORDS = [
    ("A", "a", "DET", "DT", 1, "det"),
    ("dog", "dog", "NOUN", "NN", 2, "nsubj"),
    ("ran", "run", "VERB", "VBD", 2, "ROOT"),
]


class Doc(list[Any]):
    """What `from_spacy` uses of spaCy's Doc and Span."""

    def __init__(self, words: list[tuple[str, str, str, str, int, str]]) -> None:
        super().__init__(
            SimpleNamespace(i=i, text=form, lemma_=lemma, pos_=pos, tag_=tag, dep_=dep)
            for i, (form, lemma, pos, tag, _, dep) in enumerate(words)
        )
        for token, word in zip(self, words, strict=True):
            token.head = self[word[4]]

    @property
    def sents(self) -> list["Doc"]:
        return [self]


def test_spacy_parses() -> None:
    doc = Doc(WORDS)
    grct = "(ROOT (nsubj (det (DET a)) (NOUN dog)) (VERB run))"
    assert [str(tree) for tree in Forest.from_spacy(doc)] == [grct]
    assert [str(tree) for tree in Forest.from_spacy([doc, doc], tree="loct")] == [
        "(run (dog a))"
    ] * 2
    two = Doc([*WORDS, ("Stop", "stop", "VERB", "VB", 3, "ROOT")])
    with pytest.raises(ParseError, match=r"sample 1: word 3: there are 2 roots .*join"):
        Forest.from_spacy([doc, two])
    [tree] = Forest.from_spacy([two], tree="loct", several_roots="join")
    assert str(tree) == "(ROOT (run (dog a)) stop)"


def test_bad_spacy_parses() -> None:
    unparsed = Doc([(form, "", "", "", i, "") for i, form in enumerate("abc")])
    with pytest.raises(ParseError, match="sample 0: there is no dependency parse"):
        Forest.from_spacy([unparsed])
    with pytest.raises(ParseError, match="sample 0: there are no words"):
        Forest.from_spacy([Doc([])])
    with pytest.raises(InputTypeError, match="sample 0: expected a Doc or Span of spaCy, got str"):
        Forest.from_spacy(["a dog ran"])
    with pytest.raises(InvalidParameterError, match="unknown option among trees: it has tree,"):
        Forest.from_spacy([Doc(WORDS)], trees="lct")


def test_real_spacy_docs() -> None:
    spacy = pytest.importorskip("spacy")
    doc = spacy.tokens.Doc(
        spacy.blank("en").vocab,
        words=["A", "dog", "ran", "Stop", "!"],
        heads=[1, 2, 2, 3, 3],
        deps=["det", "nsubj", "ROOT", "ROOT", "punct"],
        pos=["DET", "NOUN", "VERB", "VERB", "PUNCT"],
    )
    expected = ["(ran (dog A))", "(Stop !)"]
    assert [str(tree) for tree in Forest.from_spacy(doc, tree="loct")] == expected
    assert [str(tree) for tree in Forest.from_spacy(doc.sents, tree="loct")] == expected
    assert str(Forest.from_spacy(doc[:2], tree="loct")[0]) == "(dog A)"
    with pytest.raises(ParseError, match="sample 0: word 3: there are 2 roots"):
        Forest.from_spacy([doc])
    with pytest.raises(ParseError, match="no sentences"):
        Forest.from_spacy(spacy.blank("en")("A dog ran"))
    with pytest.raises(InputTypeError, match=r"sample 0 .* spacy.Doc: use Forest.from_spacy"):
        Forest([doc])


def stanza_sentence(**changes: Any) -> SimpleNamespace:
    """What `from_stanza` uses of stanza's Sentence."""
    words = [
        SimpleNamespace(text=form, lemma=lemma, upos=pos, xpos=tag, head=head + 1, deprel=dep)
        for form, lemma, pos, tag, head, dep in WORDS
    ]
    words[2].head = 0
    leaf = SimpleNamespace(label="ran", children=())
    constituency = SimpleNamespace(label="ROOT", children=(leaf, leaf))
    return SimpleNamespace(**{"words": words, "constituency": constituency} | changes)


def test_stanza_parses() -> None:
    sentence = stanza_sentence()
    document = SimpleNamespace(sentences=[sentence, sentence])
    grct = "(ROOT (nsubj (det (DET a)) (NOUN dog)) (VERB run))"
    assert [str(tree) for tree in Forest.from_stanza(document)] == [grct] * 2
    assert [str(tree) for tree in Forest.from_stanza(sentence)] == [grct]
    assert [str(tree) for tree in Forest.from_stanza([sentence], tree="loct")] == ["(run (dog a))"]
    assert str(Forest.from_stanza(sentence, tree="constituency")[0]) == "(ROOT ran ran)"
    [tree] = Forest.from_stanza([document], tree="loct", several_roots="join")
    assert str(tree) == "(ROOT (run (dog a)) (run (dog a)))"
    with pytest.raises(ParseError, match=r"sample 0: word 5: there are 2 roots"):
        Forest.from_stanza([document])
    with pytest.raises(ParseError, match="sample 0: there are 2 sentences"):
        Forest.from_stanza([document], tree="constituency")


def test_bad_stanza_parses() -> None:
    unparsed = stanza_sentence(constituency=None)
    unparsed.words[1].head = None
    with pytest.raises(ParseError, match=r"sample 0: word 1: the head of 'dog' is None .*depparse"):
        Forest.from_stanza(unparsed)
    with pytest.raises(ParseError, match="sample 0: the sentence has no constituents"):
        Forest.from_stanza([unparsed], tree="constituency")
    with pytest.raises(InvalidParameterError, match="has no other options"):
        Forest.from_stanza(unparsed, tree="constituency", pos="xpos")
    with pytest.raises(InputTypeError, match="sample 0: expected a Document or Sentence"):
        Forest.from_stanza(["a"])


# ---------------------------------------------------------------- depth, labels


def test_chains() -> None:
    nested: Any = "a"
    for _ in range(CHAIN - 1):
        nested = ["a", nested]
    chain = Forest.from_parents(["a"] * CHAIN, range(-1, CHAIN - 1))
    assert chain[0].depth == CHAIN
    assert Forest.from_nested([nested]) == chain
    assert chain[0].to_nested()[0] == "a"


@n_examples(50)
@given(unicode_trees(max_nodes=3))
def test_escaped_labels_can_be_put_into_text(node: Node) -> None:
    text = f"({filbert.escape(node.label)} {filbert.escape(node.label)})"
    tree: Tree = Forest.from_brackets([text])[0]
    assert tree.to_nested() == (node.label, node.label)


def test_what_cannot_be_escaped() -> None:
    with pytest.raises(InvalidParameterError, match="at least one character"):
        filbert.escape("")
    with pytest.raises(InputTypeError, match="a label must be a string, not int"):
        filbert.escape(3)  # type: ignore[arg-type]
