r"""Kernels: how much two examples have in common.

A tree kernel counts the fragments that two trees share. Larger fragments weigh less:

.. math:: K(T_1, T_2) = \sum_{u \in T_1} \sum_{v \in T_2} \Delta(u, v)

where :math:`\Delta(u, v)` sums the weights of the fragments rooted in both nodes. The kernels
differ in what a fragment is. There are also kernels of vectors. Kernels can be added, multiplied
and scaled. They are values: they can be compared, printed and cloned. ``GridSearchCV`` can set
their parameters, and scikit-learn's ``SVC(kernel=...)`` accepts them as callables.

>>> Subtree().on("tree") + 0.5 * Linear().on("features")
Subtree(decay=0.4, normalize=True).on('tree') + 0.5 * Linear(normalize=True).on('features')
"""

from filbert.kernels.algebra import Constant, Kernel, Normalized, Power, Product, Scaled, Sum
from filbert.kernels.approximate import ApproximateTree
from filbert.kernels.pairs import AllPairs, EachPart, Preference
from filbert.kernels.patterns import LocalPatterns
from filbert.kernels.sequence import Sequence
from filbert.kernels.tree import PartialTree, SubsetTree, Subtree, TreeKernel
from filbert.kernels.vector import RBF, Linear, Polynomial, VectorKernel

__all__ = [
    "RBF",
    "AllPairs",
    "ApproximateTree",
    "Constant",
    "EachPart",
    "Kernel",
    "Linear",
    "LocalPatterns",
    "Normalized",
    "PartialTree",
    "Polynomial",
    "Power",
    "Preference",
    "Product",
    "Scaled",
    "Sequence",
    "SubsetTree",
    "Subtree",
    "Sum",
    "TreeKernel",
    "VectorKernel",
]
