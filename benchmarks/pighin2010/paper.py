"""What the paper says in numbers; the rest of its figures 1 to 3 are curves without any.

D. Pighin & A. Moschitti, *On reverse feature engineering of syntactic tree kernels*, CoNLL 2010.
"""

from typing import NamedTuple

N_TRAIN, N_TEST = 5_468, 485  # questions, a random split
N_ROLES, N_ROLES_TEST = 179_091, 9_277  # of CoNLL 2005, which is not free

PLATEAU_SHARES = (60.0, 65.0)  # per cent of the norm at 1,000 to 10,000 fragments, in Fig. 1
PLATEAU = "60 to 65 % at 1,000 to 10,000 fragments"  # Fig. 1
MOST = "about 70 %"  # what fragments of frequency 3 have at most


class Class(NamedTuple):
    """A row of Table 1."""

    stk: float  # F1
    norm: float
    fragments: int
    lin: float  # F1
    norm_in: float
    opt: float  # F1


CLASSES = {
    "ABBR": Class(80.00, 11.77, 566, 66.67, 7.13, 90.91),
    "DESC": Class(86.26, 41.33, 5_161, 81.87, 25.10, 83.72),
    "ENTY": Class(76.86, 51.71, 5_702, 73.03, 31.06, 75.56),
    "HUM": Class(84.92, 43.61, 5_232, 80.47, 26.20, 77.08),
    "LOC": Class(81.69, 38.73, 1_732, 78.87, 24.27, 82.89),
    "NUM": Class(92.31, 37.65, 1_015, 85.07, 24.53, 87.07),
}
SHARE = 0.6  # of the norm, in Table 1


class Multiclass(NamedTuple):
    """A row of Table 2: accuracies, and the fragments of OPT."""

    stk: float
    opt: float
    fragments: str


MULTICLASS = {
    "questions": Multiclass(83.70, 84.12, "~2k"),
    "roles": Multiclass(87.56, 88.17, "~300k"),
}
