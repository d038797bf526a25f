"""Settings of Sphinx for the site. `docs/build.py` calls Sphinx with this folder as `-c`."""

import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))  # the extensions of this folder are docs.site.*

_project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
project = "Filbert"
author = "The Filbert authors"
version = release = _project["version"]
language = "en_GB"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docs.site.formulas",
    "docs.site.own_members",
]
root_doc = "index"
highlight_language = "none"  # a block without a language is output
templates_path = [str(HERE / "templates")]  # autosummary looks in the folder of the sources
exclude_patterns = ["gallery/**/*.py", "gallery/**/*.md5", "gallery/**/*.ipynb"]
nitpicky = False
show_warning_types = True

# ------------------------------------------------------------------ pages

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

# ------------------------------------------------------------------ the API

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say the types
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# ------------------------------------------------------------------ the gallery

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1000,
    "plot_gallery": True,
    "remove_config_comments": True,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib", "docs.site.gallery_style.reset"),
    "thumbnail_size": (480, 336),
    "doc_module": ("filbert",),
    "backreferences_dir": "gallery/backreferences",
    "prefer_full_module": {"filbert"},
}

# ------------------------------------------------------------------ the looks

html_theme = "pydata_sphinx_theme"
html_title = "Filbert"
html_static_path = ["static"]
html_css_files = ["filbert.css"]
html_favicon = "static/filbert.svg"
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options: dict[str, Any] = {
    "logo": {
        "image_light": "_static/filbert.svg",
        "image_dark": "_static/filbert.svg",
        "text": "Filbert",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_depth": 3,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": []}
html_context = {"default_mode": "auto"}
copyright = "the Filbert authors, BSD 3-Clause licence"
