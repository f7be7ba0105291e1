"""Completes docs/operators.md from the registry: rows of new operators, the LoD of the result, and the gradient.

A new operator gets its row beside those of the same file. What it acts on is guessed, and kept if it is changed by
hand.
"""

from pathlib import Path

import lodcore
import lodcore.graph  # its operators are registered, too
from lodcore import ops
from lodcore.operators.registry import OPS, Op

PAGE = Path(__file__).parents[2] / "docs/operators.md"
#: The last two tables: of operators that `lodcore` does not list, and of those that are public nowhere.
FEW, PARTS = "For few uses", "Parts that"


def cells_of(row):
    """List the cells of a row of a table."""
    return [cell.strip() for cell in row.strip("|").split("|")]


def name_of(line):
    """Return the name of the operator of a row, "" for other lines."""
    return cells_of(line)[0].strip("`") if line[:3] == "| `" else ""


def table_of(name):
    """Return the beginning of the heading of a table that an operator must be in, "" for any but the last two."""
    if name in lodcore.__all__:
        return ""
    return FEW if name in ops.__all__ else PARTS


def completed(page):
    """Return the page with a row of each operator, whose last two columns are derived."""
    lines = page.split("\n")
    for name in sorted(OPS.keys() - {*map(name_of, lines)}):
        lines.insert(_place(lines, name), f"| `{name}` | {_acts_on(OPS[name])} |")
    return "\n".join([_row(line) if name_of(line) else line for line in lines])


def _acts_on(op: Op) -> str:
    """Guess what an operator acts on."""
    if "level" in op.parameters or "ref_level" in op.parameters:
        return "any level of any depth"
    if op.lod_rule is not None and "last level" in op.lod_rule.text:
        return "the last level; coarser ones stay"
    return "rows; every depth"


def _place(lines, name):
    """Return the place of a new row: below those of the same file, or folder, in the table that has most of them."""
    rows, heading, own = [], "", OPS[name].__wrapped__.__module__
    for place, line in enumerate(lines):
        heading = line.removeprefix("## ") if line[:3] == "## " else heading
        one = name_of(line)
        if one and table_of(one) == table_of(name):
            rows.append((place, heading, OPS[one].__wrapped__.__module__))
    for beginning in (own, own.rpartition(".")[0], ""):
        if found := [(place, heading) for place, heading, module in rows if module.startswith(beginning)]:
            headings = [heading for _, heading in found]
            return max(place for place, heading in found if heading == max(headings, key=headings.count)) + 1
    raise ValueError(f"docs/operators.md has no table for {name}")


def _row(line):
    name, acts_on, *_ = cells_of(line)
    op = OPS[name.strip("`")]
    rule = "its own, see its docstring" if op.lod_rule is None else op.lod_rule.text
    return f"| {name} | {acts_on} | {rule} | {'yes' if op.gradient else 'no'} |"


if __name__ == "__main__":
    PAGE.write_text(completed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE)
