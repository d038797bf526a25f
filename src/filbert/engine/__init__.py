"""How kernels are computed: by factors, by rows, and the choice between them.

:func:`plan_for` chooses and prepares for training, and returns a :class:`Plan`. The scorers choose
for each batch of examples. All of them read a kernel's capabilities and never ask for its type.
"""

from filbert.engine.plan import Engine, Plan, plan_for
from filbert.engine.sums import sum_factors
from filbert.engine.tree_factors import factorize

__all__ = ["Engine", "Plan", "factorize", "plan_for", "sum_factors"]
