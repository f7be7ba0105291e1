"""Ctrl-C at some instructions of each call that holds state; `make hunt` tries all of them."""

import pytest

import lodcore
from tests.robustness.interrupts import CASES, failures

pytestmark = pytest.mark.not_on_reference
PLACES = 6


@pytest.fixture(autouse=True)
def _one_thread():
    yield
    lodcore.set_num_threads(1)


@pytest.mark.parametrize("name", CASES)
def test_what_follows_an_interrupt_is_as_if_nothing_had_been_called(name):
    assert failures(name, PLACES)[1] == {}
