"""docs/operators.md agrees with the registry."""

import pytest

import lodcore
import lodcore.graph
from lodcore import ops
from lodcore.operators.registry import OPS
from tests.builds.operators_page import PAGE, cells_of, completed
from tests.helpers.tables import for_each

ROWS = [cells_of(line) for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
pytestmark = pytest.mark.not_on_reference


def test_every_operator_is_listed_once():
    listed = [row[0].strip("`") for row in ROWS]
    assert sorted(listed) == sorted(OPS)
    *_, few, parts = PAGE.read_text(encoding="utf-8").split("\n## ")
    for name in listed:
        where = few if name in ops.__all__ else parts
        assert name in lodcore.__all__ or f"| `{name}` |" in where, name


def test_the_last_columns_are_what_the_registry_says():
    page = PAGE.read_text(encoding="utf-8")
    assert completed(page) == page
    row = next(line for line in page.splitlines() if line.startswith("| `sequence_pool`"))
    assert completed("| `sequence_pool` | any level of any depth |") == row


@for_each("row", ROWS)
def test_a_row_says_whether_an_operator_acts_on_any_level(row):
    name, levels, *_ = row
    op = OPS[name.strip("`")]
    assert ("level" in op.parameters or "ref_level" in op.parameters) == (
        "level of" in levels or "last level only" in levels
    )
