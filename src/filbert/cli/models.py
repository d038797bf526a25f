"""Loading models for the commands that predict."""

from typing import Any

from filbert.errors import InputTypeError
from filbert.persist import load


def load_learner(path: str, jobs: int | None) -> Any:
    """Load a model that `filbert train` or `filbert.save` wrote; refuse other files."""
    model = load(path)
    if not hasattr(model, "predict"):
        raise InputTypeError(
            f"{path} holds a {type(model).__name__}, which cannot predict: pass the file of a "
            "TreeSVC or a TreePerceptron"
        )
    return model.set_params(n_jobs=jobs)
