"""What the greedy search finds of the truly heaviest fragments, which the complete search finds."""

from benchmarks.measure import Clock
from benchmarks.pighin2010 import paper
from benchmarks.pighin2010.section import Options, Row, Section
from benchmarks.pighin2010.training import question_class
from filbert.fragments import Fragments, mine

TOP = 1_000


def compared(label: str, top: int) -> Row:
    model = question_class(label).stk.model_
    clock = Clock()
    complete = mine(model, n_fragments=top, search="complete", n_jobs=1)
    seconds_complete = clock.lap()[0]
    greedy = mine(model, n_fragments=top, n_jobs=1)
    seconds_greedy = clock.lap()[0]
    # And at the very threshold that separates the heaviest from the rest.
    lightest = float(abs(complete.weight[-1]))
    at_threshold = mine(model, max_ratio=complete.base / lightest * (1 + 1e-12), n_jobs=1)
    wanted = set(complete.fragments.texts())
    return {
        "class": label,
        "top": complete.n,
        "found at the threshold, %": _share(wanted, at_threshold.fragments),
        "found as n_fragments, %": _share(wanted, greedy.fragments),
        "norm share, complete, %": round(100 * complete.norm_share, 3),
        "norm share, greedy, %": round(100 * greedy.norm_share, 3),
        "L": round(complete.base / lightest, 1),
        "cpu_complete": seconds_complete,
        "cpu_greedy": seconds_greedy,
    }


def _share(wanted: set[str], found: Fragments) -> float:
    return round(100 * len(wanted & set(found.texts())) / len(wanted), 1)


def section(options: Options) -> Section:
    result = Section("What the greedy search finds of the 1,000 heaviest fragments")
    for label in list(paper.CLASSES)[:2] if options.quick else paper.CLASSES:
        result.rows.append(compared(label, 100 if options.quick else TOP))
        print(result.rows[-1], flush=True)
    result.notes = [
        "The complete search gives every fragment of a frequency of at least 3 above a threshold. "
        "At the threshold: the greedy search with the L that lets the heaviest pass. As "
        "n_fragments: L is doubled until there are so many, and the heaviest are taken.",
        "The greedy search grows fragments from smaller ones, and misses a heavy fragment whose "
        "smaller parts are light. Parts are light where weights of both signs cancel out.",
    ]
    return result
