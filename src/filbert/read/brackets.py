"""Trees in bracket notation, such as the files of the Penn Treebank.

The core reads and writes this format itself: see ``Forest.from_brackets``.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of bracket notation.

    Parameters
    ----------
    bare_words : bool
        Read a word that is alone on its line as a tree of one node.
    """

    bare_words: bool = False
