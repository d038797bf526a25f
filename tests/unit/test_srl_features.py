"""The standard features of predicates and candidates, worked out by hand."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Examples, read_examples
from filbert.datasets import OneHotColumns, StandardFeatures, load_srl, srl_boundary
from filbert.datasets.head_words import base_label, head_child
from filbert.datasets.srl_features import ParseFeatures, voice
from filbert.datasets.srl_parse import read_parse
from filbert.errors import InvalidParameterError

SENTENCE: dict[str, Any] = {
    "tree": "(TOP (S (NP (PRP They)) (VP (VBD Gave) (PRT (RP up)) (NP (DT all) (NN hope)))))",
    "props": [{"pred": [1, 2], "args": [["ARG0", 0, 1], ["ARG1", 3, 5]]}],
}
# phrase, head word, governing category, position, path; the rest is the same for all
WORKED_OUT = [
    ("NP", "They", "S", "before", "VBD↑VP↑S↓NP"),
    ("PRP", "They", None, "before", "VBD↑VP↑S↓NP↓PRP"),
    ("NP", "hope", "VP", "after", "VBD↑VP↓NP"),
    ("DT", "all", None, "after", "VBD↑VP↓NP↓DT"),
    ("NN", "hope", None, "after", "VBD↑VP↓NP↓NN"),
]


def test_worked_out_by_hand() -> None:
    expected = [
        StandardFeatures(phrase, "gave", head, governing, position, "active", path)
        for phrase, head, governing, position, path in WORKED_OUT
    ]
    assert [found for _, _, found in srl_boundary([SENTENCE], features=True)] == expected


def test_nodes_over_the_predicate() -> None:
    over = {
        found.phrase_type: (found.position, found.path)
        for _, _, found in srl_boundary([SENTENCE], rule="A", features=True)
        if found.position == "over"
    }
    assert over == {
        "TOP": ("over", "VBD↑VP↑S↑TOP"),
        "S": ("over", "VBD↑VP↑S"),
        "VP": ("over", "VBD↑VP"),
        "VBD": ("over", "VBD"),
    }


@pytest.mark.parametrize("task", ["boundary", "role"])
@pytest.mark.parametrize("rule", ["A", "B", "C", "VB", "VC"])
def test_features_change_neither_labels_nor_trees(rule: Any, task: Any) -> None:
    plain = list(srl_boundary([SENTENCE], rule=rule, task=task))
    with_features = srl_boundary([SENTENCE], rule=rule, task=task, features=True)
    assert [(label, tree) for label, tree, _ in with_features] == plain


def test_parses_without_words_have_tags_for_words() -> None:
    sentence = {**SENTENCE, "tree": "(S (NP PRP) (VP VBD (PRT RP) (NP DT NN)))"}
    found = [f for _, _, f in srl_boundary([sentence], leaves="tags", features=True)]
    assert (found[0].predicate_word, found[0].head_word) == ("vbd", "PRP")
    assert found[1].path == "VBD↑VP↑S↓NP↓PRP"


@pytest.mark.parametrize(
    ("tree", "token", "expected"),
    [
        ("(S (NP (PRP It)) (VP (VBD was) (VP (VBN seen))))", 2, "passive"),
        ("(S (NP (PRP It)) (VP (VBD was) (VP (VBN seen))))", 1, "active"),
        ("(S (NP (PRP It)) (VP (VBD Got) (VP (VBN seen))))", 2, "passive"),
        ("(S (NP (PRP It)) (VP (VBZ has) (VP (VBN seen))))", 2, "active"),
        ("(S (NP (PRP It)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))))", 3, "passive"),
        ("(S (NP (PRP It)) (VP (VBZ has) (VP (VBN been) (VP (VBN seen)))))", 2, "active"),
        ("(S (NP (PRP It)) (VP (VBZ is) (VP (VP (VBN a)) (CC and) (VP (VBN b)))))", 4, "passive"),
        ("(S (NP (PRP It)) (VP (VBZ is) (VP (VBN a) (CC and) (VBN b))))", 4, "passive"),
        ("(SQ (VBD Was) (NP (PRP it)) (VP (VBN seen)))", 2, "passive"),
        ("(SQ (VBZ Has) (NP (PRP it)) (VP (VBN seen)))", 2, "active"),
        ("(NP (NP (DT the) (NN book)) (VP (VBN seen) (ADVP (RB here))))", 2, "passive"),
        ("(NP (VBN seen) (NNS books))", 0, "active"),
        ("(S (VP (VBN Seen) (ADVP (RB here))))", 0, "active"),
        ("(VBN seen)", 0, "active"),
        ("(S (NP (PRP I)) (VP (VBP am) (VP (VBG seeing))))", 2, "active"),
    ],
)
def test_voice(tree: str, token: int, expected: str) -> None:
    parse = read_parse(tree, "words")
    base = [base_label(label) for label in parse.label]
    assert voice(parse, base, parse.tag[token]) == expected


@pytest.mark.parametrize(
    ("phrase", "children", "head"),
    [
        ("NP", "DT JJ NN", 2),
        ("NP", "NP PP", 0),
        ("NP", "NP POS NN", 2),
        ("NP", "PRP", 0),
        ("VP", "MD VP", 0),
        ("VP", "VB CC VB", 0),
        ("VP", "ADVP VBZ VBN NP", 1),
        ("NP", "NN NN", 1),
        ("SBARQ", "WHADVP SQ . SQ", 1),
        ("QP", "CD TO CD", 2),
        ("VP", "VP CC VP", 0),
        ("PP", "RB IN NP", 1),
        ("S", "NP VP .", 1),
        ("SBAR", "IN S", 0),
        ("ADJP", "RB JJ PP", 1),
        ("WHNP", "WDT NN", 0),
        ("FRAG", "`` : UH", 2),
        ("X", ". ,", 0),
    ],
)
def test_heads(phrase: str, children: str, head: int) -> None:
    assert head_child(phrase, children.split()) == head


def test_function_tags_do_not_count() -> None:
    assert [base_label(x) for x in ("NP-SBJ-1", "NP=2", "-LRB-", "PRP$", "=")] == [
        "NP", "NP", "-LRB-", "PRP$", "="]  # fmt: skip
    parse = read_parse("(S-HLN (NP-SBJ (NN a)) (VP (VB b)))", "words")
    found = ParseFeatures(parse).of_predicate(parse.tag[1]).of_candidate(1)
    assert (found.phrase_type, found.governing_category) == ("NP-SBJ", "S")


def test_deep_parses_do_not_recurse() -> None:
    depth = 3_000
    tree = "(S " * depth + "(S (NN dogs) (VB bark))" + ")" * depth
    sentence = {"tree": tree, "props": [{"pred": [1], "args": [["ARG0", 0, 1]]}]}
    [(_, _, found)] = srl_boundary([sentence], features=True)
    assert found.path == "VB↑S↓NN"


# ---------------------------------------------------------------- on a treebank


def seen_in_tree(tree: str) -> tuple[str, str, str, str]:
    """Phrase type, predicate word, position and path, as the marks in a tree show them."""
    paths: dict[str, list[str]] = {}  # from the root, by mark
    words: dict[str, str] = {}
    above: list[str] = []
    last = ""
    for symbol in re.findall(r"[()]|[^() ]+", tree):
        if symbol == ")":
            above.pop()
        elif symbol != "(" and last == "(":
            above.append(symbol)
            if symbol.endswith(("-B", "-P")):
                paths[symbol[-1]] = [*above[:-1], symbol[:-2]]
        elif symbol != "(" and above[-1].endswith("-P"):
            words["P"] = symbol.lower()
        last = symbol
    to_candidate = paths["B"]
    path = "↑".join(reversed(paths["P"]))  # the root is where the two ways meet
    path += "".join(f"↓{label}" for label in to_candidate[1:])
    position = "before" if list(paths) == ["B", "P"] else "after"
    return to_candidate[-1], words["P"], position, path


@pytest.mark.shared
def test_features_are_what_the_trees_show(shared_dir: Path) -> None:
    path = shared_dir / "data/srl-ewt/dev.jsonl.xz"
    voices: Counter[str] = Counter()
    for _, tree, found in islice(srl_boundary(path, features=True), 20_000):
        shown = found.phrase_type, found.predicate_word, found.position, found.path
        assert shown == seen_in_tree(tree)
        assert f" {found.head_word})" in tree
        assert found.governing_category is None or found.phrase_type == "NP"
        voices[found.voice] += 1
    assert 0.01 < voices["passive"] / voices.total() < 0.2


# ---------------------------------------------------------------- columns


def test_examples_with_a_matrix_of_features() -> None:
    columns = OneHotColumns(StandardFeatures._fields)
    X, y = load_srl([SENTENCE], columns=columns)
    forest, labels = load_srl([SENTENCE])
    assert isinstance(X, Examples)
    assert X["tree"] == forest
    assert y.tolist() == labels.tolist()
    matrix = X["features"]
    assert matrix.shape == (5, len(columns))
    assert matrix.sum(axis=1).tolist() == [7, 6, 7, 6, 6], "tags have no governing category"
    rows = [
        {columns.names[j] for j in matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]}
        for i in range(5)
    ]
    assert "path=VBD↑VP↑S↓NP" in rows[0]
    assert rows[0] & rows[2] == {"phrase_type=NP", "predicate_word=gave", "voice=active"}


def test_values_that_training_data_do_not_have_get_no_column() -> None:
    columns = OneHotColumns(StandardFeatures._fields)
    X, _ = load_srl([SENTENCE], columns=columns)
    other = {**SENTENCE, "tree": SENTENCE["tree"].replace("hope", "play")}
    Z, _ = load_srl([other], columns=columns.freeze())
    assert Z["features"].shape == X["features"].shape
    fewer = np.asarray(X["features"].sum(axis=1) - Z["features"].sum(axis=1)).ravel()
    assert fewer.tolist() == [0, 0, 1, 0, 1], "no head word 'play'"


def test_columns_do_not_depend_on_batches() -> None:
    rows = [["a", "x"], ["b", None], ["a", "y"], ["c", "x"]]
    at_once, in_two = OneHotColumns("pq"), OneHotColumns("pq")
    whole = at_once.transform(rows)
    first, second = in_two.transform(rows[:2]), in_two.transform(iter(rows[2:]))
    assert at_once.names == in_two.names == ["p=a", "q=x", "p=b", "q=y", "p=c"]
    assert whole.toarray()[:2, : first.shape[1]].tolist() == first.toarray().tolist()
    assert whole.toarray()[2:].tolist() == second.toarray().tolist()
    assert whole.has_sorted_indices


def test_files_give_the_matrix_back(tmp_path: Path) -> None:
    columns = OneHotColumns(StandardFeatures._fields)
    X, y = load_srl([SENTENCE], columns=columns)
    lines = []
    for label, tree, found in srl_boundary([SENTENCE], features=True):
        numbers = " ".join(f"{column + 1}:1" for column in columns.encode(found))
        lines.append(f"{label} |BT| {tree} |ET| {numbers}\n")
    (tmp_path / "e.dat").write_text("".join(lines), encoding="utf-8")
    Z, z = read_examples(tmp_path / "e.dat")
    assert Z["tree"] == X["tree"]
    assert (Z["features"] != X["features"]).nnz == 0
    assert z.tolist() == y.tolist()


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="a row has 1 values, but there are 2 features"):
        OneHotColumns("pq").encode(["a"])
