"""How many random examples a property is tried on, by Hypothesis' profile (see conftest.py)."""

from hypothesis import settings

FULL = 100  # examples of a property that names no number, in the profile "full"
FEWEST = 5


def n_examples(n: int) -> settings:
    """Try a property on `n` examples in the profile "full", on fewer in smaller profiles."""
    share = settings().max_examples / FULL
    return settings(max_examples=max(min(n, FEWEST), round(n * share)))
