"""Trees of NLTK."""

from collections.abc import Iterator, Sequence
from typing import Any

from filbert.errors import InputTypeError
from filbert.given import described, is_nltk_tree
from filbert.objects.texts import listed, texts_of
from filbert.read.bracket_text import bracket_text


def nltk_texts(trees: Any) -> Iterator[str]:
    """Yield the texts of NLTK's trees: one tree, or an iterable of trees."""
    if is_nltk_tree(trees):
        trees = [trees]
    return texts_of(listed(trees, "NLTK trees"), _text_of)


def _text_of(tree: Any) -> str:
    if not is_nltk_tree(tree):
        raise InputTypeError(f"expected a tree of NLTK, got {described(tree)}")
    if not str(tree.label()) and len(tree) == 1 and is_nltk_tree(tree[0]):
        tree = tree[0]  # the unlabelled outer bracket of Penn files
    return bracket_text(tree, _view)


def _view(node: Any) -> tuple[str, Sequence[Any]]:
    if is_nltk_tree(node):
        return str(node.label()), node[:]
    if isinstance(node, tuple):  # a word and its tag, as in chunks
        return "/".join(map(str, node)), ()
    return str(node), ()
