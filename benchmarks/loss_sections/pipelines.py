"""Pipelines of `TreeFeatures` and estimators of scikit-learn that are not classifiers."""

import json
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import Ridge
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from benchmarks.datasets import column, first_lines, write_boundary
from benchmarks.loss_sections.glycans import correlation, glycans
from benchmarks.measure import Clock, peak_mib, shared_data
from benchmarks.sections import Row, Section
from filbert import Forest, TreeFeatures, read_examples
from filbert.kernels import SubsetTree

KERNEL = SubsetTree(0.4)
N_SVD = 100_000
ALPHAS = [0.01, 0.1, 1.0]


def section_pipelines() -> Section:
    section = Section("pipelines of TreeFeatures and estimators of scikit-learn")
    for work in (of_svd, of_clusters, of_ridge, of_labels):
        clock = Clock()
        row = work()
        section.rows.append(row | {"cpu_seconds": clock.lap()[0], "peak_mib": peak_mib()})
    section.notes += [
        "Seconds are those of the whole work, reading included. The peak is that of the process so "
        "far.",
        f"A kernel matrix of {N_SVD:,} trees, as KernelPCA needs, would take 80 GB.",
    ]
    return section


def of_svd() -> Row:
    with TemporaryDirectory() as folder:
        train = write_boundary(shared_data(), "train", Path(folder) / "train.tsv")
        X, _ = read_examples(first_lines(train, N_SVD))
    svd = TruncatedSVD(50, random_state=0)
    shape = make_pipeline(TreeFeatures(KERNEL), svd).fit_transform(X).shape
    share = float(svd.explained_variance_ratio_.sum())
    return row_of("srl-ewt", shape[0], "TruncatedSVD(50)", "share of the variance", share)


def of_clusters() -> Row:
    paths = ["inex/inex2005.train.tsv.xz"]
    y, trees = (list(column(paths, number, shared_data())) for number in (0, 1))
    means = MiniBatchKMeans(len(set(y)), n_init=10, random_state=0)
    clusters = make_pipeline(TreeFeatures(KERNEL), means).fit_predict(Forest(trees))
    mutual = float(normalized_mutual_info_score(y, clusters))
    row = row_of("inex 2005", len(y), "MiniBatchKMeans(11)", "mutual information", mutual)
    return row | {"adjusted_rand": round(float(adjusted_rand_score(y, clusters)), 3)}


def of_ridge() -> Row:
    def path(train: Any, X: Forest) -> list[Any]:
        features = TreeFeatures(SubsetTree(0.4, include_leaves=True))
        A, B = features.fit_transform(train[0]), features.transform(X)
        return [Ridge(alpha).fit(A, train[1]).predict(B) for alpha in ALPHAS]

    train, test = glycans("train"), glycans("test")
    mean = float(np.mean([correlation(path, train[p], test[p]) for p in sorted(train)]))
    n = sum(len(y) for _, y in train.values())
    return row_of("glycan-binding", n, "Ridge", "mean Spearman correlation", mean)


def of_labels() -> Row:
    """A glycan may be found in several kingdoms."""
    parts = [labelled_glycans(part) for part in ("train", "test")]
    binarizer = MultiLabelBinarizer().fit(parts[0][1])
    known = [set(binarizer.classes_) & set(own) for own in parts[1][1]]
    (X, y), X_test = parts[0], parts[1][0]
    kernel = SubsetTree(0.4, include_leaves=True)
    model = make_pipeline(TreeFeatures(kernel), OneVsRestClassifier(LinearSVC(C=10)))
    model.fit(X, binarizer.transform(y))
    f1 = float(f1_score(binarizer.transform(known), model.predict(X_test), average="micro"))
    return row_of("glycan", len(X), "OneVsRestClassifier(LinearSVC)", "micro F1 of kingdoms", f1)


def labelled_glycans(part: str) -> tuple[Forest, list[list[str]]]:
    with lzma.open(shared_data() / f"glycan/{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
        records = [record for record in map(json.loads, lines) if record["kingdom"]]
    return Forest(r["tree"] for r in records), [r["kingdom"] for r in records]


def row_of(data: str, n: int, estimator: str, measure: str, value: float) -> Row:
    row: Row = {"data_set": data, "examples": n, "estimator": estimator}
    return row | {"measure": measure, "value": round(value, 3)}
