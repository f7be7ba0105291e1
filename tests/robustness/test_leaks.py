"""No operator leaks memory in any way of running, nor do loops and Programs; `make leaks` makes more calls."""

import gc

import numpy as np
import pytest

from lodcore import LoDTensor, beam_search, sequence_concat, sequence_erase, sequence_sort, vjp
from lodcore.batching import pack_plan
from tests.helpers.kept_memory import growth
from tests.helpers.leak_cases import CASES, LOOPS
from tests.helpers.plans import METHODS

pytestmark = pytest.mark.not_on_reference  # only compiled code can leak

CALLS = (10, 40, 200)  # of each: more if something seems to be kept, since anything but a leak does not grow with them
OPERATORS = [name for name in CASES if name not in LOOPS]
GROUPS = 64


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
def test_loops_and_programs_leak_no_objects(name):
    assert not keep_something([CASES[name]()])


@pytest.mark.parametrize("group", range(GROUPS))
def test_calls_of_operators_keep_no_memory(group):
    """In every way of running: one after the other, as what NumPy and Python keep adds up over many."""
    assert not [name for name in OPERATORS[group::GROUPS] if keep_something([CASES[name]()])]


LENGTHS = [5, 7, 5, 2, 4, 2, 5, 1, 6, 10]
X = LoDTensor.from_lengths(np.arange(47), LENGTHS)
HOLLOW = LoDTensor.from_lengths(np.zeros((6, 0)), [2, 0, 3, 1])


def beam_of(size):
    """Select from sequences of so many hypotheses, each with three candidates."""
    ids = LoDTensor.from_lengths(np.tile([3, 4, 5], (size, 1)), [1], [size])
    scores = ids.with_values(np.arange(3.0 * size).reshape(size, 3))
    before = LoDTensor.from_lengths(np.ones((size, 1), int), [1], [size])
    return beam_search(before, before.with_values(np.zeros((size, 1))), ids, scores, size, 0)


#: Calls whose kernels allocate memory for some sizes or arguments only.
OF_SOME_SIZES = {
    **{f"{name}, at most {most}": lambda name=name, most=most: pack_plan(LENGTHS, 10, name, max_items=most)
       for name in METHODS for most in (None, 2)},
    **{f"a beam of {size}": lambda size=size: beam_of(size) for size in (2, 40, 300)},
    "few tokens": lambda: sequence_erase(X, [1, 2]),
    "many tokens": lambda: sequence_erase(X, list(range(20))),
    "tokens far from each other": lambda: sequence_erase(X, [*range(20), 2**60]),
    "joined rows of no width": lambda: sequence_concat([HOLLOW, HOLLOW]),
    "their derivatives": lambda: vjp(lambda x: sequence_concat([x, x]), HOLLOW)[1](np.zeros((12, 0))),
    "sorted rows": lambda: (sequence_sort(X), sequence_sort(LoDTensor.from_lengths(np.zeros((9000, 12)), [9000]))),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SOME_SIZES)
def test_memory_for_some_sizes_is_given_back(name):
    assert not keep_something([OF_SOME_SIZES[name]])


@pytest.mark.parametrize(("count", "size"), [(100, 100), (10, 10_000)], ids=["objects", "bytes"])
def test_keep_something_finds_kept_memory(count, size):
    """Much more than earlier tests have left, which may be released in the same round."""
    kept = []
    assert keep_something([lambda: kept.extend([bytes(size) for _ in range(count)])])
