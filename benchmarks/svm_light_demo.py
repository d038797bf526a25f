"""SVM-Light-TK's own demo file: numbers against other questions, with its c = 3 and j = 5.

Its 5,483 questions for training and 500 for testing, with its parses. The columns of SVM-Light-TK
are what was reported to us (`peers.py`).
"""

import argparse
import json
from typing import Any

from benchmarks.measure import Clock, in_own_process, peak_mib, shared_data, write
from benchmarks.peers import DEMO
from benchmarks.sections import results_folder
from filbert import TreeSVC, read_examples
from filbert.kernels import PartialTree, SubsetTree

KERNELS = {"SubsetTree": SubsetTree(0.4), "PartialTree": PartialTree(0.4, 0.4, penalty="gaps")}
C, J = 3.0, 5


def measured(name: str, step: int) -> dict[str, Any]:
    """One kernel, in this process."""
    folder = shared_data() / "qc"
    X, y = read_examples(folder / "constituency_train.tsv.xz", n_jobs=1)
    X_test, y_test = read_examples(folder / "constituency_test.tsv.xz", n_jobs=1)
    clf = TreeSVC(
        KERNELS[name],
        C=C,
        loss="hinge",
        class_weight={True: J, False: 1},
        random_state=0,
        n_jobs=1,
    )
    clock = Clock()
    clf.fit(X[::step], y[::step] == "NUM")
    learning = clock.lap()[0]
    right = clf.predict(X_test) == (y_test == "NUM")
    classifying = clock.lap()[0]
    return {
        "kernel": repr(KERNELS[name]),
        "n_train": len(X[::step]),
        "n_test": len(X_test),
        "cpu_learning": learning,
        "cpu_classifying": classifying,
        "accuracy": round(100 * float(right.mean()), 2),
        "support_vectors": len(clf.support_),
        "engine": clf.engine_,
        "peak_mib": peak_mib(),
    }


def main(*, quick: bool) -> None:
    figures = []
    for name, reported in DEMO.items():
        arguments = ("--one", name, *["--quick"][: int(quick)])
        row = in_own_process("benchmarks.svm_light_demo", *arguments, repeat=1 if quick else 3)
        row["SVM-Light-TK, learning, reported"] = reported.learn
        row["SVM-Light-TK, classifying, reported"] = reported.classify
        row["SVM-Light-TK, accuracy, reported"] = reported.accuracy
        figures.append(row)
    write(
        "svm_light_demo",
        "SVM-Light-TK's demo file: questions for numbers, c = 3, j = 5, on one thread",
        figures,
        notes=["CPU seconds of learning and classifying, without reading; medians of the runs."],
        folder=results_folder(quick=quick),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small part, to build/quick")
    parser.add_argument("--one", choices=KERNELS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one, 10 if arguments.quick else 1)))
    else:
        main(quick=arguments.quick)
