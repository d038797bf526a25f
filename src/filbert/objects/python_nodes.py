"""Syntax trees of Python's ``ast``."""

import ast
from collections.abc import Iterator
from typing import Any

from filbert.errors import InputTypeError, ParseError
from filbert.given import described
from filbert.objects.texts import listed, texts_of
from filbert.read.code_options import Constants, Labels, check_choice
from filbert.read.python_ast import ast_to_brackets


def ast_texts(nodes: Any, labels: Labels, constants: Constants) -> Iterator[str]:
    """Yield the texts of syntax trees: one node, or an iterable of nodes."""
    check_choice("labels", labels, Labels)
    check_choice("constants", constants, Constants)

    def text_of(node: Any) -> str:
        if not isinstance(node, ast.AST):
            raise InputTypeError(
                f"expected a node of ast, got {described(node)}: parse text with ast.parse"
            )
        try:
            return ast_to_brackets(node, labels=labels, constants=constants)
        except ValueError as error:  # an empty identifier, which no parser gives
            raise ParseError(str(error)) from None

    return texts_of(listed([nodes] if isinstance(nodes, ast.AST) else nodes, "ast nodes"), text_of)
