"""Finding Filbert's estimators inside scikit-learn's pipelines and searches."""

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


def set_jobs(model: Any, n_jobs: int | None) -> None:
    """Set the number of threads of Filbert's estimators in a fitted pipeline or search."""
    waiting = [model]
    while waiting:
        step = waiting.pop()
        if hasattr(step, "best_estimator_"):
            waiting.append(step.best_estimator_)
        elif hasattr(step, "calibrated_classifiers_"):
            waiting += [calibrated.estimator for calibrated in step.calibrated_classifiers_]
        elif hasattr(step, "get_params"):
            own = step.get_params(deep=False)
            if "n_jobs" in own and type(step).__module__.startswith("filbert."):
                step.set_params(n_jobs=n_jobs)
            parts = own.get("steps") or own.get("transformer_list") or []
            waiting += [part for _, part in parts]
