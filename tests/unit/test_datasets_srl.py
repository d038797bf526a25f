"""Predicate-argument trees: one sentence worked out by hand, counts on a real treebank."""

import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from filbert.datasets.srl import Leaves, Rule, load_srl, srl_boundary
from filbert.errors import InvalidParameterError, MissingFileError, ParseError

RULES: tuple[Rule, ...] = ("A", "B", "C", "VB", "VC")

# Tokens: 0 they, 1 gave, 2 up, 3 hope. "gave up" is a verb of two tokens, "hope" a noun with an
# argument, and (NP (PRP they)) and (NP (NN hope)) are unary chains.
SENTENCE = {
    "tree": "(S (NP (PRP they)) (VP (VBD gave) (PRT (RP up)) (NP (NN hope))))",
    "props": [
        {"pred": [1, 2], "args": [["ARG0", 0, 1], ["ARG1", 3, 4]]},
        {"pred": [3], "args": [["ARG0", 0, 1]]},
    ],
}

# (rules, label, tree), in the order of the stream.
A = ("A",)
AB = ("A", "B")
ABC = ("A", "B", "C")
ABV = ("A", "B", "VB")
ALL = RULES
WORKED_OUT: list[tuple[tuple[str, ...], int, str]] = [
    # gave: every node over "gave" or "up" is in rule A alone
    (A, -1, "(S-B (NP (PRP they)) (VP (VBD-P gave) (PRT (RP up)) (NP (NN hope))))"),
    (ALL, 1, "(S (NP-B (PRP they)) (VP (VBD-P gave)))"),
    (ABV, 1, "(S (NP (PRP-B they)) (VP (VBD-P gave)))"),
    (A, -1, "(VP-B (VBD-P gave) (PRT (RP up)) (NP (NN hope)))"),
    (A, -1, "(VBD-B-P gave)"),
    (A, -1, "(VP (VBD-P gave) (PRT-B (RP up)))"),
    (A, -1, "(VP (VBD-P gave) (PRT (RP-B up)))"),
    (ALL, 1, "(VP (VBD-P gave) (NP-B (NN hope)))"),
    (ABV, 1, "(VP (VBD-P gave) (NP (NN-B hope)))"),
    # hope: not a verb
    (A, -1, "(S-B (NP (PRP they)) (VP (VBD gave) (PRT (RP up)) (NP (NN-P hope))))"),
    (ABC, 1, "(S (NP-B (PRP they)) (VP (NP (NN-P hope))))"),
    (AB, 1, "(S (NP (PRP-B they)) (VP (NP (NN-P hope))))"),
    (A, -1, "(VP-B (VBD gave) (PRT (RP up)) (NP (NN-P hope)))"),
    (ABC, -1, "(VP (VBD-B gave) (NP (NN-P hope)))"),
    (ABC, -1, "(VP (PRT-B (RP up)) (NP (NN-P hope)))"),
    (AB, -1, "(VP (PRT (RP-B up)) (NP (NN-P hope)))"),
    (A, -1, "(NP-B (NN-P hope))"),
    (A, -1, "(NN-B-P hope)"),
]


@pytest.mark.parametrize("rule", RULES)
def test_worked_out_by_hand(rule: Rule) -> None:
    expected = [(label, tree) for rules, label, tree in WORKED_OUT if rule in rules]
    assert list(srl_boundary([SENTENCE], rule=rule)) == expected


def test_roles_are_those_of_the_arguments() -> None:
    assert list(srl_boundary([SENTENCE], rule="VC", task="role")) == [
        ("ARG0", "(S (NP-B (PRP they)) (VP (VBD-P gave)))"),
        ("ARG1", "(VP (VBD-P gave) (NP-B (NN hope)))"),
    ]


def test_of_two_arguments_with_one_span_the_first_gives_the_role() -> None:
    args = [["ARGM-TMP", 0, 1], ["ARG0", 0, 1]]
    sentence = {**SENTENCE, "props": [{"pred": [1], "args": args}]}
    roles = [role for role, _ in srl_boundary([sentence], rule="VC", task="role")]
    assert roles == ["ARGM-TMP"]


def test_parses_without_words() -> None:
    sentence = {**SENTENCE, "tree": "(S (NP PRP) (VP VBD (PRT RP) (NP NN)))"}
    assert list(srl_boundary([sentence], rule="VB", leaves="tags")) == [
        (1, "(S (NP-B PRP) (VP VBD-P))"),
        (1, "(S (NP PRP-B) (VP VBD-P))"),
        (1, "(VP VBD-P (NP-B NN))"),
        (1, "(VP VBD-P (NP NN-B))"),
    ]
    above = [tree for _, tree in srl_boundary([sentence], rule="A", leaves="tags")]
    assert "(VBD-B-P)" in above, "a tree of one node has brackets"


def test_verbs_without_arguments_are_left_out_by_the_rules_for_verbs() -> None:
    sentence = {**SENTENCE, "props": [{"pred": [1], "args": []}]}
    assert not list(srl_boundary([sentence], rule="VB"))
    assert list(srl_boundary([sentence], rule="B"))


def test_symbols_are_taken_as_written_and_escaped() -> None:
    sentence = {
        "tree": "(S (NN a\\b\u00a0c) (VB go))",
        "props": [{"pred": [1], "args": [["ARG0", 0, 1]]}],
    }
    assert list(srl_boundary([sentence])) == [(1, "(S (NN-B a\\\\b\u00a0c) (VB-P go))")]


def test_deep_parses_do_not_recurse() -> None:
    depth = 3_000
    tree = "(X " * depth + "(S (NN dogs) (VB bark))" + ")" * depth
    sentence = {"tree": tree, "props": [{"pred": [1], "args": [["ARG0", 0, 1]]}]}
    assert list(srl_boundary([sentence])) == [(1, "(S (NN-B dogs) (VB-P bark))")]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("s.jsonl", bytes), ("s.jsonl.gz", gzip.compress), ("s.jsonl.xz", lzma.compress)],
)
def test_files(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(pack((json.dumps(SENTENCE) + "\n\n" + json.dumps(SENTENCE)).encode()))
    twice = list(srl_boundary([SENTENCE, SENTENCE]))
    assert list(srl_boundary(path)) == list(srl_boundary(str(path))) == twice


def test_load_srl_aligns_trees_and_labels() -> None:
    forest, y = load_srl([SENTENCE], rule="C")
    expected = [(label, tree) for rules, label, tree in WORKED_OUT if "C" in rules]
    assert [str(tree) for tree in forest] == [tree for _, tree in expected]
    assert y.tolist() == [label for label, _ in expected]
    _, roles = load_srl([SENTENCE], rule="VC", task="role")
    assert roles.tolist() == ["ARG0", "ARG1"]


BAD_SENTENCES: list[tuple[Any, str]] = [
    ("(S (NN a))", "expected an object with the key 'tree'"),
    ({"props": []}, "the key 'tree' is missing"),
    ({"tree": "(S (NN a))"}, "the key 'props' is missing"),
    ({"tree": 3, "props": []}, "'tree' must be of type str, not int"),
    ({"tree": "(S (NN a)", "props": []}, "a bracket is not closed"),
    ({"tree": "(S (NN a)))", "props": []}, "closes without having opened"),
    ({"tree": "(S ((NN a)))", "props": []}, "has no label"),
    ({"tree": "(S ())", "props": []}, "has no label"),
    ({"tree": "(S (NN a)) (S (NN b))", "props": []}, "'S' is outside of the tree"),
    ({"tree": "S", "props": []}, "'S' is outside of the tree"),
    ({"tree": " ", "props": []}, "it is empty"),
    ({"tree": "(NP DT NN)", "props": []}, "'DT' is not alone under a tag"),
    ({"tree": "(S (NN a))", "props": [{"pred": [1], "args": []}]}, "does not name tokens"),
    ({"tree": "(S (NN a))", "props": [{"pred": [], "args": []}]}, "does not name tokens"),
    ({"tree": "(S (NN a))", "props": [{"args": []}]}, "the key 'pred' is missing"),
    ({"tree": "(S (NN a))", "props": [{"pred": [0]}]}, "the key 'args' is missing"),
    *[
        ({"tree": "(S (NN a))", "props": [{"pred": [0], "args": [arg]}]}, "does not fit a sentence")
        for arg in (["ARG0", 0, 2], ["ARG0", -1, 1], ["ARG0", 1, 1], ["ARG0", 0], [0, 0, 1], None)
    ],
]


@pytest.mark.parametrize(("sentence", "message"), BAD_SENTENCES)
def test_bad_sentences(sentence: Any, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        list(srl_boundary([sentence]))


def test_errors_tell_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{json.dumps(SENTENCE)}\n\n{{oops\n", encoding="utf-8")
    stream = srl_boundary(path)
    first = [next(stream) for _ in range(4)]
    assert first == list(srl_boundary([SENTENCE])), "what comes before the bad line is read"
    with pytest.raises(ParseError, match="JSON") as caught:
        next(stream)
    assert caught.value.line == 3
    assert caught.value.source == str(path)


def test_damaged_files(tmp_path: Path) -> None:
    whole = lzma.compress(json.dumps(SENTENCE).encode() * 1000)
    for name, content in {
        "cut.jsonl.xz": whole[: len(whole) // 2],
        "text.jsonl.xz": b"{}",
        "text.jsonl.gz": b"{}",
    }.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ParseError, match="damaged"):
            list(srl_boundary(tmp_path / name))


def test_other_encodings_and_missing_files(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    with pytest.raises(MissingFileError):
        list(srl_boundary(path))
    path.write_bytes(b'{"tree": "\xe9"}')
    with pytest.raises(ParseError, match="UTF-8"):
        list(srl_boundary(path))


@pytest.mark.parametrize("option", [{"rule": "D"}, {"task": "roles"}, {"leaves": "word"}])
def test_unknown_options_are_refused_at_once(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=f"{next(iter(option))} must be one of"):
        srl_boundary([], **option)


# Examples and positive ones, as counted by readers that share no code with this one.
COUNTS: dict[tuple[str, Leaves], dict[Rule, tuple[int, int]]] = {
    ("srl-ewt/dev", "words"): {
        "A": (205_366, 13_564),
        "B": (170_982, 13_564),
        "C": (147_516, 9_559),
        "VB": (110_673, 11_472),
        "VC": (94_922, 7_889),
    },
    ("srl-onto-unlex/wsj.dev", "tags"): {
        "A": (228_559, 10_679),
        "B": (196_023, 10_679),
        "C": (177_915, 8_426),
        "VB": (136_731, 9_732),
        "VC": (123_773, 7_510),
    },
}


@pytest.mark.shared
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("name", "leaves"), COUNTS)
def test_counts_on_treebanks(shared_dir: Path, name: str, leaves: Leaves, rule: Rule) -> None:
    path = shared_dir / "data" / f"{name}.jsonl.xz"
    labels = [label for label, _ in srl_boundary(path, rule=rule, leaves=leaves)]
    assert (len(labels), labels.count(1)) == COUNTS[name, leaves][rule]
