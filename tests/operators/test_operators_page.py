"""docs/operators.md agrees with the registry."""

from pathlib import Path

import pytest

import lodcore
import lodcore.graph
from lodcore import ops
from lodcore.operators.registry import OPS
from tests.helpers.tables import for_each

PAGE = Path(__file__).parents[2] / "docs/operators.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line[:3] == "| `"
]
pytestmark = pytest.mark.not_on_reference


def test_every_operator_is_listed_once():
    listed = [row[0].strip("`") for row in ROWS]
    assert sorted(listed) == sorted(OPS)
    *_, few, parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    for name in listed:
        where = few if name in ops.__all__ else parts
        assert name in lodcore.__all__ or f"| `{name}` |" in where, name


@for_each("row", ROWS)
def test_a_row_is_what_the_registry_says(row):
    name, levels, rule, gradient = row
    op = OPS[name.strip("`")]
    assert rule == ("its own, see its docstring" if op.lod_rule is None else op.lod_rule.text)
    assert gradient == ("yes" if op.gradient else "no")
    assert ("level" in op.parameters or "ref_level" in op.parameters) == (
        "level of" in levels or "last level only" in levels
    )
