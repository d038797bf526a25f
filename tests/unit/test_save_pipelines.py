"""Files of pipelines and searches: what comes back, and what is refused."""

import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, chi2
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from filbert import (
    DistributedTreeEmbedding,
    FragmentVectorizer,
    TreePerceptron,
    TreeSVC,
    load,
    save,
)
from filbert.errors import FilbertError, InputTypeError, InvalidParameterError, ModelFileError
from filbert.kernels import PartialTree, SubsetTree
from filbert.persist import SearchResult
from filbert.persist.archive import open_archive, write_archive
from filbert.testing.tools import sentences
from filbert.unpack import set_jobs
from tests.profiles import n_examples

X, CODES = sentences(36, 3)
Y = np.array(["où", "what", "who"])[CODES]
TWO = CODES == 1
SVM = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
FRAGMENTS = FragmentVectorizer(kernel=SubsetTree(0.5), n_fragments=12)
EMBEDDING = DistributedTreeEmbedding(24, random_state=1)


def content(model: Any, path: Path) -> bytes:
    save(model, path)
    return path.read_bytes()


def outputs(model: Any) -> list[Any]:
    """Everything that a model computes for trees."""
    found = []
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            output = getattr(model, name)(X)
            found.append(output.toarray() if sp.issparse(output) else np.asarray(output))
    assert found
    return found


def check_comes_back(model: Any, folder: Path) -> Any:
    before = content(model, folder / "a")
    again = load(folder / "a")
    assert content(again, folder / "b") == before
    for one, other in zip(outputs(model), outputs(again), strict=True):
        assert one.dtype == other.dtype
        is_text = one.dtype == object  # its bytes are addresses
        assert one.tolist() == other.tolist() if is_text else one.tobytes() == other.tobytes()
    return again


def change(path: Path, changed: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    with open(path, "rb") as stream, open_archive(stream) as archive:
        header, arrays = archive.header, archive.arrays()
    changed(header["content"], arrays)
    with open(path, "wb") as stream:
        write_archive(stream, header, arrays)


# ---------------------------------------------------------------- pipelines

PIPELINES = {
    "one step": make_pipeline(SVM),
    "nothing": Pipeline([("nothing", "passthrough"), ("none", None), ("last", SVM)]),
    "linear": make_pipeline(FRAGMENTS, TfidfTransformer(sublinear_tf=True), LinearSVC(C=2)),
    "no intercept": make_pipeline(FRAGMENTS, Normalizer("l1"), LinearSVC(fit_intercept=False)),
    "float32": make_pipeline(EMBEDDING, StandardScaler(), LogisticRegression(C=0.1)),
    "weights": make_pipeline(
        FRAGMENTS,
        MaxAbsScaler(),
        LogisticRegression(class_weight={"who": 2.0}, tol=0.1),
    ),
    "select": make_pipeline(FRAGMENTS, SelectKBest(chi2, k=5), TruncatedSVD(3, random_state=0)),
    "percentile": make_pipeline(FRAGMENTS, VarianceThreshold(), SelectPercentile(percentile=50)),
    "scale": make_pipeline(EMBEDDING, MinMaxScaler((-1, 2), clip=True), Binarizer(threshold=0.5)),
    "no mean": make_pipeline(FRAGMENTS, StandardScaler(with_mean=False), LinearSVC()),
    "no idf": make_pipeline(FRAGMENTS, TfidfTransformer(use_idf=False), LinearSVC()),
    "union": make_pipeline(
        FeatureUnion(
            [("few", FRAGMENTS), ("dense", EMBEDDING), ("not", "drop")],
            transformer_weights={"few": 0.5},
        ),
        make_pipeline(StandardScaler(with_mean=False), LinearSVC()),
    ),
    "perceptron": make_pipeline(TreePerceptron(n_epochs=2)),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_comes_back(name: str, tmp_path: Path) -> None:
    pipeline = PIPELINES[name].fit(X, Y)
    again = check_comes_back(pipeline, tmp_path)
    assert type(again) is Pipeline
    assert repr(again) == repr(pipeline)
    assert list(again.named_steps) == list(pipeline.named_steps)


@pytest.mark.parametrize(
    "last", [LinearSVC(C=np.float32(2)), LogisticRegression(solver="liblinear")]
)
def test_a_pipeline_of_two_classes_comes_back(last: Any, tmp_path: Path) -> None:
    again = check_comes_back(make_pipeline(FRAGMENTS, last).fit(X, TWO), tmp_path)
    assert again.classes_.tolist() == [False, True]


def test_a_known_estimator_alone_comes_back(tmp_path: Path) -> None:
    table = pd.DataFrame({"one": [1.0, 2.0, 3.0], "two": [0.0, 5.0, 5.0]})
    scaler = StandardScaler().fit(table)
    save(scaler, tmp_path / "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names of features that were lost
        assert load(tmp_path / "a").transform(table).tolist() == scaler.transform(table).tolist()


def test_a_cache_is_not_kept(tmp_path: Path) -> None:
    pipeline = Pipeline([("last", SVM)], memory=str(tmp_path / "cache")).fit(X, Y)
    save(pipeline, tmp_path / "a")
    assert load(tmp_path / "a").memory is None


def _with_root(trees: Any) -> Any:
    return [f"(ROOT {tree})" for tree in trees]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (FunctionTransformer(_with_root), "step 'first': a FunctionTransformer cannot be saved"),
        (make_pipeline(FunctionTransformer(_with_root)), "'first': step 'functiontransformer'"),
        (FeatureUnion([("f", SelectKBest(lambda X, y: X[0]))]), "SelectKBest: score_func: a funct"),
    ],
)
def test_a_step_of_another_kind_is_named(step: Any, told: str, tmp_path: Path) -> None:
    pipeline = Pipeline([("first", step), ("last", SVM)])
    with pytest.raises(InputTypeError, match=told):
        save(pipeline, tmp_path / "a")


def test_the_last_step_can_always_be_saved(tmp_path: Path) -> None:
    pipeline = make_pipeline(
        FunctionTransformer(_with_root), TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
    ).fit(X, Y)
    with pytest.raises(InputTypeError, match=r"pipeline\[-1\]"):
        save(pipeline, tmp_path / "a")
    save(pipeline[-1], tmp_path / "a")
    again = make_pipeline(pipeline[0], load(tmp_path / "a"))
    assert again.predict(X).tolist() == pipeline.predict(X).tolist()


@pytest.mark.parametrize("last", [RidgeClassifier(), SVC(kernel=SubsetTree())])
def test_other_estimators_are_refused(last: Any, tmp_path: Path) -> None:
    model = Pipeline([("first", "passthrough"), ("last", last)])
    with pytest.raises(InputTypeError, match=f"step 'last': a {type(last).__name__} cannot be"):
        save(model, tmp_path / "a")


def test_a_subclass_of_a_known_estimator_is_refused(tmp_path: Path) -> None:
    class LinearSVC2(LinearSVC):
        pass

    LinearSVC2.__name__ = "LinearSVC"
    with pytest.raises(InputTypeError, match="not LinearSVC"):
        save(LinearSVC2().fit([[0], [1]], [0, 1]), tmp_path / "a")


@pytest.mark.parametrize(
    "last", [LinearSVC(), TreeSVC(SubsetTree(), C=1.0, loss="hinge"), StandardScaler()]
)
def test_steps_must_be_fitted(last: Any, tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="step 'last': "):
        save(Pipeline([("last", last)]), tmp_path / "a")


def test_weights_must_be_finite(tmp_path: Path) -> None:
    model = LinearSVC().fit([[0], [1]], [0, 1])
    model.coef_ = model.coef_ * np.nan
    with pytest.raises(InvalidParameterError, match="'coef_' has values that are not finite"):
        save(model, tmp_path / "a")


def test_pipelines_that_are_too_deep(tmp_path: Path) -> None:
    pipeline: Any = SVM
    for _ in range(12):
        pipeline = make_pipeline(pipeline)
    with pytest.raises(InvalidParameterError, match="nested more than 10 deep"):
        save(pipeline, tmp_path / "a")


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (CalibratedClassifierCV(SVM, cv=2, ensemble=True), Y),
        (CalibratedClassifierCV(SVM, cv=KFold(2), ensemble=False), TWO),
        (make_pipeline(FRAGMENTS, CalibratedClassifierCV(LinearSVC(), cv=2)), Y.astype(object)),
    ],
    ids=["ensemble", "two", "pipeline"],
)
def test_calibrated_models_come_back(model: Any, y: Any, tmp_path: Path) -> None:
    again = check_comes_back(model.fit(X, y), tmp_path)
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.classes_.dtype == model.classes_.dtype
    set_jobs(again, 1)


@pytest.fixture(scope="module")
def calibrated_file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    model = CalibratedClassifierCV(SVM, cv=2, ensemble=False).fit(X, Y)
    return content(model, tmp_path_factory.mktemp("calibrated") / "a")


def test_other_calibrations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="'isotonic' cannot be saved: use 'sigmoid'"):
        save(CalibratedClassifierCV(SVM, method="isotonic"), tmp_path / "a")
    with pytest.raises(NotFittedError):
        save(CalibratedClassifierCV(SVM), tmp_path / "a")


@pytest.mark.parametrize(
    ("told", "damage"),
    [
        ("does not list the models", lambda c, a: c.update(models=[])),
        ("does not list the models", lambda c, a: c.update(cv="os")),
        ("has no scores", lambda c, a: c["models"][0].update(kind="Forest")),
        ("other classes", lambda c, a: a.update(classes=a["classes"][:2])),
        ("must have shape", lambda c, a: a.pop("0.sigmoids")),
        ("not finite", lambda c, a: a.update({"0.sigmoids": a["0.sigmoids"] * np.nan})),
    ],
)
def test_damaged_calibrations_are_refused(
    told: str, damage: Any, calibrated_file: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(calibrated_file)
    change(tmp_path / "a", damage)
    if told == "has no scores":
        forest = {f"0.{name}": array for name, array in X.to_arrays().items()}
        change(tmp_path / "a", lambda c, a: a.update(forest))
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "a")


# ---------------------------------------------------------------- searches

DECAYS = {"kernel__decay": [0.3, 0.6]}
SEARCHES = {
    "grid": GridSearchCV(SVM, DECAYS, cv=2),
    "random": RandomizedSearchCV(SVM, DECAYS, cv=2, n_iter=1, random_state=0),
    "halving": HalvingGridSearchCV(
        SVM, {"C": [0.1, 1.0]}, cv=2, min_resources=18, max_resources=36, random_state=0
    ),
    "kernels": GridSearchCV(
        SVM, [{"kernel": [SubsetTree(), PartialTree()]}, {"C": [3.0]}], cv=2, refit=True
    ),
    "scores": GridSearchCV(
        SVM, {"C": [1.0]}, scoring=["accuracy", "f1_macro"], refit="f1_macro", cv=2
    ),
    "pipeline": GridSearchCV(make_pipeline(FRAGMENTS, LinearSVC()), {"linearsvc__C": [1.0]}, cv=2),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_comes_back(name: str, tmp_path: Path) -> None:
    search = SEARCHES[name].fit(X, Y)
    again = check_comes_back(search, tmp_path)
    assert isinstance(again, SearchResult)
    assert again.search == type(search).__name__
    for attribute in ("best_params_", "best_score_", "best_index_"):
        assert getattr(again, attribute) == getattr(search, attribute)
    assert again.cv_results_.keys() == search.cv_results_.keys()
    assert again.cv_results_["params"] == search.cv_results_["params"]
    for column, values in search.cv_results_.items():
        found = again.cv_results_[column]
        if column.startswith("param_"):
            assert np.ma.getmaskarray(found).tolist() == np.ma.getmaskarray(values).tolist()
            assert found.tolist() == values.tolist()
        elif column != "params":
            np.testing.assert_array_equal(found, values, strict=True)
    assert again.classes_.tolist() == search.classes_.tolist()
    assert str(again.best_score_) in repr(again)


def test_a_search_in_a_pipeline_comes_back(tmp_path: Path) -> None:
    check_comes_back(make_pipeline(GridSearchCV(SVM, DECAYS, cv=2)).fit(X, Y), tmp_path)


def test_other_values_of_parameters_become_text(tmp_path: Path) -> None:
    steps = Pipeline([("features", FRAGMENTS), ("last", LinearSVC())])
    grid = {"last": [LinearSVC(C=7.0)], "last__class_weight": [None]}
    search = GridSearchCV(steps, grid, cv=2, scoring=lambda model, X, y: np.nan)
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, Y)
    again = check_comes_back(search, tmp_path)
    assert again.best_params_ == {"last": "LinearSVC(C=7.0)", "last__class_weight": None}
    assert np.isnan(again.best_score_)


def test_a_result_has_what_a_search_predicts(tmp_path: Path) -> None:
    save(SEARCHES["grid"].fit(X, Y), tmp_path / "a")
    again = load(tmp_path / "a")
    assert not hasattr(again, "predict_proba")
    with pytest.raises(AttributeError, match="see its best_estimator_"):
        again.score(X, Y)
    with pytest.raises(InputTypeError, match="fit a new GridSearchCV"):
        again.fit(X, Y)


@pytest.mark.parametrize("search", [GridSearchCV(SVM, DECAYS), GridSearchCV(SVC(), {"C": [1.0]})])
def test_a_search_without_an_estimator_to_save(search: Any, tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match=r"no best_estimator_"):
        save(search, tmp_path / "a")


# ---------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def pipeline_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pipelines") / "pipeline"
    scale = [FRAGMENTS, SelectKBest(chi2, k=5), StandardScaler(with_mean=False)]
    search = GridSearchCV(make_pipeline(*scale, LinearSVC()), {"linearsvc__C": [1.0, 2.0]}, cv=2)
    save(search.fit(X, Y), path)
    return path


def steps_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = content["best"]["content"]["steps"]
    return found


def nested(entry: dict[str, Any], depth: int) -> dict[str, Any]:
    for _ in range(depth):
        entry = {"kind": "Pipeline", "content": {"steps": [{"name": "x", **entry}]}}
    return entry


DAMAGE: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "'os.system', which": lambda c, a: c["best"].update(kind="os.system"),
    "no content": lambda c, a: c["best"].update(content=[]),
    "it holds a 'None'": lambda c, a: c.update(best=None),
    "candidates of the search": lambda c, a: c.update(candidates=None),
    "parameters of a candidate": lambda c, a: c["candidates"].append(3),
    "figures 'mean_fit_time'": lambda c, a: c["candidates"].pop(),
    "score of the best": lambda c, a: c.update(best_score="high"),
    "cannot be {'pickle': 1}": lambda c, a: c.update(best_params={"C": {"pickle": 1}}),
    "the number 'x'": lambda c, a: c.update(best_score={"float": "x"}),
    "nested more than 20": lambda c, a: c.update(best_score=json.loads("[" * 30 + "]" * 30)),
    "list the steps": lambda c, a: c["best"]["content"].update(steps={}),
    "has no steps": lambda c, a: c["best"]["content"].update(steps=[]),
    "nested more than 10": lambda c, a: c.update(best=nested(c["best"], 12)),
    "no unique name": lambda c, a: steps_of(c)[1].update(name="fragmentvectorizer"),
    "cannot be 'eval'": lambda c, a: steps_of(c)[1].update(left_out="eval"),
    "no function 'eval'": lambda c, a: steps_of(c)[1]["content"]["parameters"].update(
        score_func={"function": "eval"}
    ),
    "no parameter 'new' in scikit-learn": lambda c, a: steps_of(c)[3]["content"][
        "parameters"
    ].update(new=1),
    "The 'C' parameter of LinearSVC": lambda c, a: steps_of(c)[3]["content"]["parameters"].update(
        C="a"
    ),
    "'n_features_in_' cannot be": lambda c, a: steps_of(c)[3]["content"]["values"].update(
        n_features_in_=-1
    ),
    "the values of a LinearSVC": lambda c, a: steps_of(c)[3]["content"]["values"].update(
        __class__=1
    ),
    "'coef_' cannot be None": lambda c, a: steps_of(c)[3]["content"]["values"].update(coef_=None),
    "'coef_' is missing": lambda c, a: a.pop("best.3.coef_"),
    "'classes_' is missing": lambda c, a: a.pop("best.3.classes_"),
    "not ascending": lambda c, a: a.update({"best.3.classes_": a["best.3.classes_"][::-1]}),
    "has 4 features, not 5": lambda c, a: a.update({"best.3.coef_": a["best.3.coef_"][:, 1:]}),
    "has 2 problems, not 3": lambda c, a: a.update({"best.3.coef_": a["best.3.coef_"][1:]}),
    "not finite": lambda c, a: a.update({"best.2.scale_": a["best.2.scale_"] * np.inf}),
    "does not belong": lambda c, a: a.update({"best.2.os": a["best.2.scale_"]}),
    "step 'fragmentvectorizer': the array": lambda c, a: a.pop("best.0.open"),
}


@pytest.mark.parametrize("told", DAMAGE)
def test_damage_is_told(told: str, pipeline_file: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(pipeline_file.read_bytes())
    change(tmp_path / "a", DAMAGE[told])
    with pytest.raises(ModelFileError, match=told):
        load(tmp_path / "a")


@n_examples(50)
@given(data=st.data())
def test_random_damage_of_the_header_does_no_harm(pipeline_file: Path, data: st.DataObject) -> None:
    """A file loads, or raises a typed error. Nothing else comes out of it."""
    with open(pipeline_file, "rb") as stream, open_archive(stream) as archive:
        header, arrays = archive.header, archive.arrays()
    place: Any = header["content"]
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers(), max_size=2)
    )
    damaged = pipeline_file.with_name("damaged")
    with open(damaged, "wb") as stream:
        write_archive(stream, {k: v for k, v in header.items() if k != "arrays"}, arrays)
    with suppress(FilbertError):
        assert isinstance(load(damaged), SearchResult)
