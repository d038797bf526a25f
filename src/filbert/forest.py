"""A corpus of trees that share their nodes."""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from filbert import _core
from filbert._core import Dag
from filbert.description import ForestDescription, described_forest
from filbert.errors import (
    InputTypeError,
    InvalidParameterError,
    ParseError,
)
from filbert.given import (
    check_in_one_piece,
    described,
    file_hint,
    is_file_name,
    is_missing,
    is_nltk_tree,
    not_a_tree,
    one_tree_a_row,
)
from filbert.objects.graphs import Order, networkx_texts
from filbert.objects.nested import nested_texts
from filbert.objects.nltk_trees import nltk_texts
from filbert.objects.parents import parents_texts
from filbert.objects.parses import spacy_texts, stanza_texts
from filbert.objects.python_nodes import ast_texts
from filbert.read.bracket_files import read_brackets
from filbert.read.catalogue import known_format
from filbert.read.code_options import Constants, Labels
from filbert.read.collected import collect_texts
from filbert.read.detection import format_by_name
from filbert.read.files import Input, name_of, open_binary
from filbert.read.formats import format_of_name
from filbert.read.other_files import check_not_printed, notation_hint
from filbert.read.reader import OnError, check_on_error
from filbert.skipped import warn_of_skipped
from filbert.tree import Tree

_BATCH = 1 << 14  # texts that are taken from an iterator at a time


class Forest:
    """An immutable sequence of trees in which every distinct subtree is stored once.

    Slices and selections (``forest[10:20]``, ``forest[mask]``, ``forest[[2, 5]]``) are forests that
    share the nodes of the whole. Forests that were built separately can be used together.

    Make one with :meth:`from_brackets` or :func:`filbert.read_examples`, or from objects in memory:
    :meth:`from_nested`, :meth:`from_parents`, :meth:`from_nltk`, :meth:`from_spacy`,
    :meth:`from_stanza`, :meth:`from_networkx`, :meth:`from_ast`.

    Parameters
    ----------
    trees : iterable of Trees or bracket strings, or Forest
        The trees. Nothing is copied from a Forest.

    Attributes
    ----------
    skipped : tuple of ParseError
        The errors of the input that was skipped with ``on_error="skip"``.

    Examples
    --------
    >>> forest = Forest.from_brackets(["(S (NP a) (VP b))", "(S (NP a) (VP c))"])
    >>> forest
    Forest of 2 trees: 10 nodes, 8 distinct subtrees
      0  (S (NP a) (VP b))
      1  (S (NP a) (VP c))
    >>> forest[1].label
    'S'
    >>> forest[[1, 1, 0]].shape
    (3,)
    """

    _dag: Dag
    _roots: NDArray[np.uint32]
    skipped: tuple[ParseError, ...]

    def __init__(self, trees: "Iterable[str | bytes | Tree] | Forest" = ()) -> None:
        other = as_forest(trees)
        self._dag, self._roots, self.skipped = other._dag, other._roots, other.skipped

    @classmethod
    def _of(cls, dag: Dag, roots: NDArray[np.uint32], skipped: tuple[ParseError, ...] = ()) -> Self:
        forest = cls.__new__(cls)
        roots.flags.writeable = False
        forest._dag, forest._roots, forest.skipped = dag, roots, skipped
        return forest

    # ---------------------------------------------------------------- making forests

    @classmethod
    def from_brackets(
        cls,
        source: "str | os.PathLike[str] | IO[Any] | Input | Iterable[str | bytes]",
        *,
        bare_words: bool = False,
        on_error: OnError = "raise",
    ) -> Self:
        r"""Read trees such as ``(S (NP (D a) (N dog)) (VP ran))``.

        In a tree, ``a`` and ``(a)`` are the same leaf. White space separates labels. The unlabelled
        outer bracket of Penn files, ``( (S ...) )``, is removed. In labels, brackets, blanks and
        backslashes are written ``\(``, ``\)``, ``\ `` and ``\\``. The escapes ``\n``, ``\t``,
        ``\r``, ``\v`` and ``\f`` stand for those characters. Any other backslash is a backslash.

        Parameters
        ----------
        source : iterable of str or bytes, path, or open file
            An iterable holds one tree in each string. A file or pipe (``"-"`` for standard input;
            gzip and xz are decompressed) is read in pieces and holds any number of trees. A line
            may have several trees, and a tree may have several lines. A string is a path, unless
            it begins with a bracket: then it is the text itself.
        bare_words : bool
            Read a single word without brackets as a tree of one node. By default, such a word is an
            error, because it is more often the name of a column or file, or from a wrong column.
            ``(word)`` is always a tree of one node. In files, the word must be alone on its line.
        on_error : {"raise", "skip"}
            Whether text that is not a tree raises :class:`~filbert.errors.ParseError`, or is
            skipped with a warning and listed in `skipped`. In files, reading continues with the
            next line that is not indented deeper than the bad tree. In a file with errors, and in a
            pipe, a bracket in the first column then always opens a new tree.
        """
        check_on_error(on_error)
        options = {"skip": on_error == "skip", "bare_words": bool(bare_words)}
        name = ""
        try:
            if isinstance(source, str) and source.lstrip().startswith("("):
                read = read_brackets(io.BytesIO(_encoded(source)), **options)
            elif isinstance(source, str | os.PathLike):
                name = name_of(source)
                with open_binary(source) as stream:
                    read = read_brackets(stream, **options)
            elif hasattr(source, "read"):
                name = str(getattr(source, "name", ""))
                read = read_brackets(cast(IO[Any], source), **options)
            elif not isinstance(source, Iterable) or isinstance(source, bytes | Tree):
                raise InputTypeError(
                    f"from_brackets takes strings, a path or an open file, not {described(source)}"
                )
            else:
                reader = _core.TreeReader(options["skip"], options["bare_words"])
                _add_texts(reader, one_tree_a_row(source))
                read = reader.finish()
        except ParseError as error:
            raise error.located(source=name or None) from None
        dag, roots, problems = read
        return cls._of(dag, roots, report_skipped(problems, len(roots), source=name))

    @classmethod
    def from_texts(cls, texts: Iterable[str | bytes], *, format: str, **options: Any) -> Self:
        """Read documents that are in memory, one tree from each.

        Row `i` of the forest is the tree of text `i`. A text with no tree or with several trees
        raises :class:`~filbert.errors.ParseError`.

        Parameters
        ----------
        texts : iterable of str or bytes
            The documents.
        format : str
            ``"brackets"``, ``"xml"``, ``"html"``, ``"json"``, ``"python"``, ...: the formats and
            their options are those of :func:`filbert.read_trees`.
        **options
            The options of the format.

        Examples
        --------
        >>> Forest.from_texts(["(S (NP a) (VP b))", "(S (NP a) (VP c))"], format="brackets")[1]
        <Tree (S (NP a) (VP c))>
        """
        kind = known_format(format)
        checked = kind.options(options)
        if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
            raise InputTypeError(f"from_texts takes a list of texts, not {described(texts)}")
        if kind.native:
            return cls.from_brackets(texts, bare_words=checked.bare_words)
        read = collect_texts(_checked_texts(one_tree_a_row(texts)), kind, checked)
        return cls._of(read.dag, read.roots)

    @classmethod
    def from_nested(
        cls, trees: Iterable[Any], *, label: str = "label", children: str = "children"
    ) -> Self:
        """Make a forest of nested lists, tuples or dictionaries.

        A node is a list or tuple of its label and its children, or a dictionary. A leaf may also be
        just its label. Labels are strings or integers.

        Parameters
        ----------
        trees : iterable of lists, tuples or dictionaries
            Put a single tree into a list. A tree of one node is ``("a",)``.
        label, children : str
            The keys of dictionaries. Other keys are ignored. A leaf needs no children.

        Examples
        --------
        >>> Forest.from_nested([("S", ("NP", "a"), ("VP", "b")), ("a",)])
        Forest of 2 trees: 6 nodes, 5 distinct subtrees
          0  (S (NP a) (VP b))
          1  (a)
        >>> tree = {"name": "ul", "children": [{"name": "li"}, {"name": "li"}]}
        >>> print(Forest.from_nested([tree], label="name")[0])
        (ul li li)
        """
        return cls.from_brackets(nested_texts(trees, label, children))

    @classmethod
    def from_parents(cls, labels: Any, parents: Any, *, sizes: Any = None) -> Self:
        """Make a forest of the labels of nodes and the numbers of their parents.

        Nodes may be in any order. Children are ordered by their positions.

        Parameters
        ----------
        labels : sequence of str or int, or sequence of such sequences
            The labels of one tree, or those of each tree.
        parents : sequence of int, or sequence of such sequences
            The number of each node's parent in its tree, from 0, and -1 for the root.
        sizes : sequence of int, optional
            If given, `labels` and `parents` are flat and hold several trees one after another: the
            first ``sizes[0]`` nodes are the first tree, and so on.

        Examples
        --------
        >>> print(Forest.from_parents(["S", "a", "NP", "b"], [-1, 2, 0, 0])[0])
        (S (NP a) b)
        >>> len(Forest.from_parents([["S", "a"], ["b"]], [[-1, 0], [-1]]))
        2
        >>> len(Forest.from_parents(["S", "a", "b"], [-1, 0, -1], sizes=[2, 1]))
        2
        """
        return cls.from_brackets(parents_texts(labels, parents, sizes))

    @classmethod
    def from_nltk(cls, trees: Any) -> Self:
        """Make a forest of trees of NLTK, or of a single one.

        Leaves and labels are written by ``str``, and a leaf ``(word, tag)`` as ``word/tag``. The
        unlabelled outer node of Penn files is removed. ``nltk.Tree("NP", [])`` is a leaf.

        Parameters
        ----------
        trees : nltk.Tree, or iterable of nltk.Trees
            The trees.

        Returns
        -------
        Forest
            One tree for each tree of NLTK.
        """
        return cls.from_brackets(nltk_texts(trees))

    @classmethod
    def from_spacy(cls, parses: Any, **options: Any) -> Self:
        """Make a forest of the dependency parses of spaCy.

        Parameters
        ----------
        parses : Doc, Span, or iterable of Docs or Spans
            A single Doc gives one tree for each of its sentences. A Span and each item of an
            iterable give one tree, so that rows stay aligned. If a Doc has several sentences, pass
            ``several_roots="join"``, or the sentences of ``doc.sents``.
        **options
            Those of :class:`~filbert.read.dependencies.DependencyOptions`: `tree`, `lexical`,
            `pos`, `label`, `style`, `punctuation` and `several_roots`.
        """
        return cls.from_brackets(spacy_texts(parses, options))

    @classmethod
    def from_stanza(cls, parses: Any, **options: Any) -> Self:
        """Make a forest of the parses of stanza.

        Parameters
        ----------
        parses : Document, Sentence, or iterable of Documents or Sentences
            A single Document gives one tree for each of its sentences. An iterable gives one tree
            for each item, as in :meth:`from_spacy`.
        **options
            Those of :meth:`from_spacy`, or ``tree="constituency"`` for the constituents.
        """
        return cls.from_brackets(stanza_texts(parses, options))

    @classmethod
    def from_networkx(
        cls, graphs: Any, *, label: str | None = "label", order: Order = None
    ) -> Self:
        """Make a forest of directed graphs of networkx that are trees, or of a single one.

        Edges go from parents to children.

        Parameters
        ----------
        graphs : DiGraph, or iterable of DiGraphs
            Each has one root, from which every node is reached by exactly one path.
        label : str or None
            The attribute that holds a node's label, a string or an integer. None takes the name of
            the node.
        order : str, callable or None
            The attribute by which children are sorted, or a key function of nodes. None keeps the
            order in which edges were added.

        Examples
        --------
        >>> import networkx
        >>> graph = networkx.DiGraph([("S", "NP"), ("S", "VP"), ("NP", "a")])
        >>> print(Forest.from_networkx(graph, label=None)[0])
        (S (NP a) VP)
        """
        return cls.from_brackets(networkx_texts(graphs, label, order))

    @classmethod
    def from_ast(
        cls, nodes: Any, *, labels: Labels = "names", constants: Constants = "kinds"
    ) -> Self:
        """Make a forest of syntax trees of Python's ``ast``, or of a single one.

        Parameters
        ----------
        nodes : ast.AST, or iterable of these
            Modules, functions, expressions, ...
        labels : {"names", "types", "abstract"}
            Keep identifiers, leave them out, or number them within each tree: v0, v1, ...
        constants : {"kinds", "values"}
            Whether a constant shows its kind only, such as ``int``, or its value.

        Examples
        --------
        >>> import ast
        >>> print(Forest.from_ast(ast.parse("x.size + 1", mode="eval").body)[0])
        (BinOp (Attribute (Name x) size) Add (Constant int))
        """
        return cls.from_brackets(ast_texts(nodes, labels, constants))

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Self:
        """Make a forest of single trees from one or several forests.

        Parameters
        ----------
        trees : iterable of Tree
            The trees, in the order of the result.
        """
        if isinstance(trees, Tree):  # it is a sequence too, but of its children
            raise InputTypeError("from_trees takes a list of Trees: pass [tree], or list(tree)")
        trees = list(trees)
        by_dag: dict[int, tuple[Dag, list[int]]] = {}
        for position, tree in enumerate(trees):
            if not isinstance(tree, Tree):
                raise InputTypeError(
                    f"sample {position} is not a Tree but {described(tree)}: pass only Trees"
                )
            by_dag.setdefault(id(tree._dag), (tree._dag, []))[1].append(position)
        parts, order = [], []
        for dag, positions in by_dag.values():
            roots = np.array([trees[i]._node for i in positions], dtype=np.uint32)
            parts.append(cls._of(dag, roots))
            order.extend(positions)
        together = cls.concat(parts)
        return cls._of(together._dag, together._roots[np.argsort(np.array(order, dtype=np.intp))])

    @classmethod
    def concat(cls, forests: "Iterable[Forest]") -> Self:
        """Concatenate forests. Parts of the same forest still share their nodes.

        Parameters
        ----------
        forests : iterable of Forest
            The forests, in the order of the result.
        """
        single = isinstance(forests, Tree) or not isinstance(forests, Iterable)
        parts: list[Any] = [forests] if single else list(forests)
        for part in parts:
            if not isinstance(part, Forest):
                raise InputTypeError(f"concat takes Forests, not {described(part)}")
        if not parts:
            return cls.from_brackets(())
        # Neighbours are merged in pairs, so that each of many parts is copied only a few times.
        while len(parts) > 1:
            pairs = [_joined(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = pairs + parts[len(pairs) * 2 :]
        return cls._of(parts[0]._dag, parts[0]._roots.copy())

    # ---------------------------------------------------------------- a sequence of trees

    def __len__(self) -> int:
        return len(self._roots)

    @property
    def shape(self) -> tuple[int]:
        """``(n_trees,)``. scikit-learn needs it to split a forest."""
        return (len(self._roots),)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Tree: ...
    @overload
    def __getitem__(self, index: slice | ArrayLike | tuple[Any, ...]) -> "Forest": ...

    def __getitem__(self, index: Any) -> "Tree | Forest":
        if isinstance(index, tuple):  # scikit-learn's X[indices, ...]
            if len(index) != 2 or index[1] is not Ellipsis:
                raise IndexError("a forest has one axis: use forest[i] or forest[indices, ...]")
            index = index[0]
        picked = self._roots[_checked_index(index)]
        if picked.ndim == 0:
            return Tree(self._dag, int(picked))
        if picked.ndim != 1:
            raise IndexError("a forest has one axis: indices must be one-dimensional")
        return Forest._of(self._dag, picked.copy())

    def __iter__(self) -> Iterator[Tree]:
        for root in self._roots.tolist():
            yield Tree(self._dag, root)

    def __add__(self, other: "Forest") -> "Forest":
        """Return the trees of both forests, one after the other, as :meth:`concat` does."""
        return Forest.concat([self, other]) if isinstance(other, Forest) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        if len(self) != len(other):
            return False
        if self._dag is other._dag:
            return bool(np.array_equal(self._roots, other._roots))
        return bool(np.array_equal(self._dag.find_in(self._roots, other._dag), other._roots))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n = len(self)
        head = (
            f"Forest of {n:,} tree{'' if n == 1 else 's'}: {self.n_nodes:,} nodes, "
            f"{self.n_subtrees:,} distinct subtrees"
        )
        shown = [f"  {i}  {self._dag.brackets(int(self._roots[i]), 70)}" for i in range(min(n, 3))]
        return "\n".join([head, *shown, *(["  …"] if n > 3 else [])])

    # ---------------------------------------------------------------- figures

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees, counting repeated ones each time."""
        return sum(self._dag.sizes(self._roots).tolist())

    @property
    def n_subtrees(self) -> int:
        """The number of distinct subtrees, including leaves."""
        return int(self._dag.count_reachable(self._roots))

    @property
    def nbytes(self) -> int:
        """The memory of the whole shared structure and of this forest's list of trees, in bytes."""
        return int(self._dag.memory + self._roots.nbytes)

    def describe(self) -> ForestDescription:
        """Return figures about the trees: sizes, depths, labels, branching and shared subtrees.

        Print it for a table, or use its attributes and
        :meth:`~filbert.description.ForestDescription.to_dict`.

        Returns
        -------
        ForestDescription
            The figures.
        """
        return described_forest(self._dag, self._roots)

    # ---------------------------------------------------------------- storage

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the forest as flat arrays that hold only the nodes of its trees.

        Returns
        -------
        dict of ndarray
            The arrays by name, as :meth:`from_arrays` takes them.
        """
        dag, roots = self._dag.extract(self._roots)
        label_bytes, label_ends, node_labels, child_ends, children = dag.to_arrays()
        return {
            "label_bytes": label_bytes,
            "label_ends": label_ends,
            "node_labels": node_labels,
            "child_ends": child_ends,
            "children": children,
            "roots": roots,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a forest from the arrays of :meth:`to_arrays` after checking them.

        Parameters
        ----------
        arrays : dict of ndarray
            The arrays by name. If they do not describe a forest,
            :class:`~filbert.errors.CorruptForestError` is raised.

        Returns
        -------
        Forest
            A forest of the same trees.
        """
        try:
            dag, roots = _core.from_arrays(
                _exact(arrays["label_bytes"], np.uint8),
                _exact(arrays["label_ends"], np.uint64),
                _exact(arrays["node_labels"], np.uint32),
                _exact(arrays["child_ends"], np.uint64),
                _exact(arrays["children"], np.uint32),
                _exact(arrays["roots"], np.uint32),
            )
        except KeyError as missing:
            raise InvalidParameterError(f"the forest's array {missing} is missing") from None
        return cls._of(dag, roots)

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest.from_arrays, (self.to_arrays(),)


def as_forest(trees: Any) -> Forest:
    """Return the trees that a user passed as a Forest.

    They may be a Forest, a Tree, or a sequence of Trees, trees of NLTK or bracket strings: a list,
    an array or a column, also of shape (n, 1). Words without brackets and tables of several columns
    raise errors.
    """
    if isinstance(trees, Forest):
        return trees
    if isinstance(trees, Tree):
        return Forest.from_trees([trees])
    if is_nltk_tree(trees):
        return Forest.from_nltk(trees)
    check_in_one_piece(trees)
    if isinstance(trees, str | bytes) or not isinstance(trees, Iterable):
        raise InputTypeError(
            f"expected a Forest or a sequence of trees, got {described(trees)}: {_in_a_list(trees)}"
        )
    trees = list(one_tree_a_row(trees))
    if trees and isinstance(trees[0], Tree):
        return Forest.from_trees(trees)
    if trees and is_nltk_tree(trees[0]):
        return Forest.from_nltk(trees)
    return Forest.from_brackets(trees)


def report_skipped(
    problems: Sequence[tuple[int | None, str, str, int, int]], n_read: int, *, source: str = ""
) -> tuple[ParseError, ...]:
    """Return the core's notes of bad input as errors, and warn if there are any."""
    errors = tuple(
        ParseError(reason, hint=hint, source=source, line=line, column=column, sample=sample)
        for sample, reason, hint, line, column in problems
    )
    warn_of_skipped(errors, n_read, stacklevel=3)
    return errors


def _encoded(text: str) -> bytes:
    """Encode a text. Lone surrogates are kept, so that the parser can report their place."""
    return text.encode(errors="surrogatepass")


def _add_texts(reader: _core.TreeReader, texts: Iterable[str | bytes]) -> None:
    texts = iter(texts)
    n = 0
    while batch := list[object](islice(texts, _BATCH)):
        for position, text in enumerate(batch):
            if not isinstance(text, str | bytes):
                raise not_a_tree(n + position, text)
        if isinstance(first := batch[0], str | bytes):
            check_not_printed(first, n)  # if one text is a tuple, all are
        try:
            reader.add_texts(batch)
        except ParseError as error:
            raise _bad_text(error, batch[(error.sample or 0) - n]) from None
        n += len(batch)


def _checked_texts(texts: Iterable[Any]) -> Iterator[str | bytes]:
    for sample, text in enumerate(texts):
        if isinstance(text, os.PathLike) or (isinstance(text, str | bytes) and is_file_name(text)):
            raise InputTypeError(
                f"sample {sample}, {os.fsdecode(text)!r}, is the name of a file, not its content: "
                "use filbert.read_trees to read files"
            )
        if not isinstance(text, str | bytes):
            hint = ": leave out rows without a text" if is_missing(text) else ""
            raise InputTypeError(f"sample {sample} is not a text but {described(text)}{hint}")
        yield text


def _in_a_list(given: Any) -> str:
    """Return what to do about a single value in the place of several trees."""
    if isinstance(given, os.PathLike) or is_file_name(given):
        return file_hint(given)
    if isinstance(given, str | bytes):
        return (
            "pass a list for a single tree; Forest.from_brackets reads a text of several trees, "
            "and filbert.read_trees files"
        )
    return "pass a list of trees; filbert.read_trees and Forest.from_brackets read files"


def _bad_text(error: ParseError, text: Any) -> ParseError:
    """Return the error of a text that is no tree, with a hint if it shows what it is."""
    named = _file_name_error(error, text)
    hint = notation_hint(text.encode(errors="replace") if isinstance(text, str) else text)
    return error.located(hint=hint) if named is error and hint else named


def _file_name_error(error: ParseError, text: Any) -> ParseError:
    """Return an error with a hint if a text is not a tree but the name of a file."""
    if is_file_name(text):
        reason = f"{os.fsdecode(text)!r} is the name of a file, not a tree"
        return ParseError(reason, hint=file_hint(text), sample=error.sample)
    name = os.fsdecode(text)
    if "(" not in name and (format_by_name(name) or format_of_name(name)):
        reason = f"{name!r:.80} looks like the name of a file, which does not exist"
        hint = "to read files, check the paths and use filbert.read_trees or filbert.read_examples"
        return ParseError(reason, hint=hint, sample=error.sample)
    return error


def _joined(a: Forest, b: Forest) -> Forest:
    if a._dag is b._dag:
        return Forest._of(a._dag, np.concatenate([a._roots, b._roots]))
    dag, roots_a, roots_b = _core.merge(a._dag, a._roots, b._dag, b._roots)
    return Forest._of(dag, np.concatenate([roots_a, roots_b]))


def _checked_index(index: Any) -> Any:
    """Convert lists to arrays of integers or bools; NumPy would make an empty list floats."""
    if isinstance(index, slice):
        return index
    index = np.asarray(index)
    if index.size == 0 and index.dtype != bool:
        return index.astype(np.intp)
    if index.dtype.kind not in "iub":
        raise IndexError(f"index a forest by integers, slices or masks, not {index.dtype}")
    return index


def _exact(array: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return an array if it has the right type. A cast could hide a damaged file."""
    array = np.ascontiguousarray(array)
    if array.dtype != dtype or array.ndim != 1:
        raise InvalidParameterError(
            f"a forest's array must be one-dimensional {np.dtype(dtype)}, "
            f"got {array.ndim}-dimensional {array.dtype}"
        )
    return array
