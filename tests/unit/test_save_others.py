"""Files of what predicts nothing: forests, examples, explanations, kernels, fragments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from filbert import (
    DistributedTreeEmbedding,
    Examples,
    Explanation,
    Forest,
    SymbolSelector,
    Tree,
    TreeSVC,
    explain,
    load,
    save,
)
from filbert.datasets import OneHotColumns
from filbert.errors import InputTypeError, InvalidParameterError, ModelFileError
from filbert.fragments import mine
from filbert.kernels import RBF, Kernel, PartialTree, SubsetTree
from filbert.metrics import randomization_test
from filbert.persist import texts
from filbert.persist.archive import open_archive, write_archive
from filbert.testing.tools import sentences

X, Y = sentences(40, 3)


def content(model: Any, path: Path) -> bytes:
    save(model, path)
    return path.read_bytes()


def change(path: Path, changed: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    with open(path, "rb") as stream, open_archive(stream) as archive:
        header, arrays = archive.header, archive.arrays()
    changed(header["content"], arrays)
    with open(path, "wb") as stream:
        write_archive(stream, header, arrays)


# ---------------------------------------------------------------- forests


@pytest.mark.parametrize("forest", [X, X[10:20], X[:0], Forest(['("a b" \\u00e9)', "(x)"])])
def test_a_forest_comes_back(forest: Forest, tmp_path: Path) -> None:
    before = content(forest, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, Forest)
    assert list(map(str, again)) == list(map(str, forest))
    assert content(again, tmp_path / "b") == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: a.pop("roots"),
        lambda c, a: a.update(roots=a["roots"] + np.uint32(10**6)),
        lambda c, a: a.update(children=a["children"][:-1]),
        lambda c, a: a.update(node_labels=a["node_labels"].astype(np.int64)),
    ],
)
def test_a_damaged_forest_is_refused(damage: Any, tmp_path: Path) -> None:
    save(X, tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError, match="a: "):
        load(tmp_path / "a")


def test_a_tree_comes_back(tmp_path: Path) -> None:
    deep = "(a " * 100_000 + "b" + ")" * 100_000
    for tree in (X[3], Forest([deep])[0]):
        before = content(tree, tmp_path / "a")
        again = load(tmp_path / "a")
        assert isinstance(again, Tree)
        assert str(again) == str(tree)
        assert content(again, tmp_path / "b") == before
    change(tmp_path / "a", lambda c, a: a.update(roots=a["roots"][[0, 0]]))
    with pytest.raises(ModelFileError, match="2 trees, not one"):
        load(tmp_path / "a")


# ---------------------------------------------------------------- examples

EXAMPLES = {
    "trees": Examples(tree=X[:5]),
    "parts": Examples._of({"class": X[:5], "Ä b": X[5:10], "": np.arange(10).reshape(5, 2)}),
    "dense": Examples(a=np.eye(5, dtype=np.float32), b=np.eye(5) > 0, c=np.eye(5, 3)[:, :0]),
    "sparse": Examples(a=sp.csr_array(np.eye(5, dtype=np.int8)), b=sp.csr_matrix((5, 10**9))),
    "empty": Examples(tree=X[:0], features=np.zeros((0, 3))),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_back(name: str, tmp_path: Path) -> None:
    examples = EXAMPLES[name]
    before = content(examples, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, Examples)
    assert list(again.parts) == list(examples.parts)
    assert repr(again) == repr(examples)
    for part, loaded in zip(examples.parts.values(), again.parts.values(), strict=True):
        if isinstance(part, Forest):
            assert loaded == part
        else:
            assert loaded.dtype == part.dtype
            assert (loaded != part).sum() == 0
    assert content(again, tmp_path / "b") == before


def test_parts_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="part 'a' has the type object"):
        save(Examples(a=np.array([[None, 1]])), tmp_path / "a")


@pytest.mark.parametrize(
    ("told", "damage"),
    [
        ("list the parts", lambda c, a: c.update(parts=[])),
        ("has no name", lambda c, a: c["parts"][0].update(name=None)),
        ("no unique name", lambda c, a: c["parts"][1].update(name="tree")),
        ("kind 'pickle'", lambda c, a: c["parts"][1].update(kind="pickle")),
        ("same number of rows", lambda c, a: a.update({"parts.1.values": np.eye(3)})),
        ("not numbers", lambda c, a: a.update({"parts.1.values": np.array([["a"]])})),
        ("list the columns", lambda c, a: c.update(columns=[3])),
        ("the same name", lambda c, a: c.update(columns=["id", "id"])),
        ("'bytes' is missing", lambda c, a: c.update(columns=["id"])),
    ],
)
def test_damaged_examples_are_refused(told: str, damage: Any, tmp_path: Path) -> None:
    save(Examples(tree=X[:5], features=np.eye(5)), tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "a")


@pytest.mark.skipif(not hasattr(Examples, "with_columns"), reason="needs columns of text")
def test_columns_come_back(tmp_path: Path) -> None:
    plain: Any = Examples(tree=X[:2], rows=np.eye(2))
    made = plain.with_columns(id=["007", "ä\0"], group=["", "g"])
    named = made.with_feature_names(rows=["a", "b"])
    before = content(named, tmp_path / "a")
    again = load(tmp_path / "a")
    for kind in ("columns", "feature_names"):
        one, other = getattr(again, kind), getattr(named, kind)
        assert {k: v.tolist() for k, v in one.items()} == {k: v.tolist() for k, v in other.items()}
    assert content(again, tmp_path / "b") == before


LISTS: list[list[str]] = [[], [""], ["id 1", "ä€😀", "", "nul\0", "\ud800", "\n"]]


@pytest.mark.parametrize("listed", LISTS)
def test_texts_come_back(listed: list[str]) -> None:
    assert texts.decode(texts.encode(listed)) == listed


@pytest.mark.parametrize(
    "damage",
    [
        lambda a: a.update(ends=a["ends"][::-1]),
        lambda a: a.update(ends=a["ends"] + 1),
        lambda a: a.update(ends=a["ends"].astype(np.int32)),
        lambda a: a.update(bytes=a["bytes"][:-1]),
        lambda a: a.update(bytes=a["bytes"] | np.uint8(0x80)),
        lambda a: a.pop("bytes"),
    ],
)
def test_damaged_texts_are_refused(damage: Any) -> None:
    arrays = texts.encode(["one", "two"])
    damage(arrays)
    with pytest.raises(ModelFileError):
        texts.decode(arrays)


# ---------------------------------------------------------------- kernels and results

RANDOM = randomization_test([0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1], random_state=0)
FITTED = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y == 0)
MINED = mine(FITTED, n_fragments=7)


@pytest.mark.parametrize(
    "kernel", [SubsetTree(0.3).on("tree") + 2.0 * RBF(0.5).on("vectors"), PartialTree()], ids=repr
)
def test_a_kernel_comes_back(kernel: Kernel, tmp_path: Path) -> None:
    before = content(kernel, tmp_path / "a")
    assert load(tmp_path / "a") == kernel
    assert content(load(tmp_path / "a"), tmp_path / "b") == before
    change(tmp_path / "a", lambda c, a: c["kernel"].update(name="os"))
    with pytest.raises(ModelFileError, match="no kernel 'os'"):
        load(tmp_path / "a")


@pytest.mark.parametrize("result", [RANDOM, MINED.fragments[0]], ids=["test", "fragment"])
def test_a_small_result_comes_back(result: Any, tmp_path: Path) -> None:
    before = content(result, tmp_path / "a")
    assert load(tmp_path / "a") == result
    assert content(load(tmp_path / "a"), tmp_path / "b") == before
    change(tmp_path / "a", lambda c, a: c.update(labels=None, p_value=None))
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


def test_one_hot_columns_come_back(tmp_path: Path) -> None:
    columns = OneHotColumns(["color", "size"])
    columns.transform([["red", "red"], ["blue", None], ["", "large"]])
    before = content(columns, tmp_path / "a")
    again = load(tmp_path / "a")
    assert again.names == columns.names
    assert content(again, tmp_path / "b") == before
    assert again.encode(["green", "red"]) == columns.encode(["green", "red"])
    save(columns.freeze(), tmp_path / "a")
    assert load(tmp_path / "a").encode(["black", "red"]) == columns.encode(["black", "red"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: c.update(features=["one"]),
        lambda c, a: c.update(features="ab"),
        lambda c, a: c.update(frozen=None),
        lambda c, a: a.update(feature=a["feature"][1:]),
        lambda c, a: a.update(feature=a["feature"] * 0),
    ],
)
def test_damaged_columns_are_refused(damage: Any, tmp_path: Path) -> None:
    columns = OneHotColumns(["color", "size"])
    columns.encode(["red", "red"])
    save(columns, tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


@pytest.mark.parametrize("result", [MINED, MINED.first(0), MINED.fragments], ids=type)
def test_fragments_come_back(result: Any, tmp_path: Path) -> None:
    before = content(result, tmp_path / "a")
    again = load(tmp_path / "a")
    assert type(again) is type(result)
    assert repr(again) == repr(result)
    for name in ("weight", "relevance", "frequency"):
        if hasattr(result, name):
            assert getattr(again, name).tobytes() == getattr(result, name).tobytes()
    assert content(again, tmp_path / "b") == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: c.update(criterion="other"),
        lambda c, a: c.update(kernel={"name": "Linear", "parameters": {}}),
        lambda c, a: a.update(weight=a["weight"][1:]),
        lambda c, a: a.update(open=a["open"][1:]),
        lambda c, a: a.update(figures=a["figures"] * np.nan),
        lambda c, a: a.pop("fragments.roots"),
    ],
)
def test_damaged_fragments_are_refused(damage: Any, tmp_path: Path) -> None:
    save(MINED, tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


def test_support_vectors_come_back(tmp_path: Path) -> None:
    model = FITTED.model_
    before = content(model, tmp_path / "a")
    again = load(tmp_path / "a")
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert content(again, tmp_path / "b") == before


# ---------------------------------------------------------------- explanations


def test_an_explanation_comes_back(tmp_path: Path) -> None:
    explanation = explain(
        TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y), X, Y, max_examples=5
    )
    before = content(explanation, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, Explanation)
    assert again == explanation
    assert str(again) == str(explanation)
    assert content(again, tmp_path / "b") == before


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: a.pop("json"),
        lambda c, a: a.update(json=a["json"][:-1]),
        lambda c, a: a.update(json=a["json"].astype(np.int64)),
        lambda c, a: a.update(json=np.frombuffer(b"{}", dtype=np.uint8)),
    ],
)
def test_a_damaged_explanation_is_refused(damage: Any, tmp_path: Path) -> None:
    save(
        explain(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, Y)),
        tmp_path / "a",
    )
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError, match="a: "):
        load(tmp_path / "a")


# ---------------------------------------------------------------- embeddings

EMBEDDINGS = [
    DistributedTreeEmbedding(64),
    DistributedTreeEmbedding(50, composition="product", label_vectors="signs", dtype=np.float64),
    DistributedTreeEmbedding(np.int64(32), random_state=2**64 - 1, normalize=False, part="tree"),
]


@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=repr)
def test_an_embedding_comes_back(embedding: DistributedTreeEmbedding, tmp_path: Path) -> None:
    before = content(embedding, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, DistributedTreeEmbedding)
    assert content(again, tmp_path / "b") == before
    one, other = (e.set_params(part=None).fit_transform(X) for e in (embedding, again))
    assert one.tobytes() == other.tobytes()
    assert one.dtype == other.dtype
    assert getattr(again, "gamma_", None) == getattr(embedding, "gamma_", None)


def test_an_embedding_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="n_components"):
        save(DistributedTreeEmbedding(0), tmp_path / "a")
    save(DistributedTreeEmbedding(8), tmp_path / "a")
    for name, value in (("decay", 2.0), ("dtype", "int8"), ("no_such", 1)):
        change(tmp_path / "a", lambda c, a, n=name, v=value: c["parameters"].update({n: v}))
        with pytest.raises(ModelFileError, match=name):
            load(tmp_path / "a")
        change(tmp_path / "a", lambda c, a, n=name: c["parameters"].pop(n))


# ---------------------------------------------------------------- selectors

SELECTORS = [
    SymbolSelector(n_symbols=2),
    SymbolSelector(PartialTree(), 0.5, max_nodes_per_tree=4.0, together=[["NP", "VP"]]),
    SymbolSelector(
        SubsetTree(include_leaves=True),
        by="production",
        exactly_one=[[("S", "NP", "VP"), ("NP", "N")]],
        at_least_one=((("NP", "N"), ("no", "such")),),
    ),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_a_selector_comes_back(selector: SymbolSelector, tmp_path: Path) -> None:
    selector.fit(X, Y)
    before = content(selector, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, SymbolSelector)
    assert content(again, tmp_path / "b") == before
    for name in ("candidates_", "symbols_", "kernel_", "speedup_"):
        assert getattr(again, name) == getattr(selector, name)
    for name in ("gains_", "frequencies_"):
        assert getattr(again, name).tobytes() == getattr(selector, name).tobytes()
    assert again.kernel_(X).tobytes() == selector.kernel_(X).tobytes()
    assert again.fit(X, Y).kernel_ == selector.kernel_


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: c.pop("kernel"),
        lambda c, a: c.update(kernel={"name": "SubsetTree", "parameters": {}}),
        lambda c, a: c.update(candidates=c["candidates"][:-1]),
        lambda c, a: c.update(candidates=c["candidates"][:-1] + c["candidates"][:1]),
        lambda c, a: c.update(candidates=[["S", "NP"]] * len(c["candidates"])),
        lambda c, a: c.update(candidates=[7]),
        lambda c, a: c.update(candidates=None),
        lambda c, a: c["kernel"]["parameters"].update(symbols=["no such"]),
        lambda c, a: c["kernel"]["parameters"].update(by="colour"),
        lambda c, a: c["parameters"].update(together=[7]),
        lambda c, a: c["parameters"].update(together=7),
        lambda c, a: c["parameters"].update(together=[[7]]),
        lambda c, a: a.pop("gains"),
        lambda c, a: a.update(gains=a["gains"] * np.nan),
        lambda c, a: a.update(frequencies=-a["frequencies"]),
    ],
)
def test_a_damaged_selector_is_refused(damage: Any, tmp_path: Path) -> None:
    save(SymbolSelector(n_symbols=2).fit(X, Y), tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError, match="a: "):
        load(tmp_path / "a")
