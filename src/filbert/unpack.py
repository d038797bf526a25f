"""Finding the learner inside scikit-learn's pipelines and searches."""

from typing import Any

from filbert.errors import InputTypeError


def learner_in(model: Any) -> Any:
    """Return the last step of a fitted Pipeline or the best estimator of a fitted search.

    Any other model is returned unchanged.
    """
    return unpacked(model)[1]


def unpacked(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers before the learner, and the learner itself."""
    before: list[Any] = []
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "cv_results_") or hasattr(model, "param_grid"):
            name = type(model).__name__
            raise InputTypeError(
                f"this {name} has no best_estimator_: call its fit first, and use refit=True"
            )
        elif isinstance(getattr(model, "steps", None), list) and model.steps:
            steps = [step for _, step in model.steps]
            before += [step for step in steps[:-1] if step is not None and step != "passthrough"]
            model = steps[-1]
        else:
            return before, model
