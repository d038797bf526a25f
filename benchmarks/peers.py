"""What other programs take, as it was reported to us: nothing here is measured by our scripts."""

from dataclasses import dataclass

SVM_LIGHT_TK = "SVM-Light-TK 1.5 (compiled with -O3)"
KELP = "KeLP 2.2.2"
MACHINE = "CPU seconds on one core of a machine of this kind"


@dataclass(frozen=True)
class MatrixSeconds:
    """Seconds for the half matrix of the 5,452 question trees, reported on 2026-11-15."""

    title: str
    ours: str  # how the name of our kernel begins
    svm_light_tk: float
    kelp: float


MATRICES = [
    MatrixSeconds(
        "subset trees (STK, SST)", "SubsetTree(decay=0.4, include_leaves=False", 11.2, 47
    ),
    MatrixSeconds(
        "partial trees (PTK)", "PartialTree(decay=0.4, depth_decay=0.4, penalty='gaps'", 40.4, 98
    ),
]


@dataclass(frozen=True)
class DemoRun:
    """SVM-Light-TK's learning and classifying of its own demo file, reported on 2026-11-16."""

    learn: float
    classify: float
    accuracy: float


DEMO = {"SubsetTree": DemoRun(12.7, 1.0, 95.8), "PartialTree": DemoRun(40.1, 2.6, 97.6)}

NOTES = {
    "kernel_matrix": [
        f"{run.title}: {SVM_LIGHT_TK} takes {run.svm_light_tk} s and {KELP} {run.kelp} s for the "
        f"same half of the matrix ({MACHINE}, reported to us on 2026-11-15, not measured here)."
        for run in MATRICES
    ],
    "svm_light_demo": [
        f"The columns of SVM-Light-TK are reported to us, and not measured here: {SVM_LIGHT_TK}, "
        f"one run on 2026-11-16, {MACHINE}."
    ],
    "recurring": [
        "disco-dop 0.5.2 takes 0.39, 0.97, 3.8 and 9.4 s for 500, 1,000, 2,000 and 4,000 binarised "
        "sentences, and lists 3,704, 8,099, 17,915 and 34,583 fragments, the largest that two "
        f"trees share ({MACHINE}, reported to us, not measured here)."
    ],
}
