"""Model files: saved and loaded without pickle, and checked on loading."""

from filbert.persist.files import SAVED, load, save

__all__ = ["SAVED", "load", "save"]
