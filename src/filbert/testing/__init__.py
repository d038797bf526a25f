"""A contract for estimators that learn from trees.

What scikit-learn's ``check_estimator`` asks of estimators on tables, `check_tree_estimator` asks
of estimators on trees: Filbert's own, and yours.
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
    checks_parameters,
    checks_sklearn,
    checks_trees,
    checks_weights,
)
from filbert.testing.tools import CHECKS, abilities

__all__ = ["check_tree_estimator"]

# In the order in which they are run: what fails first should explain what fails later.
_MODULES = (
    checks_parameters,
    checks_fitting,
    checks_trees,
    checks_labels,
    checks_decisions,
    checks_weights,
    checks_files,
    checks_sklearn,
)


def check_tree_estimator(
    estimator: Any, *, generate_only: bool = False
) -> Iterator[tuple[Any, "partial[None]"]] | None:
    """Check that an estimator behaves as estimators on trees should.

    Which checks are run depends on what the estimator has: methods such as `decision_function` or
    `partial_fit`, parameters such as `n_jobs` or `class_weight`, weights of examples.

    Parameters
    ----------
    estimator : estimator
        It is cloned for each check.
    generate_only : bool
        Whether to yield pairs ``(estimator, check)`` in place of running the checks;
        ``check(estimator)`` runs one. For ``pytest.mark.parametrize``.

    Raises
    ------
    AssertionError
        It says which check failed and what was expected.

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
