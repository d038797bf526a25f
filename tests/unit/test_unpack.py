"""Fitted pipelines and searches where a learner is taken."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from filbert import FragmentVectorizer, TreePerceptron, TreeSVC, explain, load, save
from filbert.errors import InputTypeError, InvalidParameterError
from filbert.forest import as_forest
from filbert.fragments import mine
from filbert.kernels import SubsetTree
from filbert.testing.tools import sentences
from filbert.unpack import learner_in, set_jobs

X, Y = sentences(40, 2)
SVM = TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge")
GRID = {"kernel__decay": [0.3]}
WRAPPED = {
    "grid": GridSearchCV(SVM, GRID, cv=2),
    "random": RandomizedSearchCV(SVM, GRID, cv=2, n_iter=1),
    "pipeline": make_pipeline(SVM),
    "passthrough": Pipeline([("nothing", "passthrough"), ("none", None), ("last", SVM)]),
    "pipeline of a search": make_pipeline(GridSearchCV(SVM, GRID, cv=2)),
    "search of a pipeline": GridSearchCV(make_pipeline(SVM), {"treesvc__kernel__decay": [0.3]}),
}


@pytest.fixture(params=WRAPPED.values(), ids=WRAPPED)
def wrapped(request: pytest.FixtureRequest) -> Any:
    return request.param.fit(X, Y)


def test_the_learner_is_found_again_in_a_file(wrapped: Any, tmp_path: Path) -> None:
    save(wrapped, tmp_path / "model")
    again = load(tmp_path / "model")
    assert isinstance(learner_in(again), TreeSVC)
    assert explain(again, X[:1]) == explain(wrapped, X[:1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_all_steps_get_the_number_of_threads(n_jobs: int | None) -> None:
    union = FeatureUnion([("fragments", FragmentVectorizer()), ("scaled", "passthrough")])
    search = GridSearchCV(SVM, GRID, cv=2).fit(X, Y)
    set_jobs(make_pipeline(union, make_pipeline(search)), n_jobs)
    assert union.transformer_list[0][1].n_jobs == n_jobs
    assert union.n_jobs is None
    assert search.best_estimator_.n_jobs == n_jobs


def test_the_learner_is_explained_and_mined(wrapped: Any) -> None:
    explanation = explain(wrapped, X[:3])
    scores = [example.scores[0] for example in explanation.examples]
    assert scores == wrapped.decision_function(X[:3]).tolist()
    assert mine(wrapped).weight.tolist() == mine(learner_in(wrapped)).weight.tolist()


def test_other_steps_transform_what_is_explained() -> None:
    pipeline = make_pipeline(FunctionTransformer(_with_root), clone_of(SVM)).fit(X, Y)
    [example] = explain(pipeline, X[:1]).examples
    assert example.tree.labels[0] == "ROOT"
    assert example.scores[0] == pipeline.decision_function(X[:1])[0]


def _with_root(trees: Any) -> Any:
    return as_forest([f"(ROOT {tree})" for tree in trees])


def clone_of(svm: TreeSVC) -> TreeSVC:
    return TreeSVC(**svm.get_params(deep=False))


@pytest.mark.parametrize("take", [explain, mine, lambda model: save(model, "x")])
def test_a_search_without_a_best_estimator_says_so(take: Any) -> None:
    for search in (GridSearchCV(SVM, GRID), GridSearchCV(SVM, GRID, refit=False, cv=2).fit(X, Y)):
        with pytest.raises(InputTypeError, match=r"no best_estimator_: .*refit=True"):
            take(search)


def test_mining_many_classes_asks_for_one() -> None:
    many, labels = sentences(60, 3)
    names = np.array(["x", "y", "z"])[labels]
    for learner in (TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge"), TreePerceptron()):
        clf = learner.fit(many, names)
        with pytest.raises(InvalidParameterError, match=r"3 decision .* 0 \('x'\), 1 \('y'\), 2"):
            mine(clf)
        found = [mine(clf, problem=k) for k in range(3)]
        for one, other in zip(found, FragmentVectorizer(clf).fit(many).mined_, strict=True):
            assert one.weight.tolist() == other.weight.tolist()
    with pytest.raises(InvalidParameterError, match="where k is 0 to 2"):
        mine(TreeSVC(SubsetTree(), random_state=0, C=1.0, loss="hinge").fit(many, names).model_)


def test_votes_cannot_be_mined() -> None:
    with pytest.raises(InputTypeError, match="vote=False"):
        mine(TreePerceptron(vote=True).fit(X, Y))
