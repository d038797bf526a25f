"""What all ways of online learning share: one batch, the room for it, and the bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert.kernels import Kernel
from filbert.kernels.algebra import n_examples
from filbert.kernels.terms import tree_kernels
from filbert.learners.perceptron_model import PerceptronModel, Targets
from filbert.learners.perceptron_terms import Batch
from filbert.learners.targets import check_room
from filbert.progress import progress_bar

Tell = Callable[[int, int], None]  # (examples done, wrong predictions among them)
Numbers = NDArray[np.uint32]
_UPDATE, _WEIGHT = 24, 16  # bytes for each class: in the log, and of a node of the model
_NOT_YET = 2**32 - 1  # not a support vector so far


def no_support(n: int) -> Numbers:
    """Return the numbers of the support vectors of n examples, before any is one."""
    return np.full(n, _NOT_YET, dtype=np.uint32)


def learn_batch(
    learner: Any,
    model: PerceptronModel,
    batch: Batch,
    targets: Targets,
    order: Numbers,
    support_of: Numbers,
    progress: Tell | None,
    all_support_of: Numbers | None = None,
) -> None:
    """Visit examples in an order, with the parameters of a TreePerceptron."""
    model.learn(
        batch,
        targets,
        order,
        support_of,
        all_support_of=all_support_of,
        max_nodes=learner.max_nodes,
        lightest_leave=learner.forget == "lightest",
        progress=progress,
    )


def check_room_for(learner: Any, kernel: Kernel, X: Any, n_classes: int) -> None:
    """Raise OutOfMemoryError if updates of all classes by all examples cannot fit."""
    n = max(1, n_examples(X))
    nodes = sum(own.trees_of(X).n_subtrees for own in tree_kernels(kernel))
    kept = nodes if learner.max_nodes is None else min(nodes, learner.max_nodes)
    check_room(n_classes, n, _UPDATE + _WEIGHT * kept / n)


@contextmanager
def learning_bar(what: str, total: int, *, show: bool) -> Iterator[Tell | None]:
    """Yield a callback that updates a bar with the share of wrong predictions, or None."""
    with progress_bar(what, show=show) as move:
        if move is None:
            yield None
            return

        def tell(done: int, errors: int) -> None:
            share = errors / done if done else 0.0
            move(done, total, f"{what}, {share:.1%} wrong")

        yield tell
