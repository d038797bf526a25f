"""Messages of the library in the words of the command line."""

import re

# What the library says, and what to say instead.
_PHRASES = {
    "use read_examples, with label=False if there are no labels": "use --format with its name",
    "; for trees without labels use read_trees": "",
    "; for labelled trees, use read_examples": "",
    ". For files of labelled trees, use read_examples": "",
    "or use read_examples for labelled trees": "such as --format tsv",
    "for JSON Lines, use read_examples": "for JSON Lines, use --format jsonl",
    "use read_trees": "use --format with its name",
    "if it is a model of Filbert, use filbert.load": "if it is a model, name it before the data",
    "pass label_map=, such as {'yes': 1, 'no': -1}": "pass --map yes=1 --map no=-1 or the like",
    "label_map has no entry for": "--map has no entry for",
    "klp or svmlight-tk, or write X without it": "klp or svmlight-tk",
    "make a folder and pass its path,": "make a folder and name it with -o,",
    "Forest.from_brackets": "--format brackets",
    "pass n_features,": "pass --set n_features=N,",
    " of from_brackets and read_examples allows": " allows",
    "raise min_count or max_fragments, or lower max_size": (
        "raise --min-count or --max-fragments, or lower --max-size"
    ),
    "format must be one of": "--to must be one of",
    "format must be '": "--format must be '",
    "pass format=, or": "pass --format, or",
    "train with only SubsetTree, Subtree or PartialTree, and a TreePerceptron with vote=False": (
        "train with --kernel stk, st or ptk, or see filbert explain"
    ),
}
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in ("bare_words", "decay", "engine", "epsilon", "format", "header", "label",
                 "max_fragments", "max_iter", "min_frequency", "min_similarity", "normalize",
                 "on_error", "sample_size", "strategy", "tol", "top", "tree", "tree_format")
} | {"n_jobs": "--jobs", "n_fragments": "--top", "C": "-C"}  # fmt: skip
# Options of formats, which --set takes.
_SET = ("each", "empty", "encoding", "features", "items", "labels", "linkages", "n_features", "pos",
        "pseudoknots", "residues", "several_roots", "unit", "values")  # fmt: skip
_ASSIGNED = re.compile(
    rf"\b({'|'.join([*_OPTIONS, *_SET])})=(True\b|False\b|'[\w-]*'|(?=[\w\"\[{{<-]))?"
)
_SHOWN = re.compile(r"\b[A-Z]\w*\([^()]*\)")  # a kernel or learner as Python writes it
# "SubsetTree: decay must be in (0, 1]"
_PARAMETER = re.compile(rf"^[A-Z]\w+: ({'|'.join(_OPTIONS)}) (?=must )")


def in_options(text: str) -> str:
    """Return a message of the library in the words of the command line.

    >>> in_options("pass label=1 and header=True, or labels='text'")
    'pass --label 1 and --header, or --set labels=text'
    """
    for phrase, ours in _PHRASES.items():
        text = text.replace(phrase, ours)
    text = _PARAMETER.sub(lambda match: f"{_OPTIONS[match[1]]} ", text)
    pieces = _SHOWN.split(text)
    shown = [*_SHOWN.findall(text), ""]
    return "".join(
        _ASSIGNED.sub(_option, piece) + as_it_is
        for piece, as_it_is in zip(pieces, shown, strict=True)
    )


def _option(match: re.Match[str]) -> str:
    name, value = match.groups()
    if name in _SET:
        return f"--set {name}={_plain(value)}"
    option = _OPTIONS[name]
    if value in ("True", None):
        return option
    if value == "False":
        return option.replace("--", "--no-", 1)
    return f"{option} {value}"


def _plain(value: str | None) -> str:
    """Return a value without quotes, as --set takes it."""
    return "VALUE" if value is None else value.strip("'").replace("True", "true")
