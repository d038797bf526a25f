"""Methods of estimators that take a corpus in parts as well."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numpy.typing import ArrayLike

from filbert.corpus.parts import Parts
from filbert.errors import InvalidParameterError

_Method = TypeVar("_Method", bound=Callable[..., Any])


def by_parts(method: _Method) -> _Method:
    """Let a method that returns one row per example take a corpus in parts.

    The object of the method is sent to where the parts are. The rows come back in order.
    """

    @wraps(method)
    def run(self: Any, X: Any) -> Any:
        if isinstance(X, Parts):
            own = getattr(self, method.__name__)
            return X.gather(own, verbose=getattr(self, "verbose", 0))
        return method(self, X)

    return cast(_Method, run)


class ScoresParts:
    """Lets `score` take the labels of a corpus in parts."""

    def score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the score of the predictions for X.

        Parameters
        ----------
        X : as for `predict`
        y : array-like, optional
            The true targets. A corpus in parts may have its own.
        sample_weight : array-like, optional
        """
        if y is None:
            if not isinstance(X, Parts):
                raise InvalidParameterError("score needs y, the true target of each example")
            y = X.labels()
        score: float = super().score(X, y, sample_weight)  # type: ignore[misc]
        return score
