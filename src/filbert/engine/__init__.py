"""Engines compute kernels by factors or by rows. The plan chooses between them.

:func:`plan_for` chooses and prepares an engine for training, and returns a :class:`Plan`. The
scorers choose for each batch of examples. All read a kernel's capabilities and never check its
type.
"""

from filbert.engine.plan import Engine, Plan, plan_for
from filbert.engine.sums import sum_factors
from filbert.engine.tree_factors import factorize

__all__ = ["Engine", "Plan", "factorize", "plan_for", "sum_factors"]
