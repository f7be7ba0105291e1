"""docs/operators.md agrees with the registry."""

import pytest

from lodcore.operators.registry import OPS
from tests.builds.operators_page import FEW, PAGE, PARTS, cells_of, completed, name_of, table_of
from tests.helpers.tables import for_each

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [cells_of(line) for line in TEXT.splitlines() if name_of(line)]
#: Rows that are what is guessed for a new operator: with a level, without one, of the last level, public nowhere.
GUESSED = ["sequence_std", "sequence_argsort", "relu", "run_lengths", "cast", "sequence_place"]
pytestmark = pytest.mark.not_on_reference


def test_every_operator_is_listed_once_in_the_table_that_says_where_it_is_public():
    assert sorted(row[0].strip("`") for row in ROWS) == sorted(OPS), "run `make pages`"
    for table in TEXT.split("\n## "):
        for name in filter(None, map(name_of, table.splitlines())):
            wanted = table_of(name)
            assert table.startswith(wanted) if wanted else not table.startswith((FEW, PARTS)), name


def test_last_columns_of_the_page_equal_the_registry():
    assert completed(TEXT) == TEXT, "run `make pages`"


@for_each("name", GUESSED)
def test_a_row_that_is_missing_is_written_into_the_table_of_its_file(name):
    line = next(line for line in TEXT.splitlines() if name_of(line) == name)
    made = completed(TEXT.replace(line + "\n", ""))
    assert sorted(made.splitlines()) == sorted(TEXT.splitlines())
    headings = [part.partition("\n")[0] for text in (TEXT, made) for part in text.split("\n## ") if line in part]
    assert headings[0] == headings[1]


@for_each("row", ROWS)
def test_a_row_says_whether_an_operator_acts_on_any_level(row):
    name, levels, *_ = row
    op = OPS[name.strip("`")]
    assert ("level" in op.parameters or "ref_level" in op.parameters) == (
        "level of" in levels or "last level only" in levels
    )
