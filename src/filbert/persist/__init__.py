"""Models in files: saved and loaded without pickle, and checked on reading."""

from filbert.persist.files import load, save

__all__ = ["load", "save"]
