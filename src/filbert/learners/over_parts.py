"""TreeSVC over a corpus in parts: from parameters to the cascade, and back to attributes."""

import os
from hashlib import sha256
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from filbert.corpus.checkpoints import Checkpoint
from filbert.corpus.parts import Parts
from filbert.errors import InvalidParameterError
from filbert.learners.at_once import at_once
from filbert.learners.cascade import Cascade, Round, Trained
from filbert.learners.cascade_tasks import Machine
from filbert.learners.fit_checkpoints import check_is_described, hash_of
from filbert.learners.problems import Convergence


def fit_over_parts(
    learner: Any,
    corpus: Parts,
    y: Any,
    sample_weight: Any,
    checkpoint: str | os.PathLike[str] | None,
) -> None:
    """Train a TreeSVC on a corpus in parts, and set its attributes."""
    learner.check_parameters()
    _check_suits_parts(learner)
    corpus.warn_of_skipped()
    machine = _machine_of(learner)
    seed = int(check_random_state(learner.random_state).randint(0, 2**63 - 1, dtype=np.int64))
    described = (
        {} if checkpoint is None else _description(learner, machine, corpus, y, sample_weight)
    )
    is_free = not isinstance(learner.random_state, Integral)
    kept = Checkpoint(checkpoint, described, seed, keeps_seed=is_free)
    try:
        cascade = Cascade(
            machine,
            corpus,
            y=y,
            sample_weight=sample_weight,
            class_weight=learner.class_weight,
            checkpoint=kept,
            verbose=learner.verbose,
        )
        trained = cascade.train()
        with at_once(learner) as draft:
            _keep(draft, corpus, trained)
    finally:
        kept.close()


def _check_suits_parts(learner: Any) -> None:
    if learner.strategy != "exact":
        raise InvalidParameterError(
            f"TreeSVC: strategy {learner.strategy!r} samples from all examples, so they must be in "
            "one piece: use strategy='exact' for a corpus in parts"
        )
    if learner.warm_start:
        raise InvalidParameterError(
            "TreeSVC: warm_start is for examples in one piece: use warm_start=False for a corpus "
            "in parts, and checkpoint= to continue training that was interrupted"
        )


def _machine_of(learner: Any) -> Machine:
    given = learner.kernel
    kernel = learner._default_kernel() if given is None else clone(given, safe=False)
    return Machine(
        kernel=kernel,
        C=float(*learner._known_cost()),
        loss=learner._loss_name(),
        engine=learner.engine,
        intercept=bool(learner.fit_intercept),
        kernel_tol=learner.kernel_tol,
        tol=float(learner.tol),
        max_iter=learner.max_iter,
        max_memory=learner.max_memory,
        n_jobs=learner.n_jobs,
    )


def _description(
    learner: Any, machine: Machine, corpus: Parts, y: Any, sample_weight: Any
) -> dict[str, Any]:
    """Return what a checkpoint's results depend on, as JSON."""
    check_is_described(machine.kernel)
    names = ("C", "loss", "engine", "intercept", "kernel_tol", "tol", "max_iter", "max_memory")
    tokens = "\n".join(corpus.tokens())
    return {
        "filbert": version("filbert"),
        "kernel": repr(machine.kernel),
        "class_weight": repr(learner.class_weight),
        "number of parts": corpus.n_parts,
        "parts": sha256(tokens.encode()).hexdigest(),
        "y": hash_of(y),
        "sample_weight": hash_of(sample_weight),
        **{name: getattr(machine, name) for name in names},
    }


def _keep(learner: Any, corpus: Parts, trained: Trained) -> None:
    """Set the attributes that `fit` sets for examples in one piece."""
    pool, fitted, last = trained.pool, trained.fitted, trained.rounds[-1]
    support = np.flatnonzero(fitted.alpha.any(axis=0))
    coded = np.searchsorted(trained.classes, pool.label[support])
    numbers = corpus.numbers_of(pool.part[support], pool.row[support], trained.sizes)
    learner.C_ = float(*learner._known_cost())
    learner.support_ = numbers
    learner.model_ = trained.model
    learner.classes_ = trained.classes
    learner.n_support_ = np.bincount(coded, minlength=len(trained.classes))
    learner.dual_coef_ = trained.model.coef
    learner.intercept_ = fitted.intercept
    learner.objective_ = float(last.objectives.sum())
    learner.duality_gap_ = last.gap
    learner.kernel_error_ = fitted.kernel_error
    learner.n_iter_ = len(trained.rounds)
    learner.convergence_ = _convergence(trained.rounds)
    learner.rounds_ = trained.rounds
    learner.engine_ = fitted.engine
    learner.engine_reason_ = fitted.reason
    learner._alpha = None
    learner._keep_planes({})


def _convergence(rounds: list[Round]) -> list[Convergence]:
    steps = np.arange(1, len(rounds) + 1)
    objectives = np.array([one.objectives for one in rounds]).T
    gaps = np.array([one.gaps for one in rounds]).T
    return [Convergence(steps, *curves) for curves in zip(objectives, gaps, strict=True)]
