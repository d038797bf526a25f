"""What users really pass as trees: what is taken, and what is refused with the way out."""

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from filbert import (
    DistributedTreeEmbedding,
    Examples,
    Forest,
    FragmentVectorizer,
    TreePerceptron,
    TreeSVC,
    explain,
    load,
    read_examples,
    save,
    stream,
)
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    NoFragmentsWarning,
    ParseError,
    SkippedInputWarning,
)
from filbert.kernels import Linear, PartialTree, SubsetTree, Subtree

TEXTS = [f"(S (NP {a}) (VP {b}))" for a in "abcd" for b in "xyz"]
LABELS = np.array(["q" if "a" in text or "b" in text else "s" for text in TEXTS])
FOREST = Forest(TEXTS)
FRAME = pd.DataFrame({"id": range(12), "tree": TEXTS, "size": np.linspace(0.0, 1.0, 12)})

# All of them are the same twelve trees.
AS_TREES = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "bytes": [text.encode() for text in TEXTS],
    "Forest": FOREST,
    "Trees": list(FOREST),
    "array of str": np.array(TEXTS),
    "array of objects": np.array(TEXTS, dtype=object),
    "array of Trees": pd.Series(list(FOREST)).to_numpy(),
    "Series": pd.Series(TEXTS, index=range(5, 17)),
    "Series of strings": pd.Series(TEXTS, dtype="string"),
    "Series of Trees": pd.Series(list(FOREST)),
    "(n, 1) of str": np.array(TEXTS)[:, None],
    "(n, 1) of objects": np.array(TEXTS, dtype=object)[:, None],
    "DataFrame of one column": FRAME[["tree"]],
}
each_form = pytest.mark.parametrize("X", AS_TREES.values(), ids=AS_TREES)


# ---------------------------------------------------------------- what is taken


@each_form
def test_forms_of_trees(X: Any) -> None:
    assert Forest(X) == FOREST
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, LABELS)
    assert clf.predict(X).tolist() == LABELS.tolist()
    np.testing.assert_array_equal(SubsetTree()(X), SubsetTree()(FOREST))


@each_form
def test_examples_take_what_learners_take(X: Any) -> None:
    examples = Examples(tree=X, size=FRAME[["size"]])
    assert examples["tree"] == FOREST
    assert examples["size"].shape == (12, 1)
    assert Examples(tree=X)[[1, 3]]["tree"] == FOREST[[1, 3]]


def test_iterators_are_taken() -> None:
    assert Forest(iter(TEXTS)) == FOREST
    assert Forest(text for text in TEXTS) == FOREST
    assert Examples(tree=iter(TEXTS))["tree"] == FOREST
    assert TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(iter(TEXTS), LABELS).predict(
        iter(TEXTS)
    ).shape == (12,)


def test_nothing_is_no_trees() -> None:
    for nothing in ([], (), np.array([], dtype=object), pd.Series([], dtype=object)):
        assert len(Forest(nothing)) == 0
        assert len(Examples(tree=nothing)["tree"]) == 0


def test_kernels_take_the_column_that_they_name() -> None:
    kernel = SubsetTree().on("tree")
    np.testing.assert_array_equal(kernel(FRAME), SubsetTree()(FOREST))
    np.testing.assert_array_equal(kernel(dict(FRAME)), SubsetTree()(FOREST))
    clf = TreeSVC(kernel, random_state=0, C=1.0, loss="hinge").fit(FRAME, LABELS)
    assert clf.predict(FRAME).tolist() == LABELS.tolist()
    expected = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(FOREST, LABELS)
    np.testing.assert_array_equal(clf.decision_function(FRAME), expected.decision_function(FOREST))
    assert explain(clf, FRAME, LABELS) == explain(clf, Examples(tree=FOREST), LABELS)
    perceptron = TreePerceptron(kernel).fit(FRAME, LABELS)
    assert perceptron.predict(FRAME).shape == (12,)
    vectors = DistributedTreeEmbedding(16, part="tree").fit_transform(FRAME)
    np.testing.assert_array_equal(vectors, DistributedTreeEmbedding(16).fit_transform(FOREST))


@pytest.mark.parametrize("learner", [TreeSVC, TreePerceptron])
def test_sums_take_the_columns_that_they_name(learner: Any, tmp_path: Path) -> None:
    kernel = SubsetTree().on("tree") + Linear().on("size")
    X = Examples.from_frame(FRAME, trees={"tree": "tree"}, features={"size": ["size"]})
    clf = learner(kernel, random_state=0).fit(FRAME, LABELS)
    expected = learner(kernel, random_state=0).fit(X, LABELS).decision_function(X)
    np.testing.assert_array_equal(clf.decision_function(FRAME), expected)
    np.testing.assert_array_equal(clf.decision_function(dict(FRAME)), expected)
    save(clf, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").decision_function(FRAME), expected)


def test_columns_that_are_not_there() -> None:
    with pytest.raises(InvalidParameterError, match="no column 'parse'; there are 'id', 'tree'"):
        SubsetTree().on("parse")(FRAME)
    with pytest.raises(InputTypeError, match=r"needs trees, but part 'size' is a matrix"):
        SubsetTree().on("size")(FRAME)
    with pytest.raises(ParseError, match=r"part 'word', sample 0.*a word without brackets: mon"):
        SubsetTree().on("word")({"word": ["mon", "tue"]})


def test_column_transformer() -> None:
    model = make_pipeline(
        ColumnTransformer(
            [
                ("trees", DistributedTreeEmbedding(256), ["tree"]),
                ("tree", DistributedTreeEmbedding(256), "tree"),
                ("size", StandardScaler(), ["size"]),
            ]
        ),
        LogisticRegression(C=100),
    )
    assert model.fit(FRAME, LABELS).score(FRAME, LABELS) == 1.0
    fragments = ColumnTransformer([("trees", FragmentVectorizer(), ["tree"])])
    assert fragments.fit_transform(FRAME, LABELS).shape[0] == 12


@pytest.mark.parametrize("X", [FRAME[["tree"]], np.array(TEXTS, dtype=object)[:, None]], ids=type)
def test_bagging(X: Any) -> None:
    bagging = BaggingClassifier(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), n_estimators=5, random_state=0
    )
    assert bagging.fit(X, LABELS).score(X, LABELS) == 1.0


def test_resampled_rows() -> None:
    """What imbalanced-learn's samplers do: rows of a two-dimensional array, some several times."""
    rows = np.random.default_rng(0).integers(0, 12, 30)
    X, y = np.array(TEXTS, dtype=object)[:, None][rows], LABELS[rows]
    assert TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, y).score(X, y) == 1.0


# ---------------------------------------------------------------- what is refused

TABLES = {
    "DataFrame": (FRAME, r"pandas.DataFrame of 3 columns: .*X\['tree'\]"),
    "dict": (dict(FRAME), r"dict of 3 columns: .*X\['tree'\]"),
    "dict of one": ({"parse": TEXTS}, r"dict of 1 columns: .*X\['parse'\]"),
    "DataFrame without trees": (FRAME[["id", "size"]], r"X\['tree'\]"),
    "an array of columns": (FRAME.to_numpy(), r"numpy.ndarray of shape \(12, 3\)"),
    "an array of numbers": (np.eye(12), r"shape \(12, 12\)"),
    "a set": (set(TEXTS), "got a set, which has no order"),
    "a sparse matrix": (sp.csr_array(np.eye(12)), r"scipy.csr_array of shape \(12, 12\)"),
}
each_table = pytest.mark.parametrize(("X", "told"), TABLES.values(), ids=TABLES)


@each_table
def test_tables_are_refused_with_the_way_out(X: Any, told: str) -> None:
    clf = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(TEXTS, LABELS)
    for use in (Forest, SubsetTree(), clf.predict, Forest.from_brackets):
        with pytest.raises(InputTypeError, match=told):
            use(X)
    for learner in (
        TreeSVC(SubsetTree(), C=1.0, loss="hinge"),
        TreePerceptron(SubsetTree()),
        DistributedTreeEmbedding(8),
    ):
        with pytest.raises(InputTypeError, match=told):
            learner.fit(X, LABELS)


@pytest.mark.parametrize(
    ("X", "told"),
    [
        (FRAME, r"part 'tree': .* pandas.DataFrame of 3 columns: .*X\['tree'\]"),
        (dict(FRAME), r"part 'tree': .* dict of 3 columns: .*X\['tree'\]"),
        (np.array(5.0), "part 'tree' must be trees or"),
        (5, "part 'tree' must be trees or"),
        (FRAME.to_numpy()[:, :2], r"part 'tree': .* shape \(12, 2\)"),
        ([[text] for text in TEXTS], "part 'tree': sample 0 is not a string .* but list"),
        ("(a b)", "part 'tree' must be trees or"),
    ],
)
def test_examples_refuse_tables_of_text(X: Any, told: str) -> None:
    with pytest.raises(InputTypeError, match=told):
        Examples(tree=X)


class Tree(list[Any]):
    """A tree as NLTK has it: a list of children with a label."""

    def label(self) -> str:
        return "S"


def test_trees_of_others_are_named_with_their_module() -> None:
    for use in (Forest, Forest.from_brackets):
        with pytest.raises(InputTypeError, match=r"sample 1 .* but tests.Tree: .*Forest.from_nltk"):
            use(["(a b)", Tree("a")])
    with pytest.raises(InputTypeError, match=r"sample 0 is not a Tree but tests.Tree"):
        Forest.from_trees([Tree("a")])  # type: ignore[list-item]


def test_names_of_files_are_no_trees(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("one.tsv", "two (2).tsv", "three four")]
    for name in names:
        Path(name).write_text("x\t(a b)\n")
        with pytest.raises(ParseError, match=r"sample 1: .* name of a file.*read_examples\(") as e:
            TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(["(a b)", name], [0, 1])
        assert name in e.value.reason
        with pytest.raises(InputTypeError, match=r"PosixPath: to read the file, .*read_examples"):
            Forest([Path(name)])  # type: ignore[list-item]
    with pytest.raises(
        ParseError, match=r"'no-such-file.tsv' looks like the name of a file, which"
    ):
        Forest(["no-such-file.tsv"])
    with pytest.raises(
        InputTypeError, match=r"expected a Forest .* to read the file, use filbert.read_examples"
    ):
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(names[0], [0, 1])


# ---------------------------------------------------------------- words


def test_words_are_trees_only_where_users_say_so() -> None:
    for use in (Forest, Forest.from_brackets, SubsetTree()):
        with pytest.raises(ParseError, match=r"sample 1, column 3: a word without br.*: dog") as e:
            use(["(a)", "  dog "])
    assert "(word)" in e.value.hint
    assert "bare_words" in e.value.hint
    words = Forest.from_brackets(["dog", "(dog)", r"a\ b"], bare_words=True)
    assert [str(tree) for tree in words] == ["(dog)", "(dog)", r"(a\ b)"]
    assert Forest(["(dog)"]) == words[:1]
    assert TreeSVC(PartialTree(), C=1.0, loss="hinge").fit(words, [0, 0, 1]).predict(
        words
    ).tolist() == [0, 0, 1]


def test_words_in_files_of_trees(tmp_path: Path) -> None:
    text = "(a b)\n  dog\n(c)\n"
    path = tmp_path / "trees.txt"
    path.write_text(text)
    sources: list[Callable[[], Any]] = [
        lambda: path,
        lambda: io.StringIO(text),
        lambda: io.BytesIO(text.encode()),
        lambda: text,
    ]
    for source in sources:
        with pytest.raises(ParseError, match="a word without brackets: dog") as caught:
            Forest.from_brackets(source())
        assert (caught.value.line, caught.value.column) == (2, 3)
        with pytest.warns(SkippedInputWarning, match="skipped 1, read 2"):
            assert len(Forest.from_brackets(source(), on_error="skip")) == 2
        assert len(Forest.from_brackets(source(), bare_words=True)) == 3


def test_a_long_word_is_cut(tmp_path: Path) -> None:
    with pytest.raises(ParseError) as caught:
        Forest(["é" * 100])
    assert caught.value.reason == f"a word without brackets: {'é' * 20}…"


def test_words_in_examples() -> None:
    tsv = [b"x\t(a b)", b"y\tdog"]
    json = [b'{"label": 1, "tree": "(a b)"}', b'{"label": 2, "tree": "dog"}']
    for lines in (tsv, json):
        for read in (read_examples, lambda lines, **o: next(stream(lines, 5, **o))):
            with pytest.raises(ParseError, match=r"line 2.*a word without brackets: dog"):
                list(stream(lines, 5))
            assert str(read(lines, bare_words=True)[0][1]) == "(dog)"
    between_marks = [b"1 |BT| dog |ET|", b"1 |BT| (a b) |BT| cat |ET|"]
    assert str(read_examples(between_marks[:1])[0][0]) == "(dog)"
    assert str(read_examples(between_marks[1:])[0]["tree_2"][0]) == "(cat)"


def test_a_wrong_column_does_not_train() -> None:
    lines = [b"1\tyes\t(a b)", b"2\tno\t(a c)"]
    with pytest.raises(ParseError, match="line 1, column 3: a word without brackets: yes"):
        read_examples(lines, label=0, tree=1)


# ---------------------------------------------------------------- headers

HEADED = ["label\ttree\n", "x\t(a b)\n", "y\t(a c)\n"]


@pytest.mark.parametrize("mark", ["", "\ufeff", "\n\r\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["label\ttree", "#label\ttree", "Label\tSyntax Tree"])
def test_a_header_is_recognised(tmp_path: Path, first: str, end: str, mark: str) -> None:
    path = tmp_path / "headed.tsv"
    lines = [first, "x\t(a b)", "y\t(a c)"]
    path.write_bytes((mark + end.join(lines)).encode())
    X, y = read_examples(path)
    assert [str(tree) for tree in X] == ["(a b)", "(a c)"]
    assert y.tolist() == ["x", "y"]
    [(X, y)] = stream(path, 5)
    assert y.tolist() == ["x", "y"]
    assert read_examples(path, header=True)[1].tolist() == ["x", "y"]
    with pytest.raises(ParseError, match=r"without brackets|text outside"):
        read_examples(path, header=False)


def test_headers_are_said() -> None:
    lines = [b"x\t(a b)", b"y\t(a c)"]
    assert read_examples(lines)[1].tolist() == ["x", "y"]
    assert read_examples(lines, header=True)[1].tolist() == ["y"]
    words = [b"x\ta", b"y\tb"]  # where words are trees, nothing tells a header
    assert read_examples(words, bare_words=True)[1].tolist() == ["x", "y"]
    assert read_examples(words, bare_words=True, header=True)[1].tolist() == ["y"]
    columns = [b"id\tkind\tparse", b"1\tx\t(a b)"]
    assert read_examples(columns, label=1, tree=2)[1].tolist() == ["x"]
    assert len(read_examples([b"label\ttree"])[1]) == 0


def test_lines_keep_their_numbers_behind_a_header() -> None:
    with pytest.raises(ParseError) as caught:
        read_examples([b"label\ttree", b"x\t(a b)", b"x\t(a"])
    assert (caught.value.line, caught.value.sample) == (3, 1)


def test_only_the_first_line_is_a_header() -> None:
    with pytest.raises(ParseError, match=r"line 2.*a word without brackets: tree"):
        read_examples([b"label\ttree", b"label\ttree", b"x\t(a b)"])


def test_bad_headers() -> None:
    bad: Any
    for bad in ("yes", None, 2):
        with pytest.raises(InvalidParameterError, match="header must be True, False or 'auto'"):
            read_examples([b"x\t(a b)"], header=bad)
    for line in (b"1 |BT| (a) |ET|", b'{"label": 1, "tree": "(a)"}'):
        assert len(read_examples([line])[1]) == 1
        with pytest.raises(InvalidParameterError, match="header=True is for TSV"):
            read_examples([line], header=True)


# ---------------------------------------------------------------- no fragments


@pytest.mark.parametrize("kernel", [SubsetTree(), Subtree(), SubsetTree().on("t")], ids=repr)
def test_trees_without_fragments_are_warned_about(kernel: Any) -> None:
    X: Any = ["(yes)", "(no)", "(yes)"]
    if kernel.part:
        X = Examples(t=X)
    for learner in (TreeSVC(kernel, C=1.0, loss="hinge"), TreePerceptron(kernel)):
        with pytest.warns(NoFragmentsWarning, match=r"none of the 3 trees.*column of trees") as w:
            learner.fit(X, [1, 0, 1])
        assert w[0].filename == __file__


def test_trees_with_fragments_are_not_warned_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in (PartialTree(), SubsetTree(include_leaves=True)):
            TreeSVC(kernel, C=1.0, loss="hinge").fit(["(yes)", "(no)"], [1, 0])
        TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(["(yes)", "(no sir)"], [1, 0])
        TreeSVC(SubsetTree().__call__, strategy="usvm", C=1.0).fit(["(yes)", "(no)"], [1, 0])
