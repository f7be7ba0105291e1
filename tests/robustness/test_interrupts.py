"""Ctrl-C at some instructions of each call that holds state; `make hunt` tries all of them."""

import pytest

import lodcore
from lodcore.kernels import loading
from lodcore.nn import kept_cells
from tests.robustness.interrupts import CASES, failures, interrupted

pytestmark = pytest.mark.not_on_reference
PLACES = 6


@pytest.fixture(autouse=True)
def _one_thread():
    yield
    lodcore.set_num_threads(1)


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_call_leaves_no_trace_in_later_ones(name):
    assert failures(name, PLACES)[1] == {}


def test_locks_are_released_whatever_instruction_is_interrupted():
    """Also between the acquisition of a lock and the first instruction that it protects."""
    for at in range(1, 60):
        error = interrupted(lambda: kept_cells.take(None), at)
        assert not kept_cells._lock._is_owned(), at
    assert error is None


def test_lazy_loading_interrupted_at_any_instruction_releases_its_lock():
    """Otherwise forks of other threads would wait for ever."""
    for at in range(1, 400):
        interrupted(lambda: loading.load("lodcore.nn"), at)
        assert not loading._loading, at
        if loading._lock._is_owned():  # stopped between a body and its exit, where no signal is handled
            loading._lock.release()
