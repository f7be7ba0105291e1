"""No operator leaks memory in any way of running, nor do loops and Programs; `make leaks` makes more calls."""

import gc

import pytest

from tests.helpers.kept_memory import growth
from tests.helpers.leak_cases import CASES, LOOPS

pytestmark = pytest.mark.not_on_reference  # only compiled code can leak

CALLS = (10, 40, 200)  # of each: more if something seems to be kept, since anything but a leak does not grow with them
OPERATORS = [name for name in CASES if name not in LOOPS]
GROUPS = 16


@pytest.fixture(scope="module", autouse=True)
def collected():
    """Exclude the objects that earlier tests have left from the collections of every round, which they would slow."""
    gc.collect()
    gc.freeze()


def repeated(calls):
    def repeat(times):
        for _ in range(times):
            for call in calls:
                call()

    return repeat


def keep_something(calls):
    """Return whether calls leak an object each, or 32 bytes, the least that malloc allocates.

    Half as many count, too: memory of others may be released in the same round.
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
    """Many together, each in every way of running."""
    assert not keep_something([CASES[name]() for name in OPERATORS[group::GROUPS]])


@pytest.mark.parametrize(("count", "size"), [(100, 100), (10, 10_000)], ids=["objects", "bytes"])
def test_what_is_kept_would_be_seen(count, size):
    """Much more than earlier tests have left, which may be released in the same round."""
    kept = []
    assert keep_something([lambda: kept.extend([bytes(size) for _ in range(count)])])
