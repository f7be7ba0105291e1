"""Completes docs/operators.md: the LoD of the result and the gradient of each operator, which the registry knows."""

from pathlib import Path

import lodcore.graph  # noqa: F401  its operators are registered, too
from lodcore.operators.registry import OPS

PAGE = Path(__file__).parents[2] / "docs/operators.md"


def cells_of(row):
    """List the cells of a row of a table."""
    return [cell.strip() for cell in row.strip("|").split("|")]


def completed(page):
    """Return the page with the last two columns of each row, whose first two are written by hand."""
    return "\n".join([_row(line) if line[:3] == "| `" else line for line in page.split("\n")])


def _row(line):
    name, levels, *_ = cells_of(line)
    op = OPS[name.strip("`")]
    rule = "its own, see its docstring" if op.lod_rule is None else op.lod_rule.text
    return f"| {name} | {levels} | {rule} | {'yes' if op.gradient else 'no'} |"


if __name__ == "__main__":
    PAGE.write_text(completed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
