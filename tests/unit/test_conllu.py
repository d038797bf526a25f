"""CoNLL-U: the kinds of trees, what sentences may contain, and where errors are."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest, Tree, read_trees
from filbert.errors import InvalidParameterError, ParseError, SkippedInputWarning
from filbert.read.dependencies import DependencyOptions, Word, dependency_text
from tests.profiles import n_examples
from tests.tree_formats import CHAIN, read, read_skipping, read_texts


def sentence(*lines: str, comments: tuple[str, ...] = ()) -> str:
    """Lines of "id form lemma upos xpos head deprel" in CoNLL-U."""
    made = [f"# {comment}" for comment in comments]
    for line in lines:
        number, form, lemma, upos, xpos, head, deprel = line.split()
        made.append("\t".join([number, form, lemma, upos, xpos, "A=B", head, deprel, "_", "_"]))
    return "\n".join(made) + "\n\n"


DOG = (
    "1 A a DET DT 2 det",
    "2 dog dog NOUN NN 3 nsubj",
    "3 ran run VERB VBD 0 root",
    "4 . . PUNCT . 3 punct",
)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "(root (nsubj (det (DET a)) (NOUN dog)) (VERB run) (punct (PUNCT .)))"),
        ({"tree": "grct", "lexical": "form", "pos": "xpos", "punctuation": False},
         "(root (nsubj (det (DT A)) (NN dog)) (VBD ran))"),
        ({"tree": "lct"}, "(run (dog (a DET det) NOUN nsubj) (. PUNCT punct) VERB root)"),
        ({"tree": "loct"}, "(run (dog a) .)"),
        ({"tree": "dependency"}, "(ran (dog A) .)"),
        ({"tree": "dependency", "label": "upos/deprel"},
         "(VERB/root (NOUN/nsubj DET/det) PUNCT/punct)"),
        ({"tree": "lct", "style": "kelp", "pos": "xpos", "punctuation": False},
         "(LEX##run::v (LEX##dog::n (LEX##a::d POS##DT SYNT##det) POS##NN SYNT##nsubj)"
         " POS##VBD SYNT##root)"),
    ],
)  # fmt: skip
def test_kinds_of_trees(options: dict[str, object], expected: str) -> None:
    assert read_texts("conllu", sentence(*DOG), **options) == [expected]


def test_comments_are_columns() -> None:
    text = (
        sentence(DOG[2].replace("3", "1"), comments=("newdoc id = d", "sent_id = s1", "x y = 1"))
        + "# a note on its own\n\n\n"
        + sentence(DOG[2].replace("3", "1"), comments=("sent_id = s2", "text = ran", "newpar"))
        + sentence(DOG[2].replace("3", "1"), comments=("newdoc", "sent_id = s3"))
    )
    assert [dict(record.columns) for record in read("conllu", text)] == [
        {"sent_id": "s1", "doc_id": "d"},
        {"sent_id": "s2", "text": "ran", "doc_id": "d"},
        {"sent_id": "s3"},
    ]


def test_read_trees_keeps_the_columns_of_files(tmp_path: Path) -> None:
    one, two = sentence("1 a a X X 0 root", comments=("sent_id = 1",)), sentence("1 b b X X 0 root")
    (tmp_path / "b.conllu").write_text(two, "utf-8")
    (tmp_path / "a.conllu").write_text(one + sentence("1 c c X X 1 root"), "utf-8")
    with pytest.warns(SkippedInputWarning, match="governs itself"):
        X = read_trees(tmp_path, format="conllu", tree="loct", on_error="skip")
    assert [tree.label for tree in X["tree"]] == ["a", "b"]
    assert X.columns["sent_id"].tolist() == ["1", ""]
    assert [Path(file).name for file in X.columns["file"]] == ["a.conllu", "b.conllu"]


def test_odd_but_correct_sentences() -> None:
    """Multiword tokens, empty nodes, blanks in words, missing lemmas, Windows line ends, no end."""
    text = (
        "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tde\tde\tADP\t_\t_\t3\tcase\t3:case\t_\n"
        "2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n"
        "3\t1 000 (fin)\t_\tNUM\t_\t_\t0\troot\t_\t_\n"
        "3.1\tnul\t_\t_\t_\t_\t_\t_\t0:root\t_\n"
        "4\t_\t_\tSYM\t_\t_\t3\tdep\t_\t_"
    ).replace("\n", "\r\n")
    expected = r"(root (case (ADP de)) (det (DET le)) (NUM 1\ 000\ \(fin\)) (dep (SYM _)))"
    assert read_texts("conllu", text) == [expected]


def test_blanks_around_values_make_no_other_labels() -> None:
    line = "1\t ran \t run\tVERB \tVBD\t_\t0\t root\t_\t_\n"
    assert read_texts("conllu", line) == ["(root (VERB run))"]
    with pytest.raises(ParseError, match=r"line 1: .* has no form"):
        read("conllu", line.replace(" ran ", " "), tree="dependency")


def test_conllu_plus_names_its_columns() -> None:
    columns = "# global.columns = ID HEAD DEPREL FORM LEMMA UPOS XPOS PARSEME:MWE\n"
    text = columns + "1\t0\troot\tran\trun\tVERB\tVBD\t*\n"
    assert read_texts("conllu", text) == ["(root (VERB run))"]
    with pytest.raises(ParseError, match=r"file, line 1: .* HEAD once"):
        read("conllu", text.replace("HEAD", "FOOT"))


def test_several_roots_can_be_joined() -> None:
    text = sentence("1 a a X X 0 root", "2 b b X X 0 root")
    assert read_texts("conllu", text, tree="loct", several_roots="join") == ["(ROOT a b)"]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("3 ran run VERB VBD 0", "3 ran run VERB VBD 2", 3, "governs itself"),
        ("2 dog dog NOUN NN 3", "2 dog dog NOUN NN 2", 3, "'dog' governs itself"),
        ("2 dog dog NOUN NN 3", "2 dog dog NOUN NN 0", 4, "2 roots"),
        ("2 dog dog NOUN NN 3", "2 dog dog NOUN NN 5", 3, "head 5 is not a word"),
        ("2 dog dog NOUN NN 3", "2 dog dog NOUN NN _", 3, "no head"),
        ("2 dog dog NOUN NN 3", "2 dog dog NOUN NN x", 3, "'x' is not a valid value"),
        ("2 dog dog NOUN NN 3", "2 dog dog _ NN 3", 3, "'dog' has no upos"),
        ("3 nsubj", "3 _", 3, "'dog' has no deprel"),
        ("2 dog", "3 dog", 3, "expected the word number 2, got 3"),
        ("2 dog", "x dog", 3, "not a line of CoNLL-U"),
    ],
)
def test_bad_sentences_have_a_line(old: str, new: str, line: int, message: str) -> None:
    lines = "\n".join(DOG).replace(old, new).split("\n")
    with pytest.raises(ParseError, match=message) as error:
        read("conllu", sentence(*lines, comments=("sent_id = 1",)))
    assert (error.value.source, error.value.line) == ("file", line)


def test_bad_sentences_can_be_skipped() -> None:
    bad = sentence("1 a a X X 1 root"), "1\ta\n\n", sentence("1 b b _ X 0 root")
    good = sentence("1 c c X X 0 root")
    trees, skipped = read_skipping("conllu", "".join([good, *bad, good]))
    assert trees == ["(root (X c))"] * 2
    assert [error.line for error in skipped] == [3, 5, 7]


def test_other_columns_are_an_error() -> None:
    for line in ("1\tran\t0\n", "1 ran\n", "\t".join("1abcdefghijkl") + "\n"):
        with pytest.raises(ParseError, match="columns instead of 10"):
            read("conllu", line)
    with pytest.raises(ParseError, match="no words"):
        read("conllu", "1.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": "grtc"}, "tree must be one of 'grct'"),
        ({"pos": "form"}, "pos must be one of"),
        ({"label": "form"}, "label is for tree='dependency'"),
        ({"tree": "dependency", "label": "word"}, "label must name form"),
        ({"tree": "dependency", "style": "kelp"}, "style='kelp' is for"),
        ({"punctuation": "no"}, "punctuation must be True or False"),
        ({"trees": 1}, "has no option 'trees'"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        read("conllu", "", **options)


@n_examples(60)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=12))
def test_trees_have_the_nodes_of_the_parse(numbers: list[int]) -> None:
    """Heads that form a tree; each kind of tree holds each word and its head."""
    heads = [-1] + [number % (i + 1) for i, number in enumerate(numbers)]
    words = [Word(f"w{i}", None, "X", "X", "r", head) for i, head in enumerate(heads)]
    for kind, nodes_per_word in (("grct", 3), ("lct", 3), ("loct", 1), ("dependency", 1)):
        text = dependency_text(words, DependencyOptions(tree=kind))
        assert Forest.from_brackets([text]).n_nodes == nodes_per_word * len(words)
    plain = Forest.from_brackets([dependency_text(words, DependencyOptions(tree="loct"))])[0]
    labels, parents = plain.to_parents()
    found = {labels[i]: labels[parent] for i, parent in enumerate(parents) if parent >= 0}
    assert found == {f"w{i}": f"w{head}" for i, head in enumerate(heads) if head >= 0}


def test_a_chain_of_words() -> None:
    words = [Word("w", "w", "X", "X", "r", i - 1) for i in range(CHAIN)]
    text = dependency_text(words, DependencyOptions(tree="grct"))
    assert Forest.from_brackets([text])[0].depth == CHAIN + 2


# ---------------------------------------------------------------- KeLP's trees


def words_of(grct: Tree) -> list[Word]:
    """The parse from which KeLP made a GRCT, with its words in the order of the tree."""
    found: list[tuple[str, str, str, int]] = []
    heads: dict[int, int] = {}  # relation nodes, numbered by the traversal -> their words
    stack = [(grct, -1, "")]
    pending: list[tuple[int, int]] = []
    n_relations = 0
    while stack:
        node, above, relation = stack.pop()
        if node.label.startswith("SYNT##"):
            number, n_relations = n_relations, n_relations + 1
            pending.append((number, above))
            stack += [(child, number, node.label) for child in reversed(node.children)]
        else:
            [leaf] = node.children
            heads[above] = len(found)
            found.append((leaf.label, node.label, relation, above))
    above_of = dict(pending)
    return [
        Word(
            lexical.removeprefix("LEX##").rpartition("::")[0], None, None,
            pos.removeprefix("POS##"), relation.removeprefix("SYNT##"),
            heads.get(above_of[number], -1),
        )
        for lexical, pos, relation, number in found
    ]  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize("name", ["train", "test"])
def test_trees_are_those_of_kelp(shared_dir: Path, name: str) -> None:
    """The three trees of all questions, from the parses that KeLP's GRCT hold."""
    with lzma.open(shared_dir / "data/qc" / f"{name}.jsonl.xz", "rt") as lines:
        trees = [json.loads(line)["trees"] for line in lines]
    parses = [words_of(tree) for tree in Forest.from_brackets([one["grct"] for one in trees])]
    for kind in ("grct", "lct", "loct"):
        options = DependencyOptions(tree=kind, style="kelp", pos="xpos")
        made = Forest.from_brackets([dependency_text(words, options) for words in parses])
        assert made == Forest.from_brackets([one[kind] for one in trees])
