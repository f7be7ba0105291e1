"""Writes the names of other libraries into the pages "Coming from": `python -m tests.builds.other_names_pages`."""

import re
from pathlib import Path

from lodcore.base.other_names import ATTRIBUTES, FUNCTIONS, NAMES
from tests.builds.tree import ROOT

MARK = "## Names that lodcore does not have\n"
SAYS = "The error for each of these names says the same. `x` and `y` are LoDTensors of one structure."
#: The file of each page in docs/coming-from, by its word in the table.
PAGES = {
    "awkward": "awkward",
    "numpy": "numpy",
    "paddle": "paddle",
    "pandas": "pandas-groupby",
    "tensorflow": "tensorflow-ragged",
    "torch": "torch",
}


def path_of(page: str) -> Path:
    """Return the file of a page."""
    return ROOT / "docs/coming-from" / f"{PAGES[page]}.md"


def rows(page: str) -> dict[str, str]:
    """Return the names of a page, with what to use instead of them."""
    found = {f"lodcore.{name}": instead for name, (instead, pages) in NAMES.items() if page in pages.split()}
    found |= {f"x.{name}": instead for name, (instead, pages) in ATTRIBUTES.items() if page in pages.split()}
    return found | ({f"np.{name}": instead for name, instead in FUNCTIONS.items()} if page == "numpy" else {})


def table(page: str) -> str:
    """Return the section of a page."""
    lines = [MARK, SAYS, "", "| name | use |", "| --- | --- |"]
    for name, instead in sorted(rows(page).items(), key=lambda row: row[0].lower()):
        code, _, words = instead.partition("; ")
        words = re.sub(r"((lodcore|steps|x)\.\w[\w.]*(\([^)]*\))?|axis=\d)", r"`\1`", words)
        lines += [f"| `{name}` | `{code}`{'; ' * bool(words)}{words} |"]
    return "\n".join(lines) + "\n"


def page(page: str) -> str:
    """Return the expected text of a page: the part that is written by hand, then the table."""
    return path_of(page).read_text(encoding="utf-8").partition(MARK)[0].rstrip() + "\n\n" + table(page)


if __name__ == "__main__":
    for each in PAGES:
        path_of(each).write_text(page(each), encoding="utf-8")
