"""Attributes that are set all at once: Ctrl-C may come between any two steps of Python."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


@contextmanager
def at_once(estimator: _T) -> Iterator[_T]:
    """Yield a draft of an estimator, whose attributes the estimator has when the block ends.

    It has all of them or, after an exception, none, and never those of two trainings.
    """
    draft = object.__new__(type(estimator))
    vars(draft).update(vars(estimator))
    yield draft
    estimator.__dict__ = dict(vars(draft))  # in one step
