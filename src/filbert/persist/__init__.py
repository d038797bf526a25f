"""Model files: saved and loaded without pickle, and checked on loading."""

from filbert.persist.files import load, load_predictor, reading_of, save
from filbert.persist.kinds import is_saved
from filbert.persist.searches import SearchResult
from filbert.persist.summary import Summary, inspect

__all__ = [
    "SearchResult",
    "Summary",
    "inspect",
    "is_saved",
    "load",
    "load_predictor",
    "reading_of",
    "save",
]
