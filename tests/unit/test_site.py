"""The sources of the site: links, pages, pictures, and the API reference."""

import ast
import inspect
import re
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import filbert
from docs.site import drawings
from docs.site.navigation import NAVIGATION
from docs.site.public import kind, public_objects
from docs.site.reference import api_pages
from docs.site.stage import INSTEAD, RST, relinked, sources
from filbert.kernels import Kernel, SubsetTree

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SECTIONS = [
    "What it is for",
    "Formula",
    "Parameters",
    "Cost and memory",
    "Limits",
    "What else to try",
]

# ------------------------------------------------------------------ links

CODE = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    return CODE.sub("", path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """The anchors that forges and the site give to the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "") for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in plain}


def links(path: Path) -> list[str]:
    return [link for link in LINK.findall(prose(path)) if "://" not in link]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", [ROOT / "README.md", *sources().values()], ids=_name)
def test_links_between_the_sources_lead_somewhere(path: Path) -> None:
    for link in links(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name) if name else path
        if target.suffix == ".rst":  # made when the site is built
            made = target.relative_to(DOCS).as_posix()
            assert made in api_pages() or (ROOT / "examples" / made.replace(".rst", ".py")).exists()
            continue
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_links_of_the_site_lead_to_its_pages() -> None:
    pages = sources()
    staged = {
        page: relinked(path.read_text("utf-8"), path, page, pages) for page, path in pages.items()
    }
    known = {*pages, *INSTEAD.values(), *RST}
    for page, text in staged.items():
        for link in LINK.findall(CODE.sub("", text)):
            name = link.partition("#")[0]
            if name.endswith(".md"):
                target = (DOCS / page).parent.joinpath(name).resolve().relative_to(DOCS)
                assert target.with_suffix("").as_posix() in known, f"{page}: {link}"


def test_the_navigation_names_pages_that_exist() -> None:
    named = {page for groups in NAVIGATION.values() for group in groups for page in group.pages}
    made = {"gallery/index", "api/index", "benchmarks"}
    absent = named - made - {*sources()}
    assert absent <= {"choosing"}


QUESTIONS = {
    "How do I read CoNLL-U?": ("formats-nlp.md#conll-u", "read_trees("),
    "Can I use my own kernel?": ("add-a-kernel.md", "kernel"),
    "My classes are unbalanced.": ("learners/tree-svc.md#unbalanced-classes", "class_weight"),
    "I need probabilities.": ("learners/tree-logistic-regression.md", "predict_proba"),
    "It takes too much memory.": ("learners/tree-svc.md#cost-and-memory", "max_memory"),
    "I have SVM-Light-TK files.": ("from-svm-light-tk.md", "read_examples("),
    "Which decay should I use?": ("kernels/subset-tree.md#parameters", "0.2"),
    "How do I find similar code?": ("clones.md", "clone_classes("),
    "Why this prediction?": ("explanations.md", "explain("),
    "My corpus does not fit into memory.": ("scaling.md", "filbert.parts("),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_are_answered_one_click_from_the_landing_page(question: str) -> None:
    target, answer = QUESTIONS[question]
    [row] = re.findall(rf"^\| {re.escape(question)} \|.*$", prose(DOCS / "index.md"), re.MULTILINE)
    assert f"]({target})" in row
    assert answer in (DOCS / target.partition("#")[0]).read_text("utf-8")


# ------------------------------------------------------------------ pages


def public_kernels_and_learners() -> dict[str, Any]:
    bases = {"Kernel", "TreeKernel", "VectorKernel"}
    objects = {name.rpartition(".")[2]: value for name, value in public_objects().items()}
    return {
        name: value
        for name, value in objects.items()
        if inspect.isclass(value)
        and name not in bases
        and (issubclass(value, Kernel) or value.__module__.startswith("filbert.learners"))
    }


def test_every_kernel_and_learner_has_a_page_with_the_same_sections() -> None:
    pages = [*DOCS.glob("kernels/*.md"), *DOCS.glob("learners/*.md")]
    for path in pages:
        assert re.findall(r"^## (.*)$", prose(path), re.MULTILINE) == SECTIONS, path
    for name in public_kernels_and_learners():
        assert any(re.search(rf"\b{name}\b", path.read_text("utf-8")) for path in pages), name


def test_plots_of_pages_are_those_of_the_benchmarks() -> None:
    plots = pytest.importorskip("benchmarks.plots").PLOTS
    drawn = {f"{name}_{title}.svg" for name, titles in plots.items() for title in titles}
    named = {
        plot
        for path in sources().values()
        for plot in re.findall(r"<!-- plot: (\S+)", path.read_text("utf-8"))
    }
    assert named
    assert named <= drawn


def test_drawings_show_the_kernel(tmp_path: Path) -> None:
    forest = drawings.page_forest()
    distinct = drawings.distinct_subtrees(forest)
    columns = drawings.columns_of(forest, distinct, drawings.classes_of(distinct))
    counts, masses = np.array(list(columns)).T, np.array(list(columns.values()))
    kernel = SubsetTree(drawings.DECAY, normalize=False)(forest)
    np.testing.assert_allclose(counts * masses @ counts.T, kernel, rtol=1e-14)
    named = set(re.findall(r"<!-- drawing: (\S+)", drawings.PAGE.read_text("utf-8")))
    assert {path.name for path in drawings.draw_all(tmp_path)} == named


# ------------------------------------------------------------------ the API reference


def test_the_reference_has_every_public_name() -> None:
    text = "\n".join(api_pages().values())
    for name in filbert.__all__:
        assert name == "__version__" or f"   {name}\n" in text
    for full_name in public_objects():
        assert f"   {full_name.rpartition('.')[2]}\n" in text


def test_every_public_name_has_an_example() -> None:
    missing = set()
    for full_name, value in public_objects().items():
        texts = [inspect.getdoc(value) or ""]
        if inspect.isclass(value):
            # Not of __firstlineno__, which has the example of int.
            members = (member for member in vars(value).values() if not isinstance(member, int))
            texts += [inspect.getdoc(member) or "" for member in members]
        if kind(value) != "data" and not any(">>>" in text for text in texts):
            missing.add(full_name.rpartition(".")[2])
    assert not missing


# What numpydoc may find: no extended summary, no example or "see also" of a method, and parameters
# that are described together.
ALLOWED = {"ES01", "EX01", "PR03", "PR04", "PR09", "SA01"}


def documented() -> list[str]:
    """The full names of public classes and functions, and of their own methods."""
    names = []
    for value in public_objects().values():
        if kind(value) == "data":
            continue
        home = f"{value.__module__}.{value.__qualname__}"  # type: ignore[attr-defined]
        names.append(home)
        for name, member in vars(value).items() if inspect.isclass(value) else ():
            own = member.fget if isinstance(member, property) else member
            if inspect.isfunction(getattr(own, "__func__", own)) and not name.startswith("_"):
                names.append(f"{home}.{name}")
    return sorted(set(names))


def is_record(name: str) -> bool:
    """Whether a name is a dataclass: its fields are described as attributes."""
    module, _, own = name.rpartition(".")
    found = sys.modules.get(module)
    return found is not None and is_dataclass(getattr(found, own))


def test_docstrings_are_valid() -> None:
    """Every public name has its parameters and its results described."""
    numpydoc = pytest.importorskip("numpydoc.validate")
    found = []
    for name in documented():
        checked = numpydoc.validate(name)
        codes = {code for code, _ in checked["errors"]} - ALLOWED
        if is_record(name):  # its fields are described as attributes
            codes -= {"PR01", "PR07"}
        if "Yields\n------" in checked["docstring"]:  # also of a function that returns a generator
            codes -= {"RT01"}
        found += [(name, code) for code in sorted(codes)]
    assert found == []


# ---------------------------------------------------------------- parameters

ROW = re.compile(r"^\| `(\w+)`(?: \([^|]*\))? \| ([^|]+?) \|")


def documented_defaults() -> list[tuple[str, str, str]]:
    """Return the class, the parameter and its default, for each row of a table of parameters."""
    rows = []
    for page in sorted([*DOCS.glob("learners/*.md"), *DOCS.glob("kernels/*.md")]):
        text = page.read_text("utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        for table in re.findall(r"^\| parameter \| default \|.*?(?:\n\n|\Z)", text, re.M | re.S):
            rows += [(title, *found) for line in table.splitlines() if (found := _cells(line))]
    return rows


def _cells(line: str) -> tuple[str, str] | None:
    found = ROW.match(line)
    return (found[1], found[2].strip("`")) if found else None


def test_the_tables_show_the_defaults() -> None:
    rows = documented_defaults()
    assert len(rows) > 30
    shown = {"10⁹": "1000000000.0", "8,192": "8192"}
    for name, parameter, default in rows:
        owner = getattr(filbert, name, None) or getattr(filbert.kernels, name)
        if parameter == "group":  # of fit
            continue
        expected = inspect.signature(owner).parameters[parameter].default
        text = shown.get(default, default)
        value = ast.literal_eval(text)
        assert value == expected, f"{name}: {parameter} is {expected!r}, the page says {default}"
