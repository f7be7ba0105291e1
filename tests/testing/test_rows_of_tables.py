"""`for_each` calls a test with every row of a table, and names all rows that fail."""

import pytest

from tests.helpers.tables import for_each

SEEN = []


@pytest.mark.parametrize("first", [1, 2])
@for_each(("left", "right"), [(3, 4), (5, 6)])
@for_each("last", "ab")
def test_rows_of_two_tables_and_parameters(first, left, right, last, tmp_path):
    assert tmp_path.exists()
    SEEN.append((first, left, right, last))


def test_rows_of_two_tables_and_parameters_combine(tmp_path):
    wanted = [(first, *pair, last) for first in (1, 2) for pair in ((3, 4), (5, 6)) for last in "ab"]
    SEEN.clear()
    for first in (1, 2):
        test_rows_of_two_tables_and_parameters(first=first, tmp_path=tmp_path)
    assert wanted == SEEN


def test_all_failures_are_named():
    @for_each("number", range(6))
    def check(number):
        if number == 4:
            with pytest.raises(ValueError, match="never"):
                pass
        assert number % 2 == 0, "odd"

    with pytest.raises(AssertionError, match=r"(?s)^4 of 6 fail\n\n1: AssertionError: odd.*3: .*4: Failed: .*5: "):
        check()


def test_a_table_without_rows_is_an_error():
    with pytest.raises(AssertionError, match="without rows"):
        for_each("number", [])
