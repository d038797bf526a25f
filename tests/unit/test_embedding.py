"""DistributedTreeEmbedding: against the definition, against the kernel, and as a transformer."""

import hashlib
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from filbert import DistributedTreeEmbedding, Examples, Forest
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, KernelOverflowError
from filbert.kernels import SubsetTree
from filbert.learners import embedding as module
from tests import strategies
from tests.profiles import n_examples
from tests.reference.distributed_trees import Embedding, label_vector
from tests.reference.trees import Node, parse, write

COMPOSITIONS = ("convolution", "product")
LABEL_VECTORS = ("normal", "signs")
TREES = ["(S (NP (D a) (N dog)) (VP (V ran) (ADV away)))", "(S (NP she) (VP (V ran)))", "(x)"]


def vectors(trees: list[Node], d: int, **options: Any) -> Any:
    options = {"dtype": "float64", "normalize": False, **options}
    return DistributedTreeEmbedding(d, **options).transform([write(tree) for tree in trees])


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-10) -> None:
    """Row by row, relative to the row's length; in few dimensions sums may cancel."""
    for a, e in zip(actual, expected, strict=True):
        assert np.linalg.norm(a - e) <= tolerance * max(0.01, np.linalg.norm(e))


# ---------------------------------------------------------------- the definition


@given(
    strategies.forests(),
    st.integers(1, 40),
    st.sampled_from(COMPOSITIONS),
    st.sampled_from(LABEL_VECTORS),
    st.sampled_from([0.01, 0.4, 1.0]),
    st.integers(0, 2**64 - 1),
)
@n_examples(60)
def test_vectors_are_those_of_the_definition(
    trees: list[Node], d: int, composition: str, made_of: str, decay: float, seed: int
) -> None:
    reference = Embedding(d, decay, composition, seed, made_of)
    options = {"composition": composition, "label_vectors": made_of}
    actual = vectors(trees, d, decay=decay, random_state=seed, **options)
    assert_close(actual, [reference.tree(tree) for tree in trees])


@pytest.mark.parametrize("d", [1, 2, 3, 64, 100, 127, 128, 256, 257])
@pytest.mark.parametrize("composition", COMPOSITIONS)
@pytest.mark.parametrize("made_of", LABEL_VECTORS)
def test_sizes(d: int, composition: str, made_of: str) -> None:
    trees = [parse(text) for text in TREES]
    reference = Embedding(d, 0.4, composition, label_vectors=made_of)
    actual = vectors(trees, d, composition=composition, label_vectors=made_of)
    assert_close(actual, [reference.tree(tree) for tree in trees])


@pytest.mark.parametrize("d", [512, 1024, 2048, 4096, 8192, 10_000])
def test_large_convolutions(d: int) -> None:
    """Against NumPy's transform, since the sum over all pairs takes long."""
    reference = Embedding(d, 0.4, "convolution")
    tree = parse("(S (NP a) (VP b))")

    def compose(a: Any, b: Any) -> Any:
        spectrum = np.fft.rfft(a[reference.p1]) * np.fft.rfft(b[reference.p2])
        return np.fft.irfft(spectrum, d)

    reference.compose = compose  # type: ignore[method-assign]
    assert_close(vectors([tree], d), [reference.tree(tree)])
    assert_close(vectors([tree], d, dtype="float32"), [reference.tree(tree)], 1e-6)


def test_labels_are_bytes_of_any_length() -> None:
    labels = ["a", "abcdefgh", "abcdefghi", "ü", "日本語の木", "x" * 100]
    trees = [Node("A", (Node(label),)) for label in labels]
    reference = Embedding(33, 0.4, "product")
    assert_close(vectors(trees, 33, composition="product"), [reference.tree(t) for t in trees])


def test_label_vectors_are_normal_and_nearly_orthogonal() -> None:
    d, n = 2000, 60
    matrix = np.array([label_vector(str(i).encode(), d, 0) for i in range(n)])
    gram = matrix @ matrix.T - np.eye(n)
    assert np.abs(np.diag(gram)).max() < 1e-12
    assert np.abs(gram).max() < 5 / np.sqrt(d)
    scaled = matrix * np.sqrt(d)
    assert abs((scaled**4).mean() - 3) < 0.1  # a normal distribution's fourth moment


def test_sign_vectors_are_signs_and_nearly_orthogonal() -> None:
    d, n = 2000, 60
    matrix = np.array([label_vector(str(i).encode(), d, 0, "signs") for i in range(n)])
    np.testing.assert_array_equal(np.abs(matrix), 1 / np.sqrt(d))
    assert np.abs(matrix @ matrix.T - np.eye(n)).max() < 5 / np.sqrt(d)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-12)])
@pytest.mark.parametrize("d", [1, 100, 1024])
def test_products_of_signs_keep_norms(d: int, dtype: str, tolerance: float) -> None:
    """A node over leaves has one fragment, so its vector is the composition of its labels'."""
    trees = [f"(S {' '.join(f'x{i}' for i in range(n))})" for n in (1, 2, 20, 500)]
    made = DistributedTreeEmbedding(
        d, composition="product", label_vectors="signs", normalize=False, dtype=dtype
    )
    rows = made.transform(trees) * np.sqrt(d)
    np.testing.assert_allclose(np.abs(rows), 1, rtol=tolerance)


# ---------------------------------------------------------------- the kernel


@pytest.mark.parametrize(
    ("composition", "made_of"),
    [("convolution", "normal"), ("product", "normal"), ("product", "signs")],
)
@pytest.mark.parametrize("decay", [0.2, 0.6, 1.0])
def test_the_expected_product_is_the_kernel_over_lambda(
    composition: str, made_of: str, decay: float
) -> None:
    forest = Forest([
        "(S (NP (D the) (N dog)) (VP (V chased) (NP (D the) (N cat))))",
        "(S (NP (D the) (N cat)) (VP (V chased) (NP (D the) (N dog))))",
        "(S (NP she) (VP (V slept)))",
    ])  # fmt: skip
    expected = SubsetTree(decay, normalize=False)(forest) / decay
    grams = []
    options = {"composition": composition, "label_vectors": made_of}
    for seed in range(100):
        rows = DistributedTreeEmbedding(
            1024, decay=decay, normalize=False, random_state=seed, **options
        ).transform(forest)
        grams.append(rows @ rows.T)
    mean = np.mean(grams, axis=0)
    error = np.std(grams, axis=0, ddof=1) / np.sqrt(len(grams))
    # Four standard errors, and what is of the order of 1/d beside the kernel.
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(mean - expected) <= 4 * error + 0.01 * scale).all()


def test_normalized_vectors_have_length_1() -> None:
    rows = DistributedTreeEmbedding(512).transform(TREES)
    plain = DistributedTreeEmbedding(512, normalize=False).transform(TREES)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 0], rtol=1e-6)
    np.testing.assert_allclose(
        rows[:2], plain[:2] / np.linalg.norm(plain[:2], axis=1)[:, None], atol=1e-6
    )


def test_gamma_is_measured() -> None:
    fitted = DistributedTreeEmbedding(300, composition="product").fit(TREES)
    assert fitted.gamma_ == pytest.approx(Embedding(300, 0.4, "product").gamma, rel=1e-6)
    assert fitted.gamma_ == pytest.approx(np.sqrt(300), rel=0.05)
    of_signs = fitted.set_params(label_vectors="signs").fit(TREES)
    assert of_signs.gamma_ == pytest.approx(np.sqrt(300), rel=1e-6)


# ---------------------------------------------------------------- always the same bytes


def some_trees(n: int = 60) -> list[str]:
    return [write(tree) for tree in strategies.random_trees(3, n, max_nodes=30)]


@pytest.mark.parametrize(
    ("composition", "made_of"),
    [("convolution", "normal"), ("product", "normal"), ("product", "signs")],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bytes_depend_on_the_tree_alone(
    composition: str, made_of: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = some_trees()
    forest = Forest(trees)
    made = DistributedTreeEmbedding(
        96, composition=composition, label_vectors=made_of, dtype=dtype, n_jobs=1
    )
    expected = made.transform(forest)
    assert expected.dtype == dtype
    for n_jobs, memory in itertools.product([1, 2, 5], [0, 2**14, 2**16, 2**30]):
        monkeypatch.setattr(module, "_MEMORY", memory)
        other = clone(made).set_params(n_jobs=n_jobs)
        assert other.transform(forest).tobytes() == expected.tobytes()
    assert made.transform(forest[::-1])[::-1].tobytes() == expected.tobytes()
    one_by_one = np.concatenate([made.transform([tree]) for tree in trees])
    assert one_by_one.tobytes() == expected.tobytes()


# Written down once and never to change, so that every process has the same: the first numbers of
# TREES[0], not normalised, and the hashes of all bytes, normalised.
GOLDEN = {
    "convolution": [
        -0.08327972893135444,
        -0.0548311936637569,
        0.18132070190443556,
        -0.14232975236379608,
    ],
    "product": [
        0.020621080054572728,
        -0.027585108099018516,
        0.0956715702355291,
        0.2157416115705225,
    ],
}
GOLDEN_BYTES = {
    (
        "convolution",
        1000,
        "<f8",
    ): "32e6b51fc5285a7531e122c9b679cb3f656876927a0fa0813d8cc01375a84bbf",
    (
        "convolution",
        8192,
        "<f4",
    ): "ab5100c503b3f1b409218a9a0d9e113c31ff4ff93ea8f07c972b95ea42efdac7",
    ("product", 1000, "<f8"): "5b35b56528482b2483689f6d588ff1d7765421efc4363b49959a2e7f0a2266a4",
    ("product", 8192, "<f4"): "31f6a6287e2a42f87f0c0869274e30938515bcff27a6d7b8069e9f7d634d6590",
}


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_golden(composition: str) -> None:
    made = DistributedTreeEmbedding(
        1000, composition=composition, dtype="float64", normalize=False, random_state=7
    )
    np.testing.assert_array_equal(made.transform(TREES)[0, :4], GOLDEN[composition])


@pytest.mark.parametrize(("composition", "d", "dtype"), GOLDEN_BYTES)
def test_golden_bytes(composition: str, d: int, dtype: str) -> None:
    made = DistributedTreeEmbedding(
        d, composition=composition, dtype=np.dtype(dtype).name, random_state=7
    )
    found = hashlib.sha256(made.transform(TREES).astype(dtype).tobytes()).hexdigest()
    assert found == GOLDEN_BYTES[composition, d, dtype]


GOLDEN_SIGNS = {
    (
        "convolution",
        1000,
        "<f8",
    ): "3f990635a1285d7b4fa33debb2033fe02347a0c3137db6b13baed8cb6668e651",
    (
        "convolution",
        8192,
        "<f4",
    ): "3c10caf47459cb48f0c9e3e54966d75a9af28c8ea670a4c4a740bb6004490351",
    ("product", 1000, "<f8"): "cbce310338479359f868e870384e4ba9a7211d02e7d6f931d1c66b621c229223",
    ("product", 8192, "<f4"): "84d28bc207aa555820df3188137803ba099c82c6abd53c624a60786b4190c58c",
}


@pytest.mark.parametrize(("composition", "d", "dtype"), GOLDEN_SIGNS)
def test_golden_bytes_of_signs(composition: str, d: int, dtype: str) -> None:
    made = DistributedTreeEmbedding(
        d,
        composition=composition,
        label_vectors="signs",
        dtype=np.dtype(dtype).name,
        random_state=7,
    )
    found = hashlib.sha256(made.transform(TREES).astype(dtype).tobytes()).hexdigest()
    assert found == GOLDEN_SIGNS[composition, d, dtype]


def test_seeds_differ() -> None:
    a, b = (DistributedTreeEmbedding(64, random_state=seed).transform(TREES) for seed in (0, 1))
    assert not np.array_equal(a, b)


# ---------------------------------------------------------------- a transformer


def test_file_as_output(tmp_path: Path) -> None:
    trees = some_trees()
    made = DistributedTreeEmbedding(100)
    path = tmp_path / "vectors.npy"
    out = np.lib.format.open_memmap(path, "w+", "float32", (len(trees), 100))
    assert made.transform(trees, out=out) is out
    out.flush()
    np.testing.assert_array_equal(np.load(path), made.transform(trees))


def test_feature_names() -> None:
    names = DistributedTreeEmbedding(3).get_feature_names_out()
    assert list(names) == [f"distributedtreeembedding{i}" for i in range(3)]


@pytest.mark.parametrize("learner", [LinearSVC(), LogisticRegression(), SGDClassifier()])
def test_pipelines(learner: Any) -> None:
    trees = [f"(S (NP (N {a})) (VP (V {b})))" for a in "abcd" for b in "xyzw"]
    y = [tree[10] in "ab" for tree in trees]
    model = make_pipeline(DistributedTreeEmbedding(1024), learner).fit(Forest(trees), y)
    assert model.score(Forest(trees), y) == 1.0


def test_parts_of_examples() -> None:
    """Two parts side by side: products are the sum of the parts' kernels."""
    X = Examples(one=Forest(TREES), two=Forest(TREES[::-1]), lex=np.eye(3))
    union = make_union(*(DistributedTreeEmbedding(64, part=part) for part in ("one", "two")))
    rows = DistributedTreeEmbedding(64).transform(TREES)
    np.testing.assert_array_equal(union.fit_transform(X), np.hstack([rows, rows[::-1]]))
    assert len(set(union.get_feature_names_out())) == 128


@pytest.mark.parametrize(
    ("part", "X", "message"),
    [
        (
            None,
            Examples(one=Forest(TREES), two=Forest(TREES)),
            "must name the part of trees to embed, such as 'one'",
        ),
        (
            "lex",
            Examples(one=Forest(TREES), lex=np.eye(3)),
            "got 'lex' for examples with the part",
        ),
        ("tree", Examples(lex=np.eye(3)), "such as 'tree'; got 'tree' for examples with the parts"),
        ("one", Forest(TREES), "part='one' is for Examples, got Forest"),
    ],
)
def test_bad_parts(part: str | None, X: Any, message: str) -> None:
    for call in ("fit", "transform"):
        with pytest.raises(InvalidParameterError, match=message):
            getattr(DistributedTreeEmbedding(8, part=part), call)(X)


def test_streams() -> None:
    made = DistributedTreeEmbedding(1024)
    model = SGDClassifier(random_state=0)
    trees = np.array([f"(S (NP (N {a})) (VP (V {b})))" for a in "abcd" for b in "xyzw"] * 10)
    y = np.array([tree[10] in "ab" for tree in trees])
    for batch in np.array_split(np.arange(len(trees)), 20):
        model.partial_fit(
            made.partial_fit(trees[batch]).transform(trees[batch]), y[batch], classes=[False, True]
        )
    assert (model.predict(made.transform(trees)) == y).all()


# ---------------------------------------------------------------- bad and extreme input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer from 1"),
        ({"n_components": 2.5}, "n_components must be an integer"),
        ({"n_components": True}, "n_components must be an integer"),
        ({"decay": 0}, r"decay must be in \(0, 1\], got 0"),
        ({"decay": 1.5}, "decay must be in"),
        ({"decay": float("nan")}, "decay must be in"),
        ({"decay": "much"}, "decay must be in"),
        ({"composition": "sum"}, "composition must be 'convolution' or 'product', got 'sum'"),
        ({"label_vectors": "sign"}, "label_vectors must be 'normal' or 'signs', got 'sign'"),
        ({"label_vectors": None}, "label_vectors must be 'normal' or 'signs', got None"),
        ({"normalize": 1}, "normalize must be True or False"),
        ({"dtype": "float16"}, "dtype must be 'float32' or 'float64', got 'float16'"),
        ({"dtype": "trees"}, "dtype must be"),
        ({"dtype": None}, "dtype must be"),
        ({"random_state": None}, "random_state must be an integer from 0"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    made = DistributedTreeEmbedding(**{"n_components": 8, **options})
    for call in (made.fit, made.transform):
        with pytest.raises(InvalidParameterError, match=message):
            call(TREES)


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([[0.0]], InputTypeError, "out must be a numpy array or memory map, not list"),
        (np.zeros((3, 7), "float32"), InvalidParameterError, r"shape \(3, 8\) and the type float3"),
        (np.zeros((3, 8), "float64"), InvalidParameterError, "float64"),
        (np.zeros((8, 3), "float32").T, InvalidParameterError, "C order"),
    ],
)
def test_bad_output(out: Any, error: type[FilbertError], message: str) -> None:
    with pytest.raises(error, match=message):
        DistributedTreeEmbedding(8).transform(TREES, out=out)


@pytest.mark.parametrize("X", [3, "(S a)", [1, 2], None])
def test_what_is_no_tree(X: Any) -> None:
    for call in (DistributedTreeEmbedding(8).fit, DistributedTreeEmbedding(8).transform):
        with pytest.raises(InputTypeError):
            call(X)


def test_no_trees() -> None:
    assert DistributedTreeEmbedding(8).fit_transform(Forest()).shape == (0, 8)


WIDE = "(S" + " (A a)" * 2000 + ")"


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_vectors_beyond_the_range(composition: str) -> None:
    """Without normalising there is an error; otherwise large vectors are as good as others."""
    made = DistributedTreeEmbedding(64, decay=1.0, normalize=False, composition=composition)
    with pytest.raises(KernelOverflowError, match=r"vector of tree 1 .* float32.*normalize=True"):
        made.transform(["(S a)", WIDE])
    rows = made.set_params(normalize=True).transform(["(S a)", WIDE, WIDE.replace("S", "T")])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    in_double = clone(made).set_params(dtype="float64").transform([WIDE])
    np.testing.assert_allclose(rows[1:2], in_double, atol=1e-3)


def test_deep_and_wide_trees() -> None:
    deep = "(a " * 20_000 + "x" + ")" * 20_000
    wide = "(a " + " ".join(f"x{i % 50}" for i in range(20_000)) + ")"
    twice = "(a x)"
    for _ in range(10):
        twice = f"(a {twice} {twice})"
    trees = [deep, wide, twice]
    for dtype in ("float32", "float64"):
        rows = DistributedTreeEmbedding(64, dtype=dtype).transform(trees)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
