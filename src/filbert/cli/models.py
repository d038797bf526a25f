"""Models for commands that predict."""

from typing import Any

from filbert.errors import InputTypeError
from filbert.persist import load


def load_learner(path: str, jobs: int | None) -> Any:
    """Load what `filbert train` or `filbert.save` wrote, and refuse what does not predict."""
    model = load(path)
    if not hasattr(model, "predict"):
        raise InputTypeError(
            f"{path} holds a {type(model).__name__}, which predicts nothing: give the file of a "
            "TreeSVC or a TreePerceptron"
        )
    return model.set_params(n_jobs=jobs)
