"""The files and names that the short examples of the documentation take for granted."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import scipy.sparse
import sklearn
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

import filbert
import filbert.kernels
from filbert.metrics import count_brackets
from filbert.transform import StripEmpties

PAIRS = [(d, n) for d in ("a", "the", "this") for n in ("dog", "cat", "hen", "bird", "cow")]
TREES = [f"(S (NP (D {d}) (N {n})) (VP (V barks)))" for d, n in PAIRS]
TREES += [f"(Q (V is) (NP (D {d}) (N {n})) (A (X not) (A asleep)))" for d, n in PAIRS]
SIGNS = [-1] * len(PAIRS) + [1] * len(PAIRS)
WORDS = ["no" if sign < 0 else "yes" for sign in SIGNS]


def rows(*columns: list[Any]) -> list[str]:
    return ["\t".join(map(str, row)) for row in zip(*columns, strict=True)]


def write_files(folder: Path) -> None:
    """Write the files that the pages name, in the formats of their extensions."""
    n = len(TREES)
    table = "\n".join(rows(WORDS, TREES)) + "\n"
    named = pd.DataFrame({"kind": WORDS, "label": WORDS, "parse": TREES, "parse_2": TREES})
    named["id"], named["length"] = [f"q{i}" for i in range(n)], np.arange(n)
    named[["text", "hypothesis"]] = np.array([TREES, TREES]).T
    pair = {"text_tree": TREES[0], "hypothesis_tree": TREES[1], "lex": {"a": 0.5}}
    texts = {
        **dict.fromkeys(("train.tsv", "a.tsv", "b.tsv", "new/1.tsv", "test/1.tsv"), table),
        "no-header.tsv": "\n".join(rows(["q"] * n, WORDS, TREES)) + "\n",
        "train.dat": "".join(f"{s} |BT| {t} |ET| 1:0.5 |EV|\n" for s, t in _labelled(SIGNS)),
        "train.klp": _kelp(),
        "questions.csv": named[["id", "label", "parse"]].to_csv(index=False),
        "pairs.csv": named[["label", "text", "hypothesis", "length"]].to_csv(index=False),
        "glycans.csv": "binds,glycan\nyes,Gal(b1-4)GlcNAc\nno,Man(a1-3)Man\n",
        "pages.jsonl": '{"label": "news", "page": "<p>a</p>", "tokens": ["a"]}\n',
        "rte.jsonl": pd.Series({"entails": "yes", **pair}).to_json() + "\n",
        **dict.fromkeys(("wsj_0001.mrg", "wsj/00/1.mrg"), "\n".join(TREES)),
        "a.xml": "<a class='x'><b/></a>",
        **{f"pages/{kind}/{i}.html": "<p>a</p>" for kind in ("news", "sport") for i in (1, 2)},
        "src/code.py": "def one(x):\n    return x\n\n\ndef two(y):\n    return y\n",
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    columns = ["label", "kind", "parse", "parse_2"]
    named[columns].to_csv(folder / "questions.tsv", sep="\t", index=False)
    (folder / "corpus").mkdir()
    (folder / "corpus" / "1.tsv.gz").write_bytes(gzip.compress(table.encode()))
    (folder / "b.xml.gz").write_bytes(gzip.compress(b"<a><c/></a>"))
    for name in ("train_5500.coarse.klp.gz", "TREC_10.coarse.klp.gz"):
        (folder / name).write_bytes(gzip.compress(_kelp().encode()))
    (folder / "trees.tsv.xz").write_bytes(lzma.compress(table.encode()))


def _labelled(labels: list[Any]) -> list[tuple[Any, str]]:
    return list(zip(labels, TREES, strict=True))


def _kelp() -> str:
    return "".join(
        f"{label}\t|BT:grct| {tree} |ET| |BV:bow| dog:1.0 |EV|\n"
        for label, tree in _labelled(WORDS)
    )


def names_of(page: str) -> dict[str, Any]:
    """Return the names that a page uses without defining them."""
    forest, y = filbert.Forest(TREES), np.array(SIGNS)
    clf = filbert.TreeSVC(random_state=0).fit(forest, y)
    common: dict[str, Any] = {
        **{name: getattr(filbert, name) for name in filbert.__all__},
        **{name: getattr(filbert.kernels, name) for name in filbert.kernels.__all__},
        "filbert": filbert, "np": np, "numpy": np, "pd": pd, "sklearn": sklearn, "joblib": joblib,
        "GridSearchCV": GridSearchCV, "GroupKFold": GroupKFold, "LinearSVC": LinearSVC,
        "make_pipeline": make_pipeline, "make_union": make_union,
        "forest": forest, "trees": forest, "X": forest, "X_train": forest, "X_test": forest,
        "X_new": forest[:3], "queries": TREES[:2],
        "y": y, "y_train": y, "y_test": y, "labels": WORDS,
        "matrix": scipy.sparse.csr_array(np.ones((len(TREES), 2))),
        "sentence": np.arange(len(TREES)) % 10,
    }  # fmt: skip
    both = filbert.Examples(tree=forest, features=np.ones((len(TREES), 2)))
    own: dict[str, dict[str, Any]] = {
        "cutting-planes": {"my_kernel": filbert.kernels.SubsetTree()},
        "dask": {"corpus": filbert.parts("corpus/*.tsv.gz")},
        "embedding": {"batches": [(forest, y)], "learner": SGDClassifier()},
        "explanations": {"tree": forest[0], "values": np.ones(forest[0].n_nodes)},
        "formats-tables": {"frame": pd.DataFrame({"kind": WORDS, "parse": TREES})},
        "losses": {
            "parses": forest, "gold": forest, "scores": np.ones(len(TREES)),
            "f1_of_each_parse": np.linspace(0, 1, len(TREES)), "count_brackets": count_brackets,
            "best": np.array([0, 2]),
        },
        "model-files": {
            "classifier": clf, "first_steps": [StripEmpties()],
            "pipeline": make_pipeline(StripEmpties(), filbert.TreeSVC()).fit(forest, y),
        },
        "perceptron": {"batches": [(both, y)], "X_new": both},
        "significance": {"y": np.array(WORDS), "clf_a": _words_by(0.4), "clf_b": _words_by(0.1)},
    }  # fmt: skip
    return common | own.get(page, {})


def _words_by(decay: float) -> filbert.TreeSVC:
    kernel = filbert.kernels.SubsetTree(decay)
    return filbert.TreeSVC(kernel, random_state=0).fit(TREES, WORDS)
