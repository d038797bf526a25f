"""Numbers and labels as the report writes them."""

from markupsafe import Markup, escape

from filbert.drawing.labels import printable, shortened

_MINUS = "\u2212"
_LONGEST_TITLE = 500  # characters of a label that are shown on pointing at it


def signed(value: float) -> str:
    """Write a weight or a contribution: ``+0.123``, with a true minus sign, or ``0``."""
    if value == 0:
        return "0"
    text = f"{value:+.3f}" if 0.001 <= abs(value) < 1000 else f"{value:+.1e}"
    return text.replace("-", _MINUS)


def plain(value: float) -> str:
    """Write a number with four digits or so."""
    text = f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:.4g}"
    return text.replace("-", _MINUS)


def percent(share: float) -> str:
    """Write a share: ``61.0 %``."""
    return f"{100 * share:.1f}\u202f%"


def label(text: str, most: int = 60) -> Markup:
    """Mark a text of unknown origin up, cut off where it is longer than `most` characters.

    `bdi` keeps right-to-left text from turning its surroundings around; marks of direction and
    control characters are written as escapes, as in the drawings.
    """
    text = printable(text)
    if len(text) <= most:
        return Markup("<bdi>{}</bdi>").format(text)
    whole = escape(shortened(text, _LONGEST_TITLE))
    return Markup('<bdi title="{}">{}</bdi>').format(whole, shortened(text, most))


def bare(text: str, most: int = 60) -> str:
    """Return the same without mark-up, for attributes and options."""
    return shortened(printable(text), most)
