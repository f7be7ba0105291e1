"""How `make docs` builds the site: MyST, numpydoc, and the theme that NumPy uses; no network is needed."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

import lodcore  # noqa: E402

project = "lodcore"
author = "the lodcore developers"
copyright = author
version = release = lodcore.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "operator_reference",
    "pictures",
    "prompts",
    "trend_tables",
]
exclude_patterns = ["_build", "_extensions", "gallery", "**/GALLERY_HEADER.rst", "generated/gallery/*.ipynb"]
smartquotes = False
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages of the repository are read on their own, too

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "copyfile_regex": "",
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 60,
}

html_theme = "pydata_sphinx_theme"
html_title = "lodcore"
html_static_path = ["_static"]
html_css_files = ["lodcore.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "tutorial": [], "levels-and-axes": [], "performance": [], "trend": []}
