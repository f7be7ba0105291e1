"""Every operator in two threads, for work of any size: the same bits, the same gradients, the same errors."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, vjp
from lodcore.base import threads
from lodcore.graph.gradients import differentiable, values_of
from lodcore.ops.registry import OPS
from lodcore.testing.rules import with_floats
from lodcore.testing.samples import bits, floats_of, fresh, sample_of, several
from tests.helpers.draw import at_most
from tests.helpers.wrong_calls import TABLE, assert_all_refused
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference

PARTS = 8  # of the table of errors: tests that run in parallel


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Let work of any size be divided among threads."""
    monkeypatch.setattr(threads, "WIDE", 1)
    yield
    lodcore.set_num_threads(1)


def in_threads(count, compute):
    lodcore.set_num_threads(count)
    try:
        with np.errstate(all="ignore"):
            return compute()
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return type(error), str(error)
    finally:
        lodcore.set_num_threads(1)


def gradients(op, sample):
    """Compute a call under `vjp`, and its gradients: None where results are not tensors."""
    floats = floats_of(sample)

    def run(*variables):
        given = with_floats(fresh(sample), iter(variables))
        return op(*given.args, **given.kwargs)

    outputs, pullback = vjp(run, *floats)
    if not all(isinstance(y, (np.ndarray, np.generic, LoDTensor)) for y in several(outputs)):
        return None
    return bits(pullback(*[wave(values_of(y)) if differentiable(y) else None for y in several(outputs)]))


def wave(values):
    """Make a cotangent that differs from entry to entry."""
    return np.cos(np.arange(values.size)).reshape(values.shape).astype(values.dtype)


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - {"dropout", "sample_places"}))  # these draw random numbers
@at_most(12)
@given(data=st.data())
def test_the_same_bits(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].calls))

    def call():
        given = fresh(sample)
        return bits(op(*given.args, **given.kwargs))

    assert in_threads(2, call) == in_threads(1, call)
    if op.gradient and floats_of(sample):
        assert in_threads(2, lambda: gradients(op, sample)) == in_threads(1, lambda: gradients(op, sample))


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_wrong_calls_of_operators(name):
    lodcore.set_num_threads(2)
    assert_all_refused(SAMPLES[name].errors)


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_calls(part):
    lodcore.set_num_threads(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1, 2]])
    assert_all_refused(TABLE[part::PARTS], matrix=matrix)
