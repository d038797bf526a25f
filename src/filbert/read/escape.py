"""Labels as they are written in bracket notation.

Brackets and ASCII white space separate labels, so inside a label they are escaped, and so is
the backslash that escapes them. Every other character, any Unicode white space included, stands
for itself.
"""

import re

_ESCAPES = {
    "\\": r"\\",
    "(": r"\(",
    ")": r"\)",
    " ": "\\ ",
    "\n": r"\n",
    "\t": r"\t",
    "\r": r"\r",
    "\v": r"\v",
    "\f": r"\f",
}
_TABLE = str.maketrans(_ESCAPES)
_NEEDS_ESCAPE = re.compile(r"[\\() \n\t\r\v\f]")


def escape_label(label: str) -> str:
    r"""Return ``label`` as it is written between brackets.

    >>> escape_label("NP")
    'NP'
    >>> print(escape_label("f(x) = \\y"))
    f\(x\)\ =\ \\y

    Raises
    ------
    ValueError
        If the label is empty: bracket notation cannot write it.
    """
    if not label:
        raise ValueError("a label must have at least one character; use a placeholder such as '_'")
    # Almost no label needs an escape, and the search costs a third of translate.
    return label.translate(_TABLE) if _NEEDS_ESCAPE.search(label) else label
