"""Builds the site: ``python docs/build.py`` writes build/site/html, without the network.

Needs Filbert and ``pip install ".[site]"``. Warnings are errors, and links inside the site are
checked. ``--no-gallery`` leaves the examples of the gallery unrun, for a quick look.
"""

import argparse
import shutil
import sys
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(ROOT))  # for docs.site and the benchmarks

BUILD = ROOT / "build" / "site"


def generated_pages(source: Path) -> dict[str, str]:
    """Return the pages that are made from code and results, and draw their pictures."""
    from benchmarks.page import drawn_plots, load_results, page
    from docs.site.drawings import draw_all
    from docs.site.reference import api_pages

    draw_all(source / "drawings")
    results = load_results()
    plots = drawn_plots(results, source / "plots")
    plots = {name: [f"plots/{plot}" for plot in found] for name, found in plots.items()}
    return {**api_pages(), "benchmarks.md": page(results, plots)}


def build(arguments: argparse.Namespace) -> int:
    """Build the site; return 0 if there was no warning and no broken link."""
    from sphinx.cmd.build import main as sphinx

    from docs.site.links import broken_links
    from docs.site.stage import stage

    if arguments.clean:
        shutil.rmtree(BUILD, ignore_errors=True)
    source, html = BUILD / "source", BUILD / "html"
    source.mkdir(parents=True, exist_ok=True)
    stage(source, generated_pages(source))
    options = ["-b", "html", "-c", str(DOCS / "site"), "-d", str(BUILD / "doctrees")]
    options += [] if arguments.keep_warnings else ["--fail-on-warning"]
    if arguments.no_gallery:
        options += ["-D", "sphinx_gallery_conf.plot_gallery=0"]
    status = sphinx([*options, "--quiet", str(source), str(html)])
    problems = broken_links(html)
    print("\n".join(problems), file=sys.stderr)
    return status or bool(problems)


def main() -> None:
    """Build the site as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clean", action="store_true", help="begin with nothing")
    parser.add_argument("--no-gallery", action="store_true", help="do not run the examples")
    parser.add_argument("--keep-warnings", action="store_true", help="go on after a warning")
    status = build(parser.parse_args())
    print(f"{BUILD / 'html' / 'index.html'} ({time.process_time():.0f} CPU seconds)")
    sys.exit(status)


if __name__ == "__main__":
    main()
