"""The programming languages that are read with tree-sitter, one entry each.

To add a language, add an entry: the name must be that of its wheel, ``tree-sitter-<name>``. The
types of nodes are those of the wheel's grammar.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """What Filbert has to know of a language beyond its grammar.

    A function needs a name to be a unit, so that lambdas are none. `binders` are the nodes that
    give a name to the function expression below them, with the field that holds the name. `scopes`
    are further nodes that qualify the names within them, also with the field that holds the name.
    """

    suffixes: tuple[str, ...]
    functions: tuple[str, ...]
    classes: tuple[str, ...]
    scopes: tuple[tuple[str, str], ...] = ()
    binders: tuple[tuple[str, str], ...] = ()
    separator: str = "."
    needs_body: bool = False  # whether a class without a body is a mention, not a definition
    extra: str = ""  # the extra of Filbert that installs the wheel


_C_CLASSES = ("struct_specifier", "union_specifier", "enum_specifier")

LANGUAGES = {
    "java": Language(
        suffixes=(".java",),
        functions=(
            "method_declaration",
            "constructor_declaration",
            "compact_constructor_declaration",
        ),
        classes=(
            "class_declaration",
            "interface_declaration",
            "enum_declaration",
            "record_declaration",
            "annotation_type_declaration",
        ),
        extra="code",
    ),
    "javascript": Language(
        suffixes=(".js", ".mjs", ".cjs"),
        functions=(
            "function_declaration",
            "generator_function_declaration",
            "method_definition",
            "function_expression",
            "generator_function",
            "arrow_function",
        ),
        classes=("class_declaration", "class"),
        binders=(
            ("variable_declarator", "name"),
            ("assignment_expression", "left"),
            ("pair", "key"),
            ("field_definition", "property"),
        ),
        extra="code",
    ),
    "c": Language(
        suffixes=(".c", ".h"),
        functions=("function_definition",),
        classes=_C_CLASSES,
        needs_body=True,
        extra="code",
    ),
    "go": Language(
        suffixes=(".go",),
        functions=("function_declaration", "method_declaration"),
        classes=("type_spec",),
        extra="code",
    ),
    "cpp": Language(
        suffixes=(".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"),
        functions=("function_definition",),
        classes=("class_specifier", *_C_CLASSES),
        scopes=(("namespace_definition", "name"),),
        separator="::",
        needs_body=True,
    ),
    "rust": Language(
        suffixes=(".rs",),
        functions=("function_item", "function_signature_item"),
        classes=("struct_item", "enum_item", "union_item", "trait_item"),
        scopes=(("mod_item", "name"), ("impl_item", "type")),
        separator="::",
    ),
    "ruby": Language(
        suffixes=(".rb",),
        functions=("method", "singleton_method"),
        classes=("class", "module"),
        separator="::",
    ),
}
