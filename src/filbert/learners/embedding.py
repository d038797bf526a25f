"""Vectors of trees whose inner products approximate a tree kernel."""

from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from filbert import _core
from filbert.corpus.parts import Parts
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    KernelOverflowError,
    MatrixTooLargeError,
)
from filbert.examples import Examples, only_forest
from filbert.forest import Forest, as_forest
from filbert.given import column_of, is_table
from filbert.progress import progress_bar
from filbert.threads import n_threads

_Vectors = NDArray[np.float32] | NDArray[np.float64]
_Embedder = _core.TreeEmbedder32 | _core.TreeEmbedder64

_COMPOSITIONS = ("convolution", "product")
_LABEL_VECTORS = ("normal", "signs")
_MEMORY = 2**28  # bytes for vectors of subtrees
_MOST_COMPONENTS = 2**24


class DistributedTreeEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Distributed trees: vectors whose inner products approximate the subset tree kernel.

    A tree's vector is a sum of random vectors, one for each of its fragments. The fragments are
    never enumerated: vectors of labels are composed along the tree (Zanzotto & Dell'Arciprete
    2012). In expectation over the random vectors, and without `normalize`,

    .. math:: E[\mathrm{DT}(a) \cdot \mathrm{DT}(b)] \approx \mathrm{STK}(a, b) / \lambda

    The error falls with the number of components and grows with the number and the weight of the
    fragments, so use small values of `decay`. A linear learner on the vectors then approximates a
    kernel machine.

    A vector depends only on the tree and the parameters, to the last bit. It does not depend on
    other trees, the process, the machine or `n_jobs`. Nothing is learnt: `fit` only checks, and
    batches of a stream may be transformed one by one.

    Parameters
    ----------
    n_components : int
        The length of the vectors. Powers of two are the fastest for convolutions.
    decay : float in (0, 1]
        The papers' :math:`\lambda`: the factor for each production of a fragment except the first.
    composition : {"convolution", "product"}
        Compose two vectors by shuffled circular convolution, or by the shuffled gamma product,
        which is faster and, with normal numbers, less precise.
    label_vectors : {"normal", "signs"}
        The entries of the labels' random unit vectors: normal numbers as in the paper, or random
        signs, which are not in the paper. Products of signs are signs, so the gamma product
        preserves norms.
    normalize : bool
        Scale vectors to length 1, as in normalised kernels. The vector of a single node, which has
        no fragments, is zero. Without it, trees with huge kernel values may exceed the range of
        `dtype`, which is an error.
    dtype : {"float32", "float64"} or numpy type
        The type of the vectors and of the computation.
    random_state : int
        The seed, from 0 to 2**64 - 1. None is not allowed, because vectors of different seeds
        cannot be compared.
    part : str, optional
        The part of :class:`~filbert.Examples` to embed. For several parts, such as the text and
        the hypothesis of entailment, join one embedding per part with scikit-learn's
        ``make_union``. Products of the joint vectors are the sum of the parts' kernels.
    n_jobs : int, optional
        Threads; None for all cores, within what joblib grants (see :mod:`filbert.threads`).
    verbose : int
        If positive, show a progress bar.

    Attributes
    ----------
    gamma_ : float
        The factor of the gamma product, the inverse of the average norm of the products of 100
        pairs of random vectors. Only with ``composition="product"``.

    Examples
    --------
    >>> trees = ["(NP (D a) (N cat))", "(NP (D a) (N dog))"]
    >>> embedding = DistributedTreeEmbedding(4096, decay=1.0, normalize=False)
    >>> a, b = embedding.fit_transform(trees)
    >>> round(float(a @ b))
    3
    """

    def __init__(
        self,
        n_components: int = 8192,
        *,
        decay: float = 0.4,
        composition: Literal["convolution", "product"] = "convolution",
        label_vectors: Literal["normal", "signs"] = "normal",
        normalize: bool = True,
        dtype: DTypeLike = "float32",
        random_state: int = 0,
        part: str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.decay = decay
        self.composition = composition
        self.label_vectors = label_vectors
        self.normalize = normalize
        self.dtype = dtype
        self.random_state = random_state
        self.part = part
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the trees; nothing is learnt.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts
            The trees to check.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        DistributedTreeEmbedding
            Itself.
        """
        self.check_parameters()
        if not isinstance(X, Parts):
            self._forest_of(X)
        self._take_gamma()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Do the same as `fit`, so that a stream may be transformed batch by batch.

        Parameters
        ----------
        X : ignored
            Not used.
        y : ignored
            Not used. It is there because scikit-learn passes it.

        Returns
        -------
        DistributedTreeEmbedding
            Itself.
        """
        return self.fit(X, y)

    def transform(self, X: Any, out: _Vectors | None = None) -> _Vectors:
        """Compute the trees' vectors.

        Parameters
        ----------
        X : Forest, Examples, sequence of trees or bracket strings, or Parts
            An empty X gives a matrix without rows. New labels are treated like any others.
        out : ndarray of shape (len(X), n_components), optional
            The array to write to, which may be a file: ``numpy.lib.format.open_memmap(path, "w+",
            "float32", (len(X), 8192))``. Rows are written in blocks.

        Returns
        -------
        ndarray of shape (len(X), n_components)
            One row for each tree.
        """
        if isinstance(X, Parts):
            return self._transform_parts(X, out)
        embedder = self._embedder()
        threads = n_threads(self.n_jobs)
        forest = self._forest_of(X)
        shape = (len(forest), int(self.n_components))
        rows = self._empty(shape) if out is None else self._checked_out(out, shape)
        with progress_bar(type(self).__name__, show=self.verbose > 0) as progress:
            too_large = embedder.embed(
                forest._dag, forest._roots, _MEMORY, threads, progress, cast(Any, rows)
            )
        if too_large is not None:
            raise KernelOverflowError(
                f"the vector of tree {too_large} is beyond the range of {rows.dtype}",
                "use normalize=True, or a smaller decay"
                + (", or dtype='float64'" if rows.itemsize == 4 else ""),
            )
        return rows

    def _transform_parts(self, corpus: Parts, out: _Vectors | None) -> _Vectors:
        shape = (len(corpus), int(self.n_components))
        vectors = self._empty(shape) if out is None else self._checked_out(out, shape)
        blocks = corpus.map(self.transform, verbose=self.verbose)
        for numbers, block in zip(corpus.numbers(), blocks, strict=True):
            vectors[numbers] = block
        return vectors

    def check_parameters(self) -> None:
        """Raise InvalidParameterError if a parameter has an invalid value."""
        self._embedder()
        n_threads(self.n_jobs)

    # ---------------------------------------------------------------- for scikit-learn

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags

    # ---------------------------------------------------------------- checking input

    def _forest_of(self, X: Any) -> Forest:
        if self.part is not None and is_table(X):
            return as_forest(column_of(X, self.part))
        if self.part is None:
            X = only_forest(X)
        if not isinstance(X, Examples):
            if self.part is not None:
                raise InvalidParameterError(
                    f"DistributedTreeEmbedding: part={self.part!r} is for Examples, got "
                    f"{type(X).__name__}"
                )
            return as_forest(X)
        names = ", ".join(map(repr, X.parts))
        trees = [name for name, part in X.parts.items() if isinstance(part, Forest)]
        if self.part not in trees:
            raise InvalidParameterError(
                "DistributedTreeEmbedding: part must name the part of trees to embed, such as "
                f"{trees[0] if trees else 'tree'!r}; got {self.part!r} for examples with the "
                f"parts {names}"
            )
        return cast(Forest, X[self.part])

    def _embedder(self) -> _Embedder:
        self._check_numbers()
        if self.composition not in _COMPOSITIONS:
            raise InvalidParameterError(
                "DistributedTreeEmbedding: composition must be 'convolution' or 'product', "
                f"got {self.composition!r}"
            )
        if self.label_vectors not in _LABEL_VECTORS:
            raise InvalidParameterError(
                "DistributedTreeEmbedding: label_vectors must be 'normal' or 'signs', "
                f"got {self.label_vectors!r}"
            )
        if not isinstance(self.normalize, bool | np.bool_):
            raise InvalidParameterError(
                f"DistributedTreeEmbedding: normalize must be True or False, got {self.normalize!r}"
            )
        return _made(
            self._checked_dtype().itemsize,
            int(self.n_components),
            self.composition == "convolution",
            float(self.decay),
            bool(self.normalize),
            int(self.random_state),
            self.label_vectors == "signs",
        )

    def _check_numbers(self) -> None:
        for name, least, most in (
            ("n_components", 1, _MOST_COMPONENTS),
            ("random_state", 0, 2**64 - 1),
        ):
            value = getattr(self, name)
            is_integer = isinstance(value, Integral) and not isinstance(value, bool)
            if not is_integer or not least <= int(value) <= most:
                raise InvalidParameterError(
                    f"DistributedTreeEmbedding: {name} must be an integer from {least} to {most}, "
                    f"got {value!r}"
                )
        decay = self.decay
        if not isinstance(decay, Real) or isinstance(decay, bool) or not 0 < decay <= 1:
            raise InvalidParameterError(
                f"DistributedTreeEmbedding: decay must be in (0, 1], got {decay!r}"
            )

    def _checked_dtype(self) -> np.dtype[Any]:
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            dtype = np.dtype(object)
        if self.dtype is None or dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise InvalidParameterError(
                "DistributedTreeEmbedding: dtype must be 'float32' or 'float64', "
                f"got {self.dtype!r}"
            )
        return dtype

    def _take_gamma(self) -> None:
        if self.composition == "product":
            self.gamma_ = float(self._embedder().gamma)

    def _empty(self, shape: tuple[int, int]) -> _Vectors:
        dtype = self._checked_dtype()
        try:
            return np.empty(shape, dtype)
        except (MemoryError, ValueError):
            size = shape[0] * shape[1] * dtype.itemsize / 2**30
            raise MatrixTooLargeError(
                f"{shape[0]:,} vectors of {shape[1]:,} components need {size:,.1f} GiB: transform "
                "the trees in parts, or pass a memory map as out="
            ) from None

    def _checked_out(self, out: Any, shape: tuple[int, int]) -> _Vectors:
        if not isinstance(out, np.ndarray):
            raise InputTypeError(
                f"out must be a numpy array or memory map, not {type(out).__name__}"
            )
        dtype = self._checked_dtype()
        if out.shape != shape or out.dtype != dtype:
            raise InvalidParameterError(
                f"out must have the shape {shape} and the type {dtype}, "
                f"got {out.shape} and {out.dtype}"
            )
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise InvalidParameterError("out must be writeable and in C order")
        return out


@lru_cache(maxsize=8)
def _made(
    itemsize: int,
    n_components: int,
    convolution: bool,
    decay: float,
    normalize: bool,
    seed: int,
    signs: bool,
) -> _Embedder:
    """Make the permutations and tables that all calls with the same parameters share."""
    make = _core.TreeEmbedder32 if itemsize == 4 else _core.TreeEmbedder64
    return make(n_components, convolution, decay, normalize, seed, signs)
