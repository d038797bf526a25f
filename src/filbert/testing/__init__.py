"""A contract for estimators that learn from trees.

`check_tree_estimator` does for estimators on trees, Filbert's and yours, what scikit-learn's
``check_estimator`` does for estimators on tables.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sklearn.base import clone

from filbert.testing import (
    checks_decisions,
    checks_files,
    checks_fitting,
    checks_labels,
    checks_numbers,
    checks_parameters,
    checks_probabilities,
    checks_sklearn,
    checks_trees,
    checks_weights,
)
from filbert.testing.tools import CHECKS, abilities

__all__ = ["check_tree_estimator"]

# In the order of running: an early failure should explain later ones.
_MODULES = (
    checks_parameters,
    checks_fitting,
    checks_trees,
    checks_labels,
    checks_decisions,
    checks_probabilities,
    checks_numbers,
    checks_weights,
    checks_files,
    checks_sklearn,
)


def check_tree_estimator(
    estimator: Any, *, generate_only: bool = False
) -> Iterator[tuple[Any, "partial[None]"]] | None:
    """Check that an estimator behaves as an estimator on trees should.

    The choice of checks depends on what the estimator has: methods such as `decision_function` or
    `partial_fit`, parameters such as `n_jobs` or `class_weight`, and weights of examples.

    Parameters
    ----------
    estimator : estimator
        It is cloned for each check.
    generate_only : bool
        Yield pairs ``(estimator, check)`` instead of running the checks, for
        ``pytest.mark.parametrize``. ``check(estimator)`` runs one check.

    Returns
    -------
    None, or iterator of pairs
        The pairs, if they are asked for.

    Raises
    ------
    AssertionError
        The message says which check failed and what was expected.

    Examples
    --------
    >>> from filbert import TreeSVC
    >>> len(list(check_tree_estimator(TreeSVC(), generate_only=True))) > 40
    True
    """
    checks = _checks(estimator)
    if generate_only:
        return checks
    for own, check in checks:
        check(own)
    return None


def _checks(estimator: Any) -> Iterator[tuple[Any, "partial[None]"]]:
    name = type(estimator).__name__
    has = abilities(estimator)
    for module in _MODULES:
        for check in CHECKS:
            if check.run.__module__ == module.__name__ and check.needs <= has:
                yield clone(estimator), partial(check.run, name)
