"""Generates the list of kernels in docs/kernels.md from docstrings: `python -m tests.builds.kernels_page`."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from lodcore import kernels
from tests.builds.tree import ROOT

PAGE = ROOT / "docs/kernels.md"
MARK = "## Every kernel\n"
WIDTH = 120


def functions(module: Any) -> dict[str, Callable[..., Any]]:
    """Return the public functions of a module of kernels."""
    found = {name: thing for name, thing in vars(module).items() if not name.startswith("_") and callable(thing)}
    return {name: thing for name, thing in found.items() if not inspect.isclass(thing)}


def sections(doc: str) -> dict[str, str]:
    """Split a docstring at its headings; the first part has none."""
    pieces = re.split(r"^(\w+)\n-+\n", doc, flags=re.MULTILINE)
    return dict(zip(["", *pieces[1::2]], [piece.strip() for piece in pieces[::2]], strict=True))


def entries(section: str) -> Iterator[tuple[str, str]]:
    """List the entries of a section: the unindented line, and its description."""
    for entry in re.split(r"\n(?=\S)", section):
        head, _, text = entry.partition("\n")
        yield head.strip(), " ".join(textwrap.dedent(text).split())


def filled(text: str, indent: str = "") -> list[str]:
    """Wrap a paragraph."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def about(module: str, name: str, function: Callable[..., Any]) -> list[str]:
    """Describe one kernel."""
    parts = sections(inspect.getdoc(function) or "")
    lines = [f"#### `{module}.{name}{inspect.signature(function)}`", ""]
    for paragraph in parts.pop("").split("\n\n"):
        lines += [*filled(" ".join(paragraph.split())), ""]
    for title, section in parts.items():
        if title == "Notes":
            lines += ["", *filled(" ".join(section.split()))]
            continue
        for head, text in entries(section):
            names, _, kind = head.partition(" : ")
            shown = ", ".join(f"`{name}`" for name in names.split(", "))
            end = ":" if text else "."
            said = [f"- {shown}: {kind}.", text] if title == "Parameters" else [f"- {title} {head}{end}", text]
            lines += filled(" ".join(said).rstrip(), "  ")
    return [*lines, ""]


def listing() -> str:
    """Describe all kernels."""
    lines = [MARK]
    for module in kernels.__all__:
        found = import_module(f"lodcore.kernels.{module}")  # not those of another package of kernels
        title, _, rest = inspect.cleandoc(found.__doc__).partition("\n\n")
        lines += [f"### {module}", "", *filled(" ".join(title.split())), ""]
        for paragraph in rest.split("\n\n") if rest else []:
            lines += [*filled(" ".join(paragraph.split())), ""]
        for name, function in functions(found).items():
            lines += about(module, name, function)
    return "\n".join(lines).rstrip() + "\n"


def page() -> str:
    """Return the expected docs/kernels.md: the part that is written by hand, then the list."""
    return PAGE.read_text(encoding="utf-8").partition(MARK)[0] + listing()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
