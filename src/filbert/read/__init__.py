"""Stage 1: files and objects to the texts of trees, one format a file.

``stream`` and ``merged`` are of a later stage, since they make forests: they are found here by
their names, and loaded when first asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filbert.read.streams import merged, stream

__all__ = ["merged", "stream"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from filbert.read import streams  # noqa: PLC0415

        return getattr(streams, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
