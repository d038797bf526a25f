"""How the pictures of the gallery look: the same for all examples."""

from pathlib import Path
from typing import Any


def reset(gallery_conf: dict[str, Any], fname: str | Path) -> None:
    """Set the style before each example."""
    import matplotlib as mpl

    mpl.rcParams.update(
        {
            "figure.figsize": (7.2, 4.4),
            "figure.dpi": 110,
            "figure.constrained_layout.use": True,
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.alpha": 0.25,
            "axes.prop_cycle": mpl.cycler(
                color=["#2a67b0", "#c2691c", "#3b8a5a", "#8a4f9e", "#b8891b", "#5f6b76"]
            ),
        }
    )
