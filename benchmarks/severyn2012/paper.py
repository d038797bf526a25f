"""What the tables of the paper say.

A. Severyn & A. Moschitti, *Fast support vector machines for convolution tree kernels*, Data Mining
and Knowledge Discovery 25 (2012), 325-357.
"""

from typing import NamedTuple


class Speed(NamedTuple):
    """A line of Table 1 or 2."""

    delta: float  # calls of Delta, uSVM
    minutes: float  # uSVM
    delta_sdag: float  # how many times fewer
    minutes_sdag: float
    delta_sdag_plus: float
    minutes_sdag_plus: float


# Tables 1 and 2: by kernel, data and sample size.
SPEED: dict[tuple[str, str], dict[int, Speed]] = {
    ("STK", "SRL"): {
        250: Speed(3.3e08, 3, 1.1, 5.1, 1.8, 4.0),
        500: Speed(1.1e09, 10, 1.1, 6.3, 2.2, 5.4),
        1000: Speed(4.1e09, 37, 1.1, 7.0, 3.0, 7.8),
        2000: Speed(1.6e10, 138, 1.1, 7.3, 4.3, 11.0),
        3000: Speed(3.5e10, 303, 1.2, 7.2, 5.4, 14.3),
        4000: Speed(6.0e10, 517, 1.2, 7.2, 6.2, 17.2),
        5000: Speed(9.6e10, 834, 1.2, 7.6, 7.3, 20.0),
    },
    ("STK", "SRL, unlexicalised"): {
        250: Speed(2.3e08, 2, 1.2, 8.1, 3.4, 8.8),
        500: Speed(8.6e08, 6, 1.4, 8.3, 4.4, 11.5),
        1000: Speed(3.2e09, 21, 1.5, 8.6, 5.9, 16.0),
        2000: Speed(1.3e10, 85, 1.7, 8.8, 8.6, 19.8),
        3000: Speed(2.7e10, 183, 1.9, 8.8, 10.3, 22.3),
        4000: Speed(4.9e10, 325, 2.0, 9.1, 12.7, 26.7),
        5000: Speed(7.7e10, 513, 2.1, 9.2, 14.3, 28.9),
    },
    ("STK", "INEX 2005"): {
        100: Speed(1.7e08, 1, 13.1, 7.5, 21.7, 6.9),
        250: Speed(8.6e08, 3, 25.3, 14.6, 55.2, 24.9),
        500: Speed(3.0e09, 8, 43.1, 23.1, 90.4, 43.3),
        1000: Speed(1.2e10, 31, 78.8, 46.0, 156.4, 77.5),
    },
    ("PTK", "SRL"): {
        250: Speed(4.8e09, 23, 1.0, 1.5, 1.7, 1.2),
        500: Speed(1.8e10, 90, 1.1, 1.5, 2.1, 1.4),
        1000: Speed(7.1e10, 340, 1.1, 1.5, 2.9, 1.8),
        2000: Speed(2.7e11, 1781, 1.1, 2.1, 3.9, 3.3),
        3000: Speed(5.9e11, 3696, 1.1, 2.1, 4.8, 5.1),
        4000: Speed(1.2e12, 5039, 1.3, 2.1, 6.4, 5.7),
        5000: Speed(1.9e12, 6687, 1.5, 2.1, 7.6, 6.5),
    },
    ("PTK", "SRL, unlexicalised"): {
        250: Speed(4.5e09, 20, 1.8, 1.7, 2.9, 2.3),
        500: Speed(8.8e09, 38, 1.4, 1.8, 3.5, 2.3),
        1000: Speed(3.3e10, 144, 1.2, 1.7, 3.9, 3.1),
        2000: Speed(1.8e11, 804, 1.7, 2.3, 7.7, 4.1),
        3000: Speed(4.1e11, 1405, 2.1, 2.2, 9.1, 5.4),
        4000: Speed(7.5e11, 2501, 1.4, 2.3, 8.0, 6.3),
        5000: Speed(1.0e12, 2822, 1.5, 2.4, 10.8, 7.2),
    },
    ("PTK", "INEX 2005"): {
        100: Speed(2.3e09, 1, 90.7, 12.8, 144.8, 13.4),
        250: Speed(1.3e10, 8, 171.6, 26.5, 283.4, 27.4),
        500: Speed(3.3e10, 21, 145.3, 21.9, 243.9, 22.3),
        1000: Speed(1.4e11, 82, 152.4, 21.4, 260.4, 21.4),
    },
}


class Classified(NamedTuple):
    """A line of Table 3, for 10,000 test examples."""

    support_vectors: int
    nodes: int  # uSVM
    seconds: float
    nodes_sdag_plus: int
    seconds_sdag_plus: float
    compression: float
    speedup: float


CLASSIFIED: dict[int, Classified] = {
    10_000: Classified(1686, 33_516, 10.8, 6_350, 0.5, 5.3, 24.0),
    25_000: Classified(3392, 67_840, 40.8, 14_212, 1.2, 4.8, 33.2),
    50_000: Classified(5876, 117_520, 82.1, 25_506, 2.9, 4.6, 28.3),
    75_000: Classified(7489, 149_780, 111.7, 33_552, 5.5, 4.5, 20.5),
    100_000: Classified(8674, 215_764, 130.6, 39_787, 6.7, 5.4, 19.5),
    250_000: Classified(11_234, 224_680, 172.5, 62_094, 16.8, 3.6, 10.2),
    500_000: Classified(13_037, 260_740, 199.0, 79_978, 26.6, 3.3, 7.5),
    750_000: Classified(13_270, 265_400, 205.9, 91_048, 33.9, 2.9, 6.1),
    1_000_000: Classified(13_912, 278_240, 216.3, 97_447, 39.8, 2.9, 5.4),
}

# Table 4: minutes of training, by the number of examples.
MINUTES: dict[int, dict[str, int]] = {
    100_000: {"exact": 214, "usvm": 37, "sdag": 5, "sdag+": 5},
    1_000_000: {"exact": 10_705, "usvm": 814, "sdag": 349, "sdag+": 264},
}


class Quality(NamedTuple):
    """F1, precision and recall in per cent."""

    f1: float
    precision: float
    recall: float


# Table 5, TREC 10. Differences that are not significant: DESC between uSVM+j and uSVM; ABBR and
# DESC between uSVM+j and SVM.
IMBALANCE: dict[str, dict[str, Quality]] = {
    "ABBR": {
        "uSVM": Quality(87.5, 100.0, 77.8),
        "uSVM+j": Quality(84.2, 80.0, 88.9),
        "SVM": Quality(84.2, 80.0, 88.9),
    },
    "DESC": {
        "uSVM": Quality(96.1, 95.0, 97.1),
        "uSVM+j": Quality(96.1, 95.0, 97.1),
        "SVM": Quality(94.8, 97.7, 92.0),
    },
    "ENTY": {
        "uSVM": Quality(72.3, 91.8, 59.6),
        "uSVM+j": Quality(79.1, 79.6, 78.7),
        "SVM": Quality(80.4, 82.2, 78.7),
    },
    "HUM": {
        "uSVM": Quality(88.1, 98.1, 80.0),
        "uSVM+j": Quality(90.3, 94.9, 86.2),
        "SVM": Quality(87.5, 88.9, 86.2),
    },
    "LOC": {
        "uSVM": Quality(81.4, 96.6, 70.4),
        "uSVM+j": Quality(87.0, 87.5, 86.4),
        "SVM": Quality(82.6, 86.5, 79.0),
    },
    "NUM": {
        "uSVM": Quality(86.0, 98.9, 76.1),
        "uSVM+j": Quality(91.2, 96.1, 86.7),
        "SVM": Quality(89.9, 98.9, 82.3),
    },
}
