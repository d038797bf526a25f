"""IUPAC-condensed glycans: what texts contain, round trips, and where errors are."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filbert import Forest
from filbert.errors import InvalidParameterError, ParseError
from filbert.read import iupac
from filbert.transform import SortChildren
from tests.profiles import n_examples
from tests.reference.trees import Node
from tests.strategies import trees
from tests.tree_formats import CHAIN, read, read_forest, read_skipping, read_texts, write

# What is no residue in the glycans of the data sets: slips of their sources.
SLIPS = {"glycan-binding": ["GlcNAc.1", "GlcNAc.1"], "train": ["OLac"], "test": ["Gl"]}
CORE = "Man(a1-3)[Man(a1-6)]Man(b1-4)GlcNAc(b1-4)[Fuc(a1-6)]GlcNAc"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (CORE, {}, "(GlcNAc (GlcNAc/b1-4 (Man/b1-4 Man/a1-3 Man/a1-6)) Fuc/a1-6)"),
        (CORE, {"linkages": "drop"}, "(GlcNAc (GlcNAc (Man Man Man)) Fuc)"),
        ("Gal(b1-4)[Fuc(a1-3)]GlcNAc", {"linkages": "node"}, "(GlcNAc (b1-4 Gal) (a1-3 Fuc))"),
        ("Gal(b1-4)GlcNAc(b1-", {}, "(GlcNAc/b1- Gal/b1-4)"),
        ("Gal(b1-4)GlcNAc(b1-", {"linkages": "node"}, "(b1- (GlcNAc (b1-4 Gal)))"),
        ("[Fuc(a1-3)]GlcNAc", {}, "(GlcNAc Fuc/a1-3)"),
        ("2,5-Anhydro-Man", {}, "(2,5-Anhydro-Man)"),
        ("Neu5Ac(a2-3/6)Gal", {}, "(Gal Neu5Ac/a2-3/6)"),
        ("Man(?1-?)Man(α1-2)Man(1-P-6)Hex", {}, "(Hex (Man/1-P-6 (Man/α1-2 Man/?1-?)))"),
        ("hello(b1-4)123", {"residues": "any"}, "(123 hello/b1-4)"),
        (
            "Man(a1-3)[Gal(b1-4)GlcNAc(b1-2)][Fuc(a1-2)]Man",
            {"unordered": True},
            "(Man Fuc/a1-2 (GlcNAc/b1-2 Gal/b1-4) Man/a1-3)",
        ),
        (
            "Gal(b1-4)[Fuc(a1-3)]GlcNAc",
            {"unordered": True, "linkages": "node"},
            "(GlcNAc (a1-3 Fuc) (b1-4 Gal))",
        ),
    ],
)
def test_what_texts_contain(text: str, options: dict[str, str], expected: str) -> None:
    assert read_texts("iupac", f"\n{text}\r\n\n", **options) == [expected]


NAMES = ("Gal", "GlcNAc6S", "D-Fuc", "Neu5Ac9Ac", "2,5-Anhydro-Man-ol", "LDManHepOPPEtn", "Araf")


def any_name(node: Node) -> str:
    return node.label


def known_name(node: Node) -> str:
    return NAMES[sum(map(ord, node.label)) % len(NAMES)]


def glycan(node: Node, name: Callable[[Node], str] = any_name, linkage: str = "") -> str:
    """The notation, recursively."""
    main, *branches = [glycan(child, name, "(b1-4)") for child in node.children] or [""]
    return main + "".join(f"[{branch}]" for branch in branches) + name(node) + linkage


@n_examples(60)
@given(
    st.lists(trees(), max_size=4),
    st.sampled_from(["label", "node"]),
    st.sampled_from([("known", known_name), ("any", any_name)]),
    st.booleans(),
)
def test_round_trip(
    nodes: list[Node],
    linkages: str,
    residues: tuple[str, Callable[[Node], str]],
    open_root: bool,
) -> None:
    allowed, name = residues
    options = {"linkages": linkages, "residues": allowed}
    text = "".join(glycan(node, name, "(b1-" if open_root else "") + "\n" for node in nodes)
    forest = read_forest("iupac", text, **options)
    assert len(forest) == len(nodes)
    assert write("iupac", forest, **options) == text


@n_examples(60)
@given(trees(), st.randoms())
def test_unordered_trees_do_not_depend_on_the_order(node: Node, random: Random) -> None:
    def shuffled(node: Node) -> Node:
        children = [shuffled(child) for child in node.children]
        random.shuffle(children)
        return Node(node.label, tuple(children))

    texts = [glycan(one, known_name) for one in (node, shuffled(node))]
    forest = read_forest("iupac", "\n".join(texts), unordered=True)
    assert forest[0] == forest[1]
    assert forest[0] == SortChildren().transform(read_forest("iupac", texts[0]))[0]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("Gal[Fuc(a1-3)]Glc", 1, "'Gal' has no linkage"),
        ("Gal(b1-4)", 4, "'b1-4' has no residue after it"),
        ("(b1-4)Glc", 1, "'b1-4' has no residue before it"),
        ("Gal(b1-4)(b1-3)Glc", 10, "'b1-3' has no residue before it"),
        ("  Gal(b1-4)]Glc", 12, "unexpected ']'"),
        ("[Gal(b1-4)Glc", 1, r"unexpected '\['"),
        ("Gal(b1-4)[]Glc", 10, r"unexpected '\['"),
        ("[Gal(b1-4)]", 11, "unexpected ']'"),
        ("{Gal(b1-4)}Glc", 1, "unexpected '{' .*place in the glycan is unknown"),
        ("Gal(b1-4 Glc", 4, r"unexpected '\('"),
        ("Gal(b1-4)Glc x", 13, "unexpected ' ' .*one glycan per line"),
        ("Gal/b1-4", 1, "has a '/'"),
        ("Galb1-4GlcNAc", 1, "'Galb1-4GlcNAc' is no monosaccharide .*linkages in brackets"),
        ("Galb1-4(Fuca1-3)GlcNAcb", 17, "'GlcNAcb' is no monosaccharide"),
        ("Gal(foo)Glc", 4, "'foo' is not a linkage"),
        ("Gal(Fuca1-3)Glc", 4, "'Fuca1-3' is not a linkage"),
        ("Gal(b1)Glc", 4, "'b1' is not a linkage"),
        ("Gal(b1-4)[yes(a1-3)]Glc", 11, "'yes' is no monosaccharide .*residues='any'"),
        ("hello", 1, "no monosaccharide"),
        ("123", 1, "no monosaccharide"),
        ("a,b", 1, "no monosaccharide"),
        ("Glcose", 1, "no monosaccharide"),
        ("Management", 1, "no monosaccharide"),
    ],
)
def test_bad_text_has_a_place(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        read("iupac", f"Glc\n{text}\n")
    assert (error.value.source, error.value.line, error.value.column) == ("file", 2, column)


def test_bad_lines_can_be_skipped() -> None:
    trees, skipped = read_skipping("iupac", "Glc\n{Glc\nGal\n")
    assert trees == ["(Glc)", "(Gal)"]
    assert [error.line for error in skipped] == [2]


@pytest.mark.parametrize(
    ("tree", "linkages", "message"),
    [
        ("(Glc Gal)", "label", "'Gal' has no linkage"),
        ("(Glc/b1-4)", "label", "root 'Glc/b1-4' has a linkage"),
        (r"(Glc Gal\ /b1-4)", "label", "not a residue"),
        ("(Glc yes/b1-4)", "label", "not a residue"),
        ("(Glc Gal/foo)", "label", "not a linkage"),
        (r"(Glc Gal/b\(1-4)", "label", "not a linkage"),
        ("(Glc Gal/)", "label", "not a residue"),
        ("(Glc b1-4)", "node", "one residue below it"),
        ("(Glc Gal)", "drop", "is for reading"),
    ],
)
def test_other_trees_are_not_written(tree: str, linkages: str, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        write("iupac", Forest.from_brackets([tree]), linkages=linkages)


def test_a_chain() -> None:
    text = "Gal(b1-4)" * (CHAIN // 2) + "Glc"
    assert read_forest("iupac", text, linkages="node")[0].depth == CHAIN + 1
    labels, parents = ["Glc", *["Gal/b1-4"] * CHAIN], list(range(-1, CHAIN))
    assert iupac.write(labels, parents, iupac.Options()) == "Gal(b1-4)" * CHAIN + "Glc"


def test_bad_options() -> None:
    with pytest.raises(InvalidParameterError, match="linkages"):
        read("iupac", "", linkages="keep")
    with pytest.raises(InvalidParameterError, match="residues"):
        read("iupac", "", residues="all")
    with pytest.raises(InvalidParameterError, match="unordered"):
        read("iupac", "", unordered=1)


def test_long_names_take_linear_time() -> None:
    for name in ("GlcNAcProp" * 50_000 + "x", "Glc" + "1," * 200_000, "1d" * 200_000):
        with pytest.raises(ParseError, match="no monosaccharide"):
            read("iupac", name)


def refused(errors: list[ParseError]) -> list[str]:
    """The residues that errors name."""
    return [error.reason.split("'")[1] for error in errors]


@pytest.mark.shared
def test_texts_give_the_trees_of_another_reader(shared_dir: Path) -> None:
    expected: dict[str, str] = {}
    for name in ("train", "test"):
        with lzma.open(shared_dir / f"data/glycan-binding/{name}.tsv.xz", "rt") as lines:
            expected |= {text: tree for *_, tree, text in (line[:-1].split("\t") for line in lines)}
    document = "".join(f"{text}\n" for text in expected)
    forest = read_forest("iupac", document, residues="any")
    assert forest == Forest.from_brackets(expected.values())
    assert write("iupac", forest, residues="any") == document
    _, skipped = read_skipping("iupac", document)
    assert refused(skipped) == SLIPS["glycan-binding"]


@pytest.mark.shared
@pytest.mark.parametrize("name", ["train", "test"])
def test_all_trees_there_and_back(shared_dir: Path, name: str) -> None:
    with lzma.open(shared_dir / f"data/glycan/{name}.jsonl.xz", "rt") as lines:
        forest = Forest.from_brackets([json.loads(line)["tree"] for line in lines])
    document = write("iupac", forest, residues="any")
    assert read_forest("iupac", document, residues="any") == forest
    _, skipped = read_skipping("iupac", document)
    assert refused(skipped) == SLIPS[name]
