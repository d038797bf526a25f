"""Plain baselines, as one writes them in a few lines with scikit-learn."""

import re
from collections.abc import Callable
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from benchmarks.quality_sections.tasks import Indices, Task

COSTS = [0.1, 1.0, 10.0]
N_FOLDS = 3


def patterns(text: str) -> list[tuple[str, ...]]:
    """List the labels, the parent-child pairs and the productions of a tree, each by its kind."""
    found: list[tuple[str, ...]] = []
    open_nodes: list[list[str]] = [[]]  # each with its label and the labels of its children
    for token in re.findall(r"[()]|[^\s()]+", text.replace("(", " ( ").replace(")", " ) ")):
        if token == "(":
            open_nodes.append([])
        elif token == ")":
            node = open_nodes.pop()
            found += [("pair", node[0], child) for child in node[1:]]
            found.append(("production", *node))
        else:
            found.append(("label", token))
            if not open_nodes[-1]:
                open_nodes[-2].append(token)
            open_nodes[-1].append(token)
    return found


def only(*kinds: str) -> Callable[[Any], Any]:
    return lambda found: [pattern for pattern in found if pattern[0] in kinds]


def counts(analyzer: Callable[[Any], Any]) -> Any:
    return make_pipeline(CountVectorizer(analyzer=analyzer), Normalizer())


def baselines() -> dict[str, Any]:
    """Return transformers of lists of patterns, by name."""
    return {
        "labels": counts(only("label")),
        "labels, pairs": counts(only("label", "pair")),
        "labels, pairs, tf-idf": TfidfVectorizer(analyzer=only("label", "pair"), sublinear_tf=True),
        "labels, pairs, productions, log": TfidfVectorizer(
            analyzer=only("label", "pair", "production"), sublinear_tf=True, use_idf=False
        ),
    }


def predictions(data: Task, baseline: Any, fold: tuple[Indices, Indices]) -> Any:
    """Train a linear SVM on a fold, with the C that cross-validation on its training part gives."""
    train, test = fold
    X = baseline.fit_transform([patterns(data.texts[i]) for i in train])
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(LinearSVC(random_state=0), {"C": COSTS}, cv=splitter)
    search.fit(X, data.y[train])
    return search.predict(baseline.transform([patterns(data.texts[i]) for i in test]))
