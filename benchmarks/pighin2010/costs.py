"""Table 1, why some classes need many fragments: the same with a small C beside the chosen one.

A large C gives a larger norm, which more fragments have to make up.
"""

from benchmarks.pighin2010.classes import compared
from benchmarks.pighin2010.data import questions
from benchmarks.pighin2010.section import Options, Row, Section
from benchmarks.pighin2010.training import THEIR_DECAY, best, choices, trained

CLASSES = ["ENTY", "HUM"]  # those whose chosen C is the largest
SMALL_C = 2.0


def rows_of(label: str) -> list[Row]:
    """Return a row for each value of C, each with its best j."""
    data = questions().against_the_rest(label)
    scored = choices(data, [THEIR_DECAY])
    costs = dict.fromkeys([SMALL_C, best(scored).C])
    of_costs = (best(choice for choice in scored if choice.C == C) for C in costs)
    return [compared(label, trained(data, choice)) for choice in of_costs]


def section(options: Options) -> Section:
    result = Section("Table 1 with a small C: fragments for 60 % of the norm")
    for label in CLASSES[:1] if options.quick else CLASSES:
        result.rows += rows_of(label)
    result.notes = [
        f"The first row of a class has C = {SMALL_C:g}, the second the C that is best on one "
        "training example in ten. Otherwise as in Table 1."
    ]
    return result
