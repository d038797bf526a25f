"""TreeSVC on rows of the kernel matrix: the same optimum as by factors, for any kernel."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from filbert import Forest, TreeSVC, _core, load, read_examples, save
from filbert.engine import plan_for
from filbert.engine.work import (
    row_steps,
    row_steps_between,
    rows_for_training,
    steps_worth_trying,
)
from filbert.errors import InvalidParameterError, KernelOverflowError, OutOfMemoryError
from filbert.kernels import PartialTree, SubsetTree, Subtree, TreeKernel
from tests.reference.matrix import reference_matrix
from tests.reference.trees import parse
from tests.unit.test_factors import LARGE, SAMPLED, sampled_from
from tests.unit.test_tree_svc import LOSSES, TIGHT, Loss, data, linear_optimum, primal, svc_optimum

PARTIAL = [
    PartialTree(),
    PartialTree(penalty="gaps", max_subsequence=2),
    PartialTree(0.3, 0.5, normalize=False),
]
FEW_ROWS = 250 * 8 * 25  # bytes: room for about 25 rows of 250 trees


@pytest.mark.parametrize("kernel", PARTIAL, ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_memory", [None, FEW_ROWS])
def test_the_optimum_is_that_of_scikit_learn(
    kernel: TreeKernel, intercept: bool, loss: Loss, max_memory: int | None
) -> None:
    X, y = data()
    K = kernel(X)
    best, _ = linear_optimum(loss, K, y, 0.5, intercept, tol=1e-7)
    options = {"C": 0.5, "loss": loss, "fit_intercept": intercept, "max_memory": max_memory}
    model = TreeSVC(
        kernel, engine="rows", random_state=0, **{"C": 1.0, "loss": "hinge", **options}
    ).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert best * (1 - 1e-5) <= model.objective_ <= best * (1 + 1.1e-3)
    assert model.objective_ == pytest.approx(primal(model, K, y, 0.5), rel=1e-9)
    tight = TreeSVC(
        kernel,
        engine="rows",
        random_state=0,
        tol=1e-7,
        max_iter=10**6,
        **{"C": 1.0, "loss": "hinge", **options},
    ).fit(X, y)
    assert tight.objective_ == pytest.approx(best, rel=1e-5)


@pytest.mark.product
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("max_memory", [None, 2000 * 8 * 300])
def test_two_thousand_trees(C: float, max_memory: int | None) -> None:
    """More than one batch of rows, with and without room for all."""
    X, y = data(2000)
    kernel = PartialTree()
    best = svc_optimum(kernel(X) + 1, y, C)
    model = TreeSVC(
        kernel, engine="rows", C=C, max_memory=max_memory, random_state=0, loss="hinge"
    ).fit(X, y)
    assert model.duality_gap_ <= 1e-3
    assert best * (1 - 1e-5) <= model.objective_ <= best * (1 + 1.1e-3)


@pytest.mark.parametrize("kernel", [SubsetTree(), SubsetTree(normalize=False), Subtree()], ids=repr)
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_and_factors_have_the_same_solution(kernel: TreeKernel, loss: Loss) -> None:
    X, y = data(250, 3)
    weights = np.linspace(0.2, 2, len(y))
    weights[::9] = 0
    options = {"loss": loss, "class_weight": "balanced", **TIGHT, "tol": 1e-8}
    factors = TreeSVC(kernel, engine="factors", **{"C": 1.0, "loss": "hinge", **options}).fit(
        X, y, sample_weight=weights
    )
    rows = TreeSVC(kernel, engine="rows", **{"C": 1.0, "loss": "hinge", **options}).fit(
        X, y, sample_weight=weights
    )
    assert rows.objective_ == pytest.approx(factors.objective_, rel=1e-7)
    scale = np.abs(factors.decision_function(X)).max()
    np.testing.assert_allclose(
        rows.decision_function(X), factors.decision_function(X), atol=2e-3 * scale
    )
    assert not np.isin(rows.support_, np.arange(0, len(y), 9)).any()


@pytest.mark.parametrize("max_memory", [None, FEW_ROWS])
def test_many_classes_are_one_against_the_rest(max_memory: int | None) -> None:
    X, y = data(250, 4)
    options = {"tol": 1e-7, "max_iter": 10**6, "random_state": 0}
    model = TreeSVC(
        PartialTree(),
        engine="rows",
        max_memory=max_memory,
        **{"C": 1.0, "loss": "hinge", **options},
    ).fit(X, y)
    binary = [
        TreeSVC(PartialTree(), engine="rows", **{"C": 1.0, "loss": "hinge", **options}).fit(
            X, y == c
        )
        for c in range(4)
    ]
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in binary), rel=1e-6)
    assert model.duality_gap_ <= 1e-7
    decisions = np.column_stack([one.decision_function(X) for one in binary])
    np.testing.assert_allclose(model.decision_function(X), decisions, atol=1e-2)


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("max_memory", [None, 300 * 8 * 50])
def test_threads_do_not_matter(n_jobs: int, max_memory: int | None) -> None:
    X, y = data(300, 4)
    options = {"max_memory": max_memory, "random_state": 0}
    one = TreeSVC(
        PartialTree(), engine="rows", n_jobs=1, **{"C": 1.0, "loss": "hinge", **options}
    ).fit(X, y)
    many = TreeSVC(
        PartialTree(), engine="rows", n_jobs=n_jobs, **{"C": 1.0, "loss": "hinge", **options}
    ).fit(X, y)
    assert many.dual_coef_.tobytes() == one.dual_coef_.tobytes()
    assert many.intercept_.tobytes() == one.intercept_.tobytes()
    assert many.support_.tolist() == one.support_.tolist()


def test_equal_trees_of_different_classes() -> None:
    X, y = data(60)
    twice, flipped = list(X) * 2, np.concatenate([y, 1 - y])
    kernel = PartialTree()
    weights = np.concatenate([np.full(60, 3.0), np.full(60, 1.0)])
    best, _ = linear_optimum("hinge", kernel(twice), flipped, 1.0, True, weights)
    model = TreeSVC(kernel, engine="rows", **{"C": 1.0, "loss": "hinge", **TIGHT}).fit(
        twice, flipped, sample_weight=weights
    )
    assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_a_path_has_the_optima_of_its_costs() -> None:
    X, y = data(600)
    Cs = [0.1, 1.0, 5.0]
    svm = TreeSVC(
        PartialTree(), engine="rows", tol=1e-6, max_iter=10**6, random_state=0, C=1.0, loss="hinge"
    )
    for model, C in zip(svm.fit_path(X, y, Cs), Cs, strict=True):
        alone = TreeSVC(
            PartialTree(),
            engine="rows",
            C=C,
            tol=1e-6,
            max_iter=10**6,
            random_state=0,
            loss="hinge",
        ).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-5)


def test_a_warm_start_saves_work() -> None:
    X, y = data(600)
    for max_memory in (None, 600 * 8 * 100):
        model = TreeSVC(
            PartialTree(),
            engine="rows",
            warm_start=True,
            max_memory=max_memory,
            random_state=0,
            C=1.0,
            loss="hinge",
        )
        cold, best = model.fit(X, y).n_iter_, model.objective_
        assert model.fit(X, y).n_iter_ < cold / 2
        assert model.objective_ == pytest.approx(best, rel=2e-3)


def problems(signs: np.ndarray, tol: float = 1e-3) -> _core.SvmProblems:
    return _core.SvmProblems(
        y=signs,
        C=np.ones(signs.shape[1]),
        loss="hinge",
        intercept=True,
        tol=tol,
        seeds=np.zeros(len(signs), dtype=np.uint64),
        max_sweeps=10**6,
    )


def test_few_violators_need_few_rows() -> None:
    """Classes that are easily told apart: most rows are never computed."""
    trees = [
        f"(S ({kind} ({kind} y) ({kind} z)) (W w{i % 50} x{i % 41}))"
        for i in range(1000)
        for kind in "AB"
    ]
    X = Forest(trees)
    rows = _core.RowTrainer(PartialTree()._spec(), X._dag, X._roots, True, 2**30, 1, None)
    signs = np.tile(np.array([1, -1], dtype=np.int8), 1000)[None]
    solved = rows.train(problems(signs, tol=1e-2), 1, None)
    assert solved.gap[0] <= 1e-2
    assert solved.dual[0] <= solved.primal[0]
    assert rows.n_rows == rows.n_rows_computed < rows.n_distinct / 2
    packed = 8 * (rows.n_rows * rows.n_distinct - rows.n_rows * (rows.n_rows - 1) // 2)
    assert packed < rows.peak_bytes < packed + 8 * 256 * rows.n_distinct


def test_classes_share_their_rows() -> None:
    """Four problems want other rows, but all of them together not much more than one of them."""
    X, y = data(600, 4)
    signs = np.array([np.where(y == c, 1, -1) for c in range(4)], dtype=np.int8)

    def n_computed(signs: np.ndarray) -> int:
        rows = _core.RowTrainer(PartialTree()._spec(), X._dag, X._roots, True, 2**30, 1, None)
        rows.train(problems(signs), 1, None)
        return rows.n_rows_computed

    alone = [n_computed(signs[c : c + 1]) for c in range(4)]
    assert n_computed(signs) <= 1.2 * max(alone) < sum(alone)


def test_rows_that_gave_way_are_computed_again() -> None:
    X, y = data()
    kernel = PartialTree()
    rows = _core.RowTrainer(kernel._spec(), X._dag, X._roots, True, FEW_ROWS, 1, None)
    signs = np.where(y == 1, 1, -1).astype(np.int8)[None]
    alpha = rows.train(problems(signs, tol=1e-4), 1, None).alpha
    n_support = len(np.unique(X._roots[alpha[0] > 0]))
    assert rows.n_rows < n_support < rows.n_rows_computed
    assert rows.peak_bytes <= FEW_ROWS


def test_a_pause_is_one_of_the_same_trainer() -> None:
    X, y = data(40)
    distinct = np.sort(np.unique(X._roots, return_index=True)[1])
    X, y = X[distinct], y[distinct]
    rows = _core.RowTrainer(PartialTree()._spec(), X._dag, X._roots, True, 2**20, 1, None)
    signs = np.where(y == 1, 1, -1).astype(np.int8)[None]
    solved = rows.train(problems(signs), 1, None)
    n, whole = rows.n_rows, rows.rows(0, rows.n_rows)
    np.testing.assert_allclose(whole, PartialTree()(X[rows.order[:n]], X[rows.order]), rtol=1e-12)
    for first, last in ((1, 0), (0, n + 1)):
        with pytest.raises(IndexError, match="no such rows"):
            rows.rows(first, last)
    with pytest.raises(ValueError, match="not the next ones"):
        rows.append(rows.order[:1], whole[:1])
    with pytest.raises(ValueError, match="rows of other trees"):
        rows.append(rows.order[:1], whole[:1, :3].copy())
    other = _core.RowTrainer(PartialTree()._spec(), X._dag, X._roots, True, 2**20, 1, None)
    paused = _core.SvmProblems(
        y=signs, C=np.ones(len(y)), loss="hinge", intercept=True, tol=1e-3,
        seeds=np.zeros(1, dtype=np.uint64), max_sweeps=100, start=solved.alpha,
        places=solved.places,
    )  # fmt: skip
    with pytest.raises(ValueError, match="did not pause"):
        other.train(paused, 1, None)
    gram = _core.GramTrainer(np.eye(3), 2**20)
    with pytest.raises(IndexError, match="no such row"):
        gram.rows_of(np.array([3], dtype=np.uint32))


# ---------------------------------------------------------------- which engine


@pytest.mark.parametrize(
    ("kernel", "engine", "told"),
    [
        (None, "auto", "factors: all terms of the kernel have factors"),
        (
            SubsetTree(),
            "auto",
            r"factors: factorising took less than 1.0e\+08 steps, the whole kernel matrix ",
        ),
        (Subtree(), "auto", "factors: the factors of this kernel need no search"),
        (PartialTree(), "auto", r"rows: the whole kernel matrix takes only about \S* steps"),
        (SubsetTree(), "rows", "rows: requested"),
        (SubsetTree(), "factors", "factors: requested"),
        (PartialTree(), "rows", "rows: requested"),
        (PartialTree(), "factors", "factors: requested"),
    ],
)
def test_the_engine_is_told(
    tmp_path: Path, kernel: Any, engine: Any, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = data(30)
    model = TreeSVC(kernel, engine=engine, random_state=0, verbose=1, C=1.0, loss="hinge").fit(X, y)
    plan = f"{model.engine_}: {model.engine_reason_}"
    assert re.match(told, plan)
    assert plan in capsys.readouterr().err
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (loaded.engine_, loaded.engine_reason_) == (model.engine_, model.engine_reason_)
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize("kernel", [SubsetTree(), PartialTree()], ids=repr)
def test_factorising_is_given_up(kernel: TreeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(60)
    monkeypatch.setattr("filbert.engine.plan.row_steps", lambda *_: 1e12)
    factors = TreeSVC(kernel, tol=1e-6, max_iter=10**6, random_state=0, C=1.0, loss="hinge").fit(
        X, y
    )
    monkeypatch.setattr("filbert.engine.plan.steps_worth_trying", lambda *_: 10.0)
    rows = TreeSVC(kernel, **{"C": 1.0, "loss": "hinge", **TIGHT}).fit(X, y)
    told = r"factorising was given up after 1.0e\+01 steps, the whole .* about \d"
    assert rows.engine_ == "rows"
    assert re.match(told, rows.engine_reason_)
    assert factors.engine_ == "factors"
    assert rows.objective_ == pytest.approx(factors.objective_, rel=1e-5)


def test_a_plan_names_its_engine_and_has_what_computes() -> None:
    X, _ = data(40)
    for engine in ("factors", "rows"):
        plan = plan_for(SubsetTree(), X, engine=engine)
        assert (plan.name, plan.reason) == (engine, "requested")
        assert plan.operator is not None
        assert plan.operator.n_trees == 40
    K = SubsetTree()(X)
    plan = plan_for(SubsetTree(), X)
    assert str(plan) == f"factors: {plan.reason}"
    np.testing.assert_allclose(plan.operator.scores(np.eye(40), 1), K, rtol=1e-10, atol=1e-12)


def test_a_kernel_is_a_sum_of_one_term() -> None:
    X, y = data(60)
    one = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, y)
    same = TreeSVC(1.0 * SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(X, y)
    assert one.dual_coef_.tobytes() == same.dual_coef_.tobytes()
    assert one.decision_function(X).tobytes() == same.decision_function(X).tobytes()


def test_an_unknown_engine() -> None:
    X, y = data(30)
    with pytest.raises(InvalidParameterError, match=r"engine must be 'auto', .* got 'magic'"):
        TreeSVC(SubsetTree(), engine="magic", C=1.0, loss="hinge").fit(X, y)  # type: ignore[arg-type]


def test_work_grows_with_what_trees_have() -> None:
    few, many = Forest(["(S (A x y) (B z))"] * 3), data(200)[0]
    for kernel in (SubsetTree(), PartialTree()):
        assert 0 < row_steps(kernel, few) < row_steps(kernel, many)
        part = many[:100]
        assert row_steps(kernel, part) < row_steps(kernel, many)
        between = row_steps_between(kernel, part, many)
        assert 2 * row_steps(kernel, part) < between < 2 * row_steps(kernel, many)
        assert steps_worth_trying(kernel, 1e12) > steps_worth_trying(kernel, 1.0) > 0
    assert row_steps(PartialTree(), Forest()) == 0


def test_pruned_factors_are_tried_longer_than_exact_ones() -> None:
    for steps in (1.0, 1e9, 1e12):
        exact, pruned = (steps_worth_trying(PartialTree(), steps, tol) for tol in (0.0, 1e-6))
        assert exact < pruned
        assert steps_worth_trying(SubsetTree(), steps, 1e-6) == max(1e8, steps)


def test_rare_classes_need_few_rows_and_a_large_cost_makes_rows_dear() -> None:
    def signs(*n_positive: int) -> Any:
        return np.array([np.where(np.arange(1000) < n, 1, -1) for n in n_positive], dtype=np.int8)

    assert rows_for_training(signs(500), 1.0) == 1.0
    assert rows_for_training(signs(10), 1.0) == rows_for_training(signs(990), 0.1) < 0.03
    assert rows_for_training(signs(10, 20), 1.0) > rows_for_training(signs(10), 1.0)
    assert rows_for_training(signs(300, 300, 400), 1.0) == 1.0  # all rows at most
    assert rows_for_training(signs(10), 10.0) > rows_for_training(signs(10), 1.0)


def test_a_rare_class_is_trained_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same trees: what factorising may take depends on the classes."""
    X, _ = data(60)
    tried: list[float] = []

    def limit(_: TreeKernel, steps: float, kernel_tol: float) -> float:
        assert kernel_tol > 0
        tried.append(steps)
        return np.inf

    monkeypatch.setattr("filbert.engine.plan.row_steps", lambda *_: 1e12)
    monkeypatch.setattr("filbert.engine.plan.steps_worth_trying", limit)
    for n in (30, 3):
        TreeSVC(PartialTree(), C=1.0, loss="hinge").fit(X, np.arange(60) < n)
    assert tried == pytest.approx([1e12, 1e11])


def test_too_little_memory() -> None:
    X, y = data()
    with pytest.raises(OutOfMemoryError, match=r"KiB each, .* raise max_memory, or"):
        TreeSVC(PartialTree(), engine="rows", max_memory=1000, C=1.0, loss="hinge").fit(X, y)


def test_values_beyond_double() -> None:
    wide = f"(S {'a ' * 700})"  # some 4**700 common subsequences
    X, y = ["(S a)", "(S b)", wide, "(S c)"], [0, 1, 0, 1]
    kernel = PartialTree(1.0, 1.0)
    model = TreeSVC(kernel, engine="rows", **{"C": 1.0, "loss": "hinge", **TIGHT}).fit(X, y)
    assert model.objective_ == pytest.approx(primal(model, kernel(X), np.array(y), 1.0), rel=1e-9)
    with pytest.raises(KernelOverflowError, match="tree 2 with itself"):
        TreeSVC(PartialTree(1.0, 1.0, normalize=False), engine="rows", C=1.0, loss="hinge").fit(
            X, y
        )


def test_long_chains() -> None:
    X = ["(a " * n + leaf + ")" * n for n in (20_000, 20_001) for leaf in "xy"] + ["(a x)", "(b y)"]
    y = np.array([0, 1, 0, 1, 0, 1])
    kernel = SubsetTree()
    model = TreeSVC(kernel, engine="rows", **{"C": 1.0, "loss": "hinge", **TIGHT}).fit(X, y)
    assert model.objective_ == pytest.approx(primal(model, kernel(X), y, 1.0), rel=1e-9)


@pytest.mark.product
@pytest.mark.shared
@pytest.mark.parametrize("name", SAMPLED)
def test_every_data_set(shared_dir: Path, name: str) -> None:
    """Decision values and objectives against a kernel matrix of the reference's values."""
    sample = sampled_from(shared_dir / "data", name)
    # The reference takes long for large trees: the smallest of more.
    texts = sorted(sample[: 200 if name in LARGE else 60], key=len)[:10]
    X, y = Forest(texts), np.arange(len(texts)) % 3
    trees = [parse(text) for text in texts]
    for kernel in PARTIAL[:2]:
        K = reference_matrix(kernel, trees, trees)
        fitted = {}
        for engine in ("rows", "factors"):
            options = {"engine": engine, "tol": 1e-7, "max_iter": 10**6, "random_state": 0}
            model = TreeSVC(kernel, **{"C": 1.0, "loss": "hinge", **options}).fit(X, y)
            values = K[:, model.support_] @ model.dual_coef_.T + model.intercept_
            scale = np.abs(model.dual_coef_).sum()
            np.testing.assert_allclose(model.decision_function(X), values, atol=1e-10 * scale)
            fitted[engine] = model.objective_
        assert fitted["rows"] == pytest.approx(fitted["factors"], rel=1e-6)
        signs = [np.where(y == c, 1, 0) for c in range(3)]
        best = sum(svc_optimum(K + 1, sign, 1.0) for sign in signs)
        assert fitted["rows"] == pytest.approx(best, rel=1e-5)


@pytest.mark.product
@pytest.mark.shared
def test_questions(shared_dir: Path) -> None:
    """Six classes of question trees; the cited systems reach 90.0 and 91.0 %."""
    train, test = (
        read_examples(shared_dir / f"data/qc/{part}.jsonl.xz", tree="trees.grct")
        for part in ("train", "test")
    )
    model = TreeSVC(
        PartialTree(penalty="gaps"), engine="rows", C=10.0, random_state=0, loss="hinge"
    ).fit(*train)
    assert model.duality_gap_ <= 1e-3
    assert model.score(*test) >= 0.9
