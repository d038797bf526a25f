"""Files of what predicts nothing: forests, explanations, selectors, embeddings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import (
    DistributedTreeEmbedding,
    Explanation,
    Forest,
    SymbolSelector,
    TreeSVC,
    explain,
    load,
    save,
)
from filbert.errors import InvalidParameterError, ModelFileError
from filbert.kernels import PartialTree, SubsetTree
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


# ---------------------------------------------------------------- explanations


def test_an_explanation_comes_back(tmp_path: Path) -> None:
    explanation = explain(TreeSVC(random_state=0).fit(X, Y), X, Y, max_examples=5)
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
    save(explain(TreeSVC(random_state=0).fit(X, Y)), tmp_path / "a")
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
