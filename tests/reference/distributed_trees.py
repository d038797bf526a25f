"""Distributed trees as Zanzotto & Dell'Arciprete 2012 write them, node by node, in NumPy.

The random numbers are those of `core/embed`, written down a second time: a vector is normal numbers
by Box & Muller, or signs, from splitmix64's finaliser over the seed, the label's bytes and a
counter.
Convolutions are sums over all pairs of components.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.reference.trees import Node, nodes

Vector = NDArray[np.float64]
_WORD = 2**64 - 1


def spread(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
    return x ^ (x >> 31)


def key(seed: int, label: bytes) -> int:
    state = spread(seed)
    for begin in range(0, len(label), 8):
        state = spread(state ^ int.from_bytes(label[begin : begin + 8], "little"))
    return spread(state ^ len(label))


def sign_vector(label: bytes, d: int, seed: int) -> Vector:
    """A unit vector of signs; words give 64 components each, the lowest bit first."""
    own = key(seed, label)
    bits = [spread(own ^ spread(i // 64)) >> (i % 64) & 1 for i in range(d)]
    return (1.0 - 2.0 * np.array(bits)) / np.sqrt(d)


def label_vector(label: bytes, d: int, seed: int, made_of: str = "normal") -> Vector:
    """A unit vector; words give two normal components each."""
    if made_of == "signs":
        return sign_vector(label, d, seed)
    own = key(seed, label)
    values = []
    for i in range((d + 1) // 2):
        word = spread(own ^ spread(i))
        radius = np.sqrt(-2 * np.log(((word >> 32) + 0.5) / 2**32))
        angle = 2 * np.pi * (((word & 0xFFFFFFFF) + 0.5) / 2**32 - 0.5)
        values += [radius * np.cos(angle), radius * np.sin(angle)]
    vector = np.array(values[:d])
    return vector / np.linalg.norm(vector)


def permutation(d: int, seed: int) -> NDArray[np.intp]:
    """Fisher & Yates with the same generator."""
    state = spread(seed)
    order = list(range(d))
    for i in range(d, 1, -1):
        j = ((spread(state) >> 32) * i) >> 32
        state = (state + 1) & _WORD
        order[i - 1], order[j] = order[j], order[i - 1]
    return np.array(order)


def circular_convolution(a: Vector, b: Vector) -> Vector:
    """c[k] = the sum over i of a[i] b[k - i], indices modulo d."""
    return np.sum([value * np.roll(b, i) for i, value in enumerate(a)], axis=0)


def measured_gamma(d: int, seed: int, made_of: str) -> float:
    """The inverse of the average norm of the products of two vectors."""
    norms = [
        np.linalg.norm(
            label_vector(b"\0left%d" % i, d, seed, made_of)
            * label_vector(b"\0right%d" % i, d, seed, made_of)
        )
        for i in range(100)
    ]
    return float(1 / np.mean(norms))


@dataclass
class Embedding:
    """The composition function with its permutations, and the vectors of labels."""

    d: int
    decay: float
    composition: str
    seed: int = 0
    label_vectors: str = "normal"
    labels: dict[str, Vector] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.p1 = permutation(self.d, spread(self.seed) ^ int.from_bytes(b"left", "big"))
        self.p2 = permutation(self.d, spread(self.seed) ^ int.from_bytes(b"right", "big"))
        self.gamma = 1.0
        if self.composition == "product":
            self.gamma = measured_gamma(self.d, self.seed, self.label_vectors)

    def label(self, label: str) -> Vector:
        if label not in self.labels:
            self.labels[label] = label_vector(label.encode(), self.d, self.seed, self.label_vectors)
        return self.labels[label]

    def compose(self, a: Vector, b: Vector) -> Vector:
        """Section 5.1.1."""
        if self.composition == "product":
            return self.gamma * a[self.p1] * b[self.p2]
        return circular_convolution(a[self.p1], b[self.p2])

    def s(self, node: Node) -> Vector:
        """Section 3.2.1, composed from the right as Definition 1 says."""
        if not node.children:
            return np.zeros(self.d)
        *first, last = [
            self.label(c.label) + np.sqrt(self.decay) * self.s(c) for c in node.children
        ]
        for vector in reversed([self.label(node.label), *first]):
            last = self.compose(vector, last)
        return last

    def tree(self, tree: Node) -> Vector:
        """Eq. 6."""
        return np.sum([self.s(node) for node in nodes(tree)], axis=0)
