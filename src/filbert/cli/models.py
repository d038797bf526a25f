"""Loading models for the commands that predict."""

import os
from typing import Any

from filbert import persist
from filbert.errors import InputTypeError, ModelFileError
from filbert.unpack import set_jobs

_ARCHIVE = b"PK"  # model files are zip archives


def load_learner(path: str, jobs: int | None) -> Any:
    """Load an estimator that `filbert train` or `filbert.save` wrote; refuse other files."""
    _check_archive(path)
    model = persist.load(path)
    set_jobs(model, jobs)
    return _checked(path, model)


def load_predictor(path: str, jobs: int | None) -> Any:
    """Load what predicts in the same files, which takes less time."""
    _check_archive(path)
    return _checked(path, persist.load_predictor(path, n_jobs=jobs))


def is_archive(path: str) -> bool:
    """Return whether a regular file begins like a model file. Pipes are not read."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        return stream.read(len(_ARCHIVE)) == _ARCHIVE


def _check_archive(path: str) -> None:
    if os.path.isfile(path) and not is_archive(path):
        raise ModelFileError(
            "this is not a model file", "name the file of the model first, then the data", path
        )


def _checked(path: str, model: Any) -> Any:
    if not hasattr(model, "predict"):
        raise InputTypeError(
            f"{path} holds a {type(model).__name__}, which cannot predict: pass the file of a "
            "TreeSVC or a TreePerceptron"
        )
    return model
