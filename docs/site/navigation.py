"""Which page is below which: the site's tree of pages.

Pages of docs/ that are named nowhere here go to the end of the guide, so a new page is never lost.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """Some pages below a page, with a caption in the sidebar."""

    caption: str
    pages: tuple[str, ...]


# What the navigation calls a page, if that is not its heading.
TITLES = {"guide": "Guide", "benchmarks": "Benchmarks", "gallery/index": "Gallery"}

LEFT_OVER = "Further pages"

NAVIGATION: dict[str, list[Group]] = {
    "index": [
        Group("", ("start", "guide", "gallery/index", "models", "api/index", "how-it-works")),
        Group("", ("benchmarks", "develop")),
    ],
    "start": [
        Group("First steps", ("install", "first-steps", "choosing")),
        Group("Coming from", ("from-svm-light-tk", "from-kelp", "from-svc", "from-grakel")),
    ],
    "guide": [
        Group("Read trees", ("formats", "formats-tables", "formats-nlp", "formats-code")),
        Group("Prepare and store", ("transform", "streams", "model-files", "command-line")),
        Group(
            "Learn",
            ("patterns", "losses", "perceptron", "features", "embedding", "symbol-selection"),
        ),
        Group(
            "Understand",
            ("explanations", "fragments", "recurring-fragments", "clones", "searching"),
        ),
        Group("Compare", ("significance",)),
        Group("Beyond memory", ("scaling", "parts", "dask")),
    ],
    "models": [Group("", ("kernels", "learners"))],
    "kernels": [
        Group(
            "",
            (
                "kernels/local-patterns",
                "kernels/subtree",
                "kernels/subset-tree",
                "kernels/partial-tree",
                "kernels/approximate-tree",
                "kernels/sequence",
                "kernels/vectors",
                "kernels/sums-and-products",
                "kernels/pairs",
            ),
        )
    ],
    "learners": [
        Group(
            "",
            (
                "learners/tree-svc",
                "learners/tree-svc-cv",
                "learners/tree-logistic-regression",
                "learners/tree-svr",
                "learners/tree-ranker",
                "learners/tree-perceptron",
                "learners/tree-features",
                "learners/pattern-vectorizer",
                "learners/kernel-matrix",
                "learners/fragment-vectorizer",
                "learners/distributed-tree-embedding",
                "learners/symbol-selector",
                "learners/tree-index",
            ),
        )
    ],
    "how-it-works": [
        Group("The engine", ("exact-svm", "partial-trees", "certified-factors", "cutting-planes")),
        Group(
            "Background",
            ("papers", "paper-figures", "architecture", "inside", "decisions/index", "glossary"),
        ),
    ],
    "develop": [
        Group("Extend", ("add-a-kernel", "add-a-loss", "add-a-reader")),
        Group("Contribute", ("contributing", "style", "benchmarks-how", "changelog")),
    ],
}


def toctree(group: Group, pages: tuple[str, ...]) -> str:
    """Return the directive that puts pages below a page, in Markdown."""
    caption = f":caption: {group.caption}\n" if group.caption else ""
    return "\n```{toctree}\n:hidden:\n" + caption + "\n" + "\n".join(pages) + "\n```\n"


def _entry(page: str) -> str:
    return f"{TITLES[page]} </{page}>" if page in TITLES else f"/{page}"


def below(page: str, all_pages: set[str]) -> str:
    """Return the directives for all pages below a page, of those that there are."""
    groups = list(NAVIGATION.get(page, []))
    if page == "guide":
        groups.append(Group(LEFT_OVER, tuple(sorted(left_over(all_pages)))))
    if page == "decisions/index":
        groups.append(Group("", tuple(sorted(p for p in all_pages if p.startswith("decisions/0")))))
    directives = []
    for group in groups:
        pages = tuple(_entry(name) for name in group.pages if name in all_pages)
        if pages:
            directives.append(toctree(group, pages))
    return "".join(directives)


def left_over(all_pages: set[str]) -> set[str]:
    """Return the pages that the navigation does not name."""
    named = {page for groups in NAVIGATION.values() for group in groups for page in group.pages}
    return {
        page
        for page in all_pages - named - {"index"}
        if not page.startswith(("decisions/0", "api/", "gallery/"))
    }
