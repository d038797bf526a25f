"""Clone classes as an HTML page."""

from collections.abc import Sequence
from typing import Any

from filbert.clones.classes import CloneClass
from filbert.errors import InvalidParameterError
from filbert.forest import Forest, as_forest


def clones_to_html(
    classes: Sequence[CloneClass],
    X: Any,
    *,
    names: Sequence[str] | None = None,
    title: str = "Clones",
) -> str:
    """Return a page of clone classes, with their largest common fragments highlighted.

    Parameters
    ----------
    classes : list of CloneClass
        What :func:`filbert.clones.clone_classes` returned for `X`.
    X : Forest, or sequence of trees or bracket strings
        The trees in which the classes were found.
    names : sequence of str, optional
        A name for each tree, such as file and line. Any text: it is escaped.
    title : str
        The heading of the page. It is escaped.

    Returns
    -------
    str
        One HTML file without a script. The first fifty classes have drawings. In each, the first
        member is compared with up to three others that are not equal to it.

    Examples
    --------
    >>> trees = ["(S (A a) (B b))", "(S (A a) (B c))"]
    >>> from filbert.clones import clone_classes
    >>> page = clones_to_html(clone_classes(trees, min_similarity=0.5), trees)
    >>> page.startswith("<!DOCTYPE html>"), "2 trees" in page
    (True, True)
    """
    forest = X if isinstance(X, Forest) else as_forest(X)
    if names is None:
        names = [f"tree {i + 1}" for i in range(len(forest))]
    if len(names) != len(forest):
        raise InvalidParameterError(
            f"names must have one entry for each of the {len(forest):,} trees, got {len(names):,}"
        )
    from filbert.report.clones import render  # noqa: PLC0415 - only if a page is made

    return render(classes, forest, names, title)
