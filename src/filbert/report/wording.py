"""Format numbers and labels for the report."""

from markupsafe import Markup, escape

from filbert.drawing.labels import printable, shortened

_MINUS = "\u2212"
_LONGEST_TITLE = 500  # characters of a label in a tooltip


def signed(value: float) -> str:
    """Format a weight or a contribution: ``+0.123``, with a true minus sign, or ``0``."""
    if value == 0:
        return "0"
    text = f"{value:+.3f}" if 0.001 <= abs(value) < 1000 else f"{value:+.1e}"
    return text.replace("-", _MINUS)


def plain(value: float) -> str:
    """Format a number with about four digits."""
    text = f"{value:,.0f}" if value == int(value) and abs(value) < 1e12 else f"{value:.4g}"
    return text.replace("-", _MINUS)


def percent(share: float) -> str:
    """Format a share: ``61.0 %``."""
    return f"{100 * share:.1f}\u202f%"


def label(text: str, most: int = 60) -> Markup:
    """Mark up untrusted text, cut off after `most` characters.

    `bdi` keeps right-to-left text from reversing its surroundings. Directional marks and control
    characters are escaped, as in the drawings.
    """
    text = printable(text)
    if len(text) <= most:
        return Markup("<bdi>{}</bdi>").format(text)
    whole = escape(shortened(text, _LONGEST_TITLE))
    return Markup('<bdi title="{}">{}</bdi>').format(whole, shortened(text, most))


def bare(text: str, most: int = 60) -> str:
    """Return the same text without mark-up, for attributes and options."""
    return shortened(printable(text), most)
