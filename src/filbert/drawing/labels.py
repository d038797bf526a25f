"""Labels for display: untrusted text that must not break a drawing."""

_LONGEST_TITLE = 10_000  # characters


def printable(label: str) -> str:
    """Escape line breaks, control characters and directional marks."""
    if label.isprintable():
        return label if label.strip() else f'"{label}"'
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in label)


def shortened(text: str, most: int) -> str:
    """Cut a text off after `most` characters; the last one is then an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def title_of(label: str) -> str:
    """Return the whole label, for the tooltip of a node."""
    return shortened(printable(label), _LONGEST_TITLE)


def number(value: float) -> str:
    """Write a value with its sign, in a few characters."""
    if value == 0:
        return "0"
    return f"{value:+.3f}" if 0.001 <= abs(value) < 1000 else f"{value:+.1e}"
