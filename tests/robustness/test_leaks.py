"""No operator keeps memory in any way of running, nor do loops and Programs; `make leaks` calls them more often."""

import pytest

from tests.helpers.kept_memory import growth
from tests.helpers.leak_cases import CASES, LOOPS

pytestmark = pytest.mark.not_on_reference  # what is compiled can lose memory

CALLS = (10, 40, 200)  # of each: more where something seems to be kept, for what is not a leak does not grow with them
OPERATORS = [name for name in CASES if name not in LOOPS]
GROUPS = 16


def repeated(calls):
    def repeat(times):
        for _ in range(times):
            for call in calls:
                call()

    return repeat


def keep_something(calls):
    """Return whether calls leave an object behind each, or 32 bytes, the least that malloc gives.

    Half as many count, too: what others have left may be released in the same round.
    """
    for times in CALLS:
        objects, size = growth(repeated(calls), times, times / 2, 16 * times)
        if objects < times / 2 and size < 16 * times:
            return False
    return True


@pytest.mark.parametrize("name", LOOPS)
def test_loops_and_programs_leave_nothing_behind(name):
    assert not keep_something([CASES[name]()])


@pytest.mark.parametrize("group", range(GROUPS))
def test_operators_leave_nothing_behind(group):
    """Many together, each in every way."""
    assert not keep_something([CASES[name]() for name in OPERATORS[group::GROUPS]])


@pytest.mark.parametrize(("count", "size"), [(100, 100), (10, 10_000)], ids=["objects", "bytes"])
def test_what_is_kept_would_be_seen(count, size):
    """Much more than what earlier tests have left, which may be released in the same round."""
    kept = []
    assert keep_something([lambda: kept.extend([bytes(size) for _ in range(count)])])
