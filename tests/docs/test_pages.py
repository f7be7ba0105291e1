"""The pages of the site: public names are in the reference, every page is reachable, and every link has a target."""

import re
from pathlib import Path
from types import ModuleType

import pytest

import lodcore
import lodcore.batching
import lodcore.errors
import lodcore.graph
import lodcore.interop
import lodcore.nn

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "generated"} & set(path.relative_to(DOCS).parts))


def public(module: ModuleType) -> set[str]:
    """List the functions and classes that a module exports."""
    names = {name for name in dir(module) if not name.startswith("_")}
    values = {name: getattr(module, name) for name in names}
    return {name for name, value in values.items() if (getattr(value, "__module__", None) or "").startswith("lodcore")}


@pytest.mark.parametrize(
    "module", [lodcore, lodcore.batching, lodcore.errors, lodcore.graph, lodcore.nn], ids=lambda m: m.__name__
)
def test_every_public_name_is_in_the_reference_or_the_page_of_operators(module):
    listed = set()
    for page in [*DOCS.glob("reference/*.md"), DOCS / "operators.md"]:
        text = page.read_text(encoding="utf-8")
        listed |= set(re.findall(r"^   (\w+)$", text, re.M)) | set(re.findall(r"^\| `(\w+)`", text, re.M))
    assert public(module) - listed == set()


def prose(page: Path) -> str:
    """Return the text of a page without its code."""
    return re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_of_the_pages_lead_to_files_that_exist(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)(?:#[^)]*)?\)", prose(page)):
        assert (page.parent / target).exists(), target


def test_every_page_is_in_the_tables_of_contents():
    reached, ahead = set(), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            found = {path for entry in entries for path in page.parent.glob(f"{entry}.md")}
            ahead += {path.resolve() for path in found} - reached
    assert {page.resolve() for page in PAGES} == reached


def test_every_operator_is_in_the_reference():
    tables = re.findall(r"^## ([^:\n]*)", (DOCS / "operators.md").read_text(encoding="utf-8"), re.M)
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("reference/*.rst"))
    shown = re.findall(r"operator-reference:: (.*)", text)
    assert sorted(shown) == sorted(tables)
