"""A FragmentVectorizer in a file: it gives the same vectors, to the last bit."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import FragmentVectorizer, TreePerceptron, TreeSVC, load, save
from filbert.errors import InputTypeError, ModelFileError
from filbert.kernels import PartialTree, SubsetTree, Subtree
from filbert.persist.archive import open_archive, write_archive
from filbert.testing.tools import sentences

X, Y = sentences(40, 3)
VECTORIZERS = [
    FragmentVectorizer(TreeSVC(SubsetTree(), C=1.0, loss="hinge"), max_ratio=5),
    FragmentVectorizer(
        TreeSVC(PartialTree(), C=3, loss="hinge").fit(X, Y), n_fragments=7, weighted=False
    ),
    FragmentVectorizer(TreePerceptron(Subtree()), min_frequency=1),
    FragmentVectorizer(kernel=SubsetTree(0.5, include_leaves=True)),
    FragmentVectorizer(criterion="chi2", norm_share=0.2, search="complete"),
]


def content(vectorizer: FragmentVectorizer, path: Path) -> bytes:
    save(vectorizer, path)
    return path.read_bytes()


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=repr)
def test_a_vectorizer_comes_back(vectorizer: FragmentVectorizer, tmp_path: Path) -> None:
    vectorizer.fit(X, Y)
    before = content(vectorizer, tmp_path / "a")
    for again in (load(tmp_path / "a"), pickle.loads(pickle.dumps(vectorizer))):
        assert content(again, tmp_path / "b") == before
        assert repr(again) == repr(vectorizer)
        assert list(again.get_feature_names_out()) == list(vectorizer.get_feature_names_out())
        rows, wanted = again.transform(X), vectorizer.transform(X)
        assert rows.data.tobytes() == wanted.data.tobytes()
        assert rows.indices.tolist() == wanted.indices.tolist()
        for mined, other in zip(again.mined_, vectorizer.mined_, strict=True):
            assert mined.fragments.texts() == other.fragments.texts()
            assert (mined.weight == other.weight).all()
            assert (mined.base, mined.threshold, mined.norm) == (
                other.base,
                other.threshold,
                other.norm,
            )
        for name in ("coef_", "intercept_", "classes_"):
            assert hasattr(again, name) == hasattr(vectorizer, name)
            if hasattr(again, name):
                assert getattr(again, name).tolist() == getattr(vectorizer, name).tolist()


def test_whether_the_estimator_was_fitted_is_kept(tmp_path: Path) -> None:
    fitted = TreeSVC(SubsetTree(), C=1.0, loss="hinge").fit(X, Y)
    for estimator in (fitted, TreeSVC(SubsetTree(), C=2.0, loss="hinge")):
        save(FragmentVectorizer(estimator).fit(X, Y), tmp_path / "a")
        again = load(tmp_path / "a")
        assert hasattr(again.estimator, "model_") == (estimator is fitted)
        assert again.estimator.C == again.estimator_.C == estimator.C
        again.fit(X[:20], Y[:20])
        assert (len(again.estimator_.model_.support) > 20) == (estimator is fitted)


def change(path: Path, changed: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    with open(path, "rb") as stream, open_archive(stream) as archive:
        header, arrays = archive.header, archive.arrays()
    changed(header["content"], arrays)
    with open(path, "wb") as stream:
        write_archive(stream, header, arrays)


@pytest.mark.parametrize(
    "damage",
    [
        lambda c, a: c.pop("kernel"),
        lambda c, a: c.update(kernel={"name": "Linear", "parameters": {}}),
        lambda c, a: c.update(estimator={"name": "os.system", "content": {}}),
        lambda c, a: c.update(estimator="TreeSVC"),
        lambda c, a: c.pop("estimator_was_fitted"),
        lambda c, a: c["parameters"].update(max_ratio=-1.0),
        lambda c, a: c["parameters"].update(search="lucky"),
        lambda c, a: c["estimator"]["content"].pop("kernel"),
        lambda c, a: a.pop("open"),
        lambda c, a: a.update(open=a["open"][1:]),
        lambda c, a: a.update(open=a["open"].astype(np.uint8)),
        lambda c, a: a.pop("fragments.roots"),
        lambda c, a: a.update({"mined.columns": a["mined.columns"] + 10_000}),
        lambda c, a: a.update({"mined.columns": -1 - a["mined.columns"]}),
        lambda c, a: a.update({"mined.ends": a["mined.ends"] + 1}),
        lambda c, a: a.update({"mined.ends": a["mined.ends"][:0]}),
        lambda c, a: a.update({"mined.weight": a["mined.weight"] * np.nan}),
        lambda c, a: a.update({"mined.figures": a["mined.figures"][:, :2].copy()}),
        lambda c, a: a.update(coef=a["coef"][:, 1:].copy()),
        lambda c, a: a.pop("intercept"),
        lambda c, a: a.pop("estimator.coef"),
    ],
)
def test_what_does_not_fit_together_is_told(damage: Any, tmp_path: Path) -> None:
    save(VECTORIZERS[0].fit(X, Y), tmp_path / "a")
    change(tmp_path / "a", lambda content, arrays: None)
    load(tmp_path / "a")
    change(tmp_path / "a", damage)
    with pytest.raises(ModelFileError):
        load(tmp_path / "a")


def test_fragments_of_any_size_are_refused(tmp_path: Path) -> None:
    """Sixty nodes can stand for a tree of 2^60: its nodes are not to be listed."""
    n = 64
    save(FragmentVectorizer(min_frequency=1).fit(["(a b)"]), tmp_path / "a")

    def doubling(_: dict[str, Any], arrays: dict[str, Any]) -> None:
        arrays["fragments.node_labels"] = np.zeros(n, dtype=np.uint32)
        arrays["fragments.child_ends"] = np.arange(n, dtype=np.uint64) * 2
        arrays["fragments.children"] = np.repeat(np.arange(n - 1, dtype=np.uint32), 2)
        arrays["fragments.roots"] = np.array([n - 1], dtype=np.uint32)

    change(tmp_path / "a", doubling)
    with pytest.raises(ModelFileError, match="nodes"):
        load(tmp_path / "a")


def test_an_estimator_of_another_class_is_not_saved(tmp_path: Path) -> None:
    class Mine(TreeSVC):
        pass

    vectorizer = FragmentVectorizer(Mine(SubsetTree())).fit(X, Y)
    with pytest.raises(InputTypeError, match="Mine"):
        save(vectorizer, tmp_path / "a")
