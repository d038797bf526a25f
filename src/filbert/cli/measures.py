"""What ``filbert evaluate`` measures of models that predict numbers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from filbert.arrays import FloatArray


def of_regression(true: "FloatArray", predicted: "FloatArray") -> dict[str, Any]:
    """Return measures of a regression. Those that the numbers do not allow are None."""
    import numpy as np
    from scipy.stats import spearmanr
    from sklearn.metrics import r2_score

    varied = len(set(true.tolist())) > 1
    ordered = varied and len(set(predicted.tolist())) > 1
    return {
        "n_examples": len(true),
        "r2": float(r2_score(true, predicted)) if varied else None,
        "spearman": float(spearmanr(true, predicted).statistic) if ordered else None,
        "mean_absolute_error": float(np.abs(true - predicted).mean()),
    }


def of_ranking(true: "FloatArray", scores: "FloatArray", group: Any) -> dict[str, Any]:
    """Return measures of a ranking. Those that the targets do not allow are None.

    The gains of NDCG are the targets, so none may be negative. Relevant candidates have a positive
    target, so the mean reciprocal rank needs other candidates, too.
    """
    from filbert.labels import checked_groups
    from filbert.metrics import mean_reciprocal_rank, ndcg, pairwise_accuracy

    groups: NDArray[Any] = checked_groups(group, len(true))
    has_gains = bool((true >= 0).all() and (true > 0).any())
    has_relevant = bool((true > 0).any() and (true <= 0).any())
    return {
        "n_examples": len(true),
        "n_groups": int(groups.max()) + 1,
        "pairwise_accuracy": pairwise_accuracy(true, scores, groups),
        "ndcg": ndcg(true, scores, groups) if has_gains else None,
        "mean_reciprocal_rank": (
            mean_reciprocal_rank(true, scores, groups) if has_relevant else None
        ),
    }


def as_text(measured: dict[str, Any]) -> str:
    """Write measures as lines."""
    names = {name: name.replace("_", " ").removeprefix("n ") for name in measured}
    width = max(map(len, names.values()))
    return "\n".join(f"{names[name]:{width}}  {_shown(value)}" for name, value in measured.items())


def _shown(value: Any) -> str:
    if value is None:
        return "not defined for these targets"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
