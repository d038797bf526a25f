"""Training by cutting planes, an iteration at a time, with the clock and the counters beside it."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from filbert import Forest, _core
from filbert.engine import factorize
from filbert.kernels import TreeKernel
from filbert.learners.cutting_planes import Iteration, Planes, State, cutting_planes
from filbert.learners.planes import Strategy, TreePlanes
from filbert.learners.sampling import Sampler
from filbert.model import SupportVectorModel

STRATEGIES: tuple[Strategy, ...] = ("sdag+", "sdag", "usvm")  # the slowest last

IndexArray = NDArray[np.uint32]
FloatArray = NDArray[np.float64]
Event = tuple[str, IndexArray]  # what was done, and with which examples or planes


class RecordedPlanes(TreePlanes):
    """Planes that remember what was asked of them."""

    def __init__(self, strategy: Strategy, trees: _core.TrainingTrees, threads: int) -> None:
        super().__init__(strategy, trees, threads)
        self.events: list[Event] = []
        self._sample: IndexArray = np.empty(0, dtype=np.uint32)

    def scores(self, sample: IndexArray, alpha: FloatArray) -> FloatArray:
        """Return w . phi(x) for a sample of the examples."""
        self._sample = sample
        self.events.append(("score", sample))
        return super().scores(sample, alpha)

    def add(self, places: IndexArray, weights: FloatArray) -> FloatArray:
        """Add a plane of examples of the last sample; return its products with all planes."""
        self.events.append(("add", self._sample[places]))
        return super().add(places, weights)

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes but these."""
        self.events.append(("keep", planes))
        super().keep(planes)


class QuickPlanes:
    """Planes over the kernel matrix, factorised where it is large.

    They compute the numbers of the paper's strategies, up to rounding, in a time that depends on
    the training set and not on what is in the planes: so the planes of any of them are known.
    """

    def __init__(self, kernel: TreeKernel, X: Forest) -> None:
        self.events: list[Event] = []
        self._matrix = kernel(X, n_jobs=1) if len(X) < 10_000 else None
        self._factors = factorize(kernel, X, n_jobs=1) if self._matrix is None else None
        self._n = len(X)
        self._sample: IndexArray = np.empty(0, dtype=np.uint32)
        self._planes: list[tuple[IndexArray, FloatArray]] = []

    def scores(self, sample: IndexArray, alpha: FloatArray) -> FloatArray:
        """Return w . phi(x) for a sample of the examples."""
        self._sample = sample
        self.events.append(("score", sample))
        w = np.zeros(self._n)
        for share, (examples, weights) in zip(alpha, self._planes, strict=True):
            w[examples] += share * weights
        return self._products(w)[sample]

    def add(self, places: IndexArray, weights: FloatArray) -> FloatArray:
        """Add a plane of examples of the last sample; return its products with all planes."""
        examples = self._sample[places]
        self.events.append(("add", examples))
        self._planes.append((examples, weights))
        plane = np.zeros(self._n)
        plane[examples] = weights
        products = self._products(plane)
        return np.array([weights @ products[examples] for examples, weights in self._planes])

    def keep(self, planes: IndexArray) -> None:
        """Drop all planes but these."""
        self.events.append(("keep", planes))
        self._planes = [self._planes[j] for j in planes]

    def _products(self, weights: FloatArray) -> FloatArray:
        if self._factors is None:
            return np.asarray(self._matrix @ weights)
        return self._factors.scores(weights[:, np.newaxis], 1)[:, 0]


def path_of(
    kernel: TreeKernel, X: Forest, signs: NDArray[np.int8], *, sample_size: int, iterations: int
) -> list[Event]:
    """Return what `train` asks of the planes, whatever the strategy."""
    planes = QuickPlanes(kernel, X)
    deque(islice(_steps(planes, signs, sample_size, State(_generator(0))), iterations), maxlen=0)
    return planes.events


@dataclass
class Run:
    """One training: what it took until the end of each iteration, and what came out."""

    events: list[Event]
    state: State
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    delta_calls: list[int] = field(default_factory=list)

    @property
    def iterations(self) -> int:
        """Return how many there were."""
        return len(self.cpu)

    def model(self, kernel: TreeKernel, X: Forest) -> tuple[NDArray[np.intp], SupportVectorModel]:
        """Return the support vectors' numbers and the model."""
        coef = self.state.coefficients(len(X))
        support = np.flatnonzero(coef)
        model = SupportVectorModel(kernel, X[support], coef[np.newaxis, support], np.zeros(1))
        return support, model

    def squared_norm(self) -> float:
        """Return |w|^2."""
        return float(self.state.alpha @ self.state.gram @ self.state.alpha)


def training_trees(kernel: TreeKernel, X: Forest, threads: int = 1) -> _core.TrainingTrees:
    return _core.TrainingTrees(
        kernel._spec(), X._dag, X._roots, bool(kernel.normalize), threads, None
    )


def train(
    strategy: Strategy,
    trees: _core.TrainingTrees,
    signs: NDArray[np.int8],
    *,
    sample_size: int,
    iterations: int,
    budget: float = np.inf,
    threads: int = 1,
    seed: int = 0,
) -> Run:
    """Train with C = 1 for each example and no intercept, as the paper does.

    Stops after the iterations, none of them being the last by luck with a sample, or after the
    iteration in which `budget` CPU seconds were over.
    """
    planes = RecordedPlanes(strategy, trees, threads)
    run = Run(planes.events, State(_generator(seed)))
    start_cpu, start_wall = time.process_time(), time.perf_counter()
    for _ in islice(_steps(planes, signs, sample_size, run.state), iterations):
        run.cpu.append(time.process_time() - start_cpu)
        run.wall.append(time.perf_counter() - start_wall)
        run.delta_calls.append(planes.store.delta_calls)
        if run.cpu[-1] > budget:
            break
    return run


def _steps(
    planes: Planes, signs: NDArray[np.int8], sample_size: int, state: State
) -> Iterator[Iteration]:
    return cutting_planes(
        planes,
        signs,
        Sampler(np.ones(len(signs)), sample_size),
        state,
        C=float(len(signs)),
        epsilon=-np.inf,
        intercept=False,
    )


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def signs_of(y: NDArray[Any], positive: Any) -> NDArray[np.int8]:
    return np.where(y == positive, 1, -1).astype(np.int8)
