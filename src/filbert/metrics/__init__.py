"""Measures of rankings and parses, and a test whether two systems differ by more than chance."""

from filbert.metrics.brackets import BracketCounts, count_brackets
from filbert.metrics.randomization import RandomizationResult, randomization_test
from filbert.metrics.ranking import (
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg,
    pairwise_accuracy,
    precision_at_k,
    recall_at_k,
)

__all__ = [
    "BracketCounts",
    "RandomizationResult",
    "count_brackets",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "ndcg",
    "pairwise_accuracy",
    "precision_at_k",
    "randomization_test",
    "recall_at_k",
]
