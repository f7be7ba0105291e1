"""Ctrl-C at some instructions of each call that holds state; `make hunt` tries all of them."""

import os

import pytest

import lodcore
from lodcore.base import files
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


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of files that nobody closes
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not list descriptors there")
def test_no_descriptor_is_lost_whatever_instruction_is_interrupted(tmp_path):
    calls = {
        "create": lambda: files.create(str(tmp_path / "new")).close(),
        "regular": lambda: files.regular("", str(tmp_path / "old")).close(),
        "lock": lambda: files.lock(str(tmp_path / "lock")).close(),
        "sync_folder": lambda: files.sync_folder(str(tmp_path)),
    }
    (tmp_path / "old").touch()
    before = len(os.listdir("/proc/self/fd"))
    for name, call in calls.items():
        for at in range(1, 250):
            files.remove(str(tmp_path / "new"))
            error = interrupted(call, at) and KeyboardInterrupt  # not the error, whose frames hold files
            assert len(os.listdir("/proc/self/fd")) == before, (name, at)
            if files._guard._is_owned():  # stopped between a body and its exit, where no signal is handled
                files._guard.release()
        assert error is None, name
