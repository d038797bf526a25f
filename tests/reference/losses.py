"""Regularised losses on a dense kernel matrix, minimised by SciPy: no solver of Filbert is used.

A problem is min over w of 1/2 |w|^2 + sum_i C_i loss(r_i). The residual is r_i = target_i - s_i f_i
with the decision values f = K beta. K includes the 1 of an intercept.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import xlogy

Array = np.ndarray[Any, Any]


class Loss(NamedTuple):
    """A loss of the residual, and its derivative if it has one everywhere."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None


def _beyond(r: Array, epsilon: float) -> Array:
    return np.sign(r) * np.maximum(0, np.abs(r) - epsilon)


def loss_of(name: str, epsilon: float = 0.0) -> Loss:
    """Return a loss by the name that the core gives it."""
    losses = {
        "hinge": Loss(lambda r: np.maximum(0, r), None),
        "squared_hinge": Loss(lambda r: np.maximum(0, r) ** 2, lambda r: 2 * np.maximum(0, r)),
        "logistic": Loss(lambda r: np.logaddexp(0, r), lambda r: 1 / (1 + np.exp(-r))),
        "epsilon_insensitive": Loss(lambda r: np.abs(_beyond(r, epsilon)), None),
        "squared_epsilon_insensitive": Loss(
            lambda r: _beyond(r, epsilon) ** 2, lambda r: 2 * _beyond(r, epsilon)
        ),
        "squared_error": Loss(lambda r: r**2, lambda r: 2 * r),
    }
    return losses[name]


def conjugate_of(name: str, alpha: Array, C: Array, epsilon: float = 0.0) -> Array:
    """Return the largest value of alpha r - C loss(r) over all r, for alpha in its range."""
    quadratic = alpha**2 / (4 * C)
    conjugates = {
        "hinge": np.zeros_like(alpha),
        "squared_hinge": quadratic,
        "logistic": C * (xlogy(alpha / C, alpha / C) + xlogy(1 - alpha / C, 1 - alpha / C)),
        "epsilon_insensitive": epsilon * np.abs(alpha),
        "squared_epsilon_insensitive": epsilon * np.abs(alpha) + quadratic,
        "squared_error": quadratic,
    }
    return conjugates[name]


# The targets of losses for classification. Those for regression have one for each example.
TARGETS = {"hinge": 1.0, "squared_hinge": 1.0, "logistic": 0.0}


def objective(
    loss: Loss, K: Array, beta: Array, signs: Array, targets: Array | float, costs: Array
) -> float:
    """Return the primal objective for w = sum_i beta_i phi(x_i)."""
    decisions = K @ beta
    return float(beta @ decisions / 2 + costs @ loss.value(targets - signs * decisions))


def smooth_optimum(
    loss: Loss, K: Array, signs: Array, targets: Array | float, costs: Array
) -> tuple[float, Array]:
    """Return the smallest objective of a smooth loss, and the decision values there."""
    assert loss.slope is not None
    slope = loss.slope
    values, vectors = np.linalg.eigh(K)
    features = (vectors * np.sqrt(np.maximum(values, 0))) * signs[:, None]

    def at(w: Array) -> tuple[float, Array]:
        r = targets - features @ w
        return w @ w / 2 + costs @ loss.value(r), w - features.T @ (costs * slope(r))

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(at, np.zeros(len(K)), jac=True, method="L-BFGS-B", options=options)
    return float(found.fun), signs * (features @ found.x)


def hinge_optimum(K: Array, signs: Array, targets: Array, costs: Array) -> float:
    """Return the smallest objective with the loss C_i max(0, r_i), by the dual."""
    Q = K * np.outer(signs, signs)

    def at(alpha: Array) -> tuple[float, Array]:
        slope = Q @ alpha
        return alpha @ slope / 2 - targets @ alpha, slope - targets

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-12, "gtol": 1e-7}
    bounds = [(0, cost) for cost in costs]
    found = minimize(at, costs / 2, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(-found.fun)


def epsilon_optimum(K: Array, targets: Array, epsilon: float, costs: Array) -> float:
    """Return the smallest objective of the epsilon-insensitive loss.

    An example is two: one that is to be above the target - epsilon, and one that is to be below the
    target + epsilon.
    """
    n = len(K)
    signs = np.repeat([1.0, -1.0], n)
    both = np.concatenate([targets - epsilon, -targets - epsilon])
    return hinge_optimum(np.tile(K, (2, 2)), signs, both, np.tile(costs, 2))
