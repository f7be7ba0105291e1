"""Every operator in two threads, for work of any size: the same bits, the same gradients, the same errors."""

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, ops, vjp
from lodcore.base import threads
from lodcore.graph.gradients.cotangents import differentiable, values_of
from lodcore.operators.registry import OPS
from lodcore.testing.rules import with_floats
from lodcore.testing.samples import bits, floats_of, fresh, sample_of, several
from tests.helpers.draw import at_most
from tests.helpers.tables import for_each
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
def test_results_in_two_threads_have_the_same_bits(name, data):
    op, sample = OPS[name], sample_of(data.draw(SAMPLES[name].calls))

    def call():
        given = fresh(sample)
        return bits(op(*given.args, **given.kwargs))

    assert in_threads(2, call) == in_threads(1, call)
    if op.gradient and floats_of(sample):
        assert in_threads(2, lambda: gradients(op, sample)) == in_threads(1, lambda: gradients(op, sample))


@for_each("name", sorted(SAMPLES))
def test_wrong_calls_of_operators_in_two_threads_raise_the_same_errors(name):
    """All wrong calls of all operators take seconds."""
    lodcore.set_num_threads(2)
    assert_all_refused(SAMPLES[name].errors)


@pytest.mark.parametrize("part", range(PARTS))
def test_wrong_calls_of_the_error_table_in_two_threads_raise_the_same_errors(part):
    lodcore.set_num_threads(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[1, 2]])
    assert_all_refused(TABLE[part::PARTS], matrix=matrix)


MANY = {  # of rows, in more than one run or block per thread
    "layer_norm": lambda x: ops.layer_norm(x, np.linspace(1, 2, 3), np.ones(3)),
    "topk": lambda x: ops.sequence_topk(x, 2)[0],
    "places of topk": lambda x: ops.sequence_topk(x, 2)[1],
    "sort": lambda x: ops.sequence_sort(x, descending=True),
    "rolling": lambda x: ops.sequence_rolling(x, 3, "max", 1),
    "average": lambda x: ops.sequence_moving_average(x, 0.3),
    "pool": lambda x: ops.sequence_pool(x, "sum"),
    "last": lambda x: ops.sequence_pool(x, "last"),
    "max": lambda x: ops.sequence_pool(x, "max"),
    "softmax": ops.sequence_softmax,
    "logsumexp": ops.sequence_logsumexp,
    "cumsum": ops.sequence_cumsum,
    "product": lambda x: ops.sequence_accumulate(x, np.multiply),
    "shift": lambda x: ops.sequence_shift(x, 2, 1.5),
    "row_conv": lambda x: ops.row_conv(x, np.ones((3, 3))),
    "pad": lambda x: ops.sequence_pad(x)[0],
    "quantile": lambda x: ops.sequence_quantile(x, 0.3),
    "enumerate": lambda x: ops.sequence_enumerate(x.with_values(np.arange(x.num_rows)), 3, 7),
}


@for_each(("name", "count"), [(name, count) for name in MANY for count in (257, 600)])
def test_results_of_many_rows_in_threads_have_the_same_bits(name, count):
    lengths = np.tile([3, 0, 1, 7, 40], count // 51 + 1)
    lengths = np.append(lengths[np.cumsum(lengths) <= count], 0)
    lengths[-1] = count - lengths.sum()
    x = LoDTensor.from_lengths(np.cos(np.arange(3.0 * count)).reshape(count, 3), lengths)

    def call():
        out, pullback = vjp(MANY[name], x)
        values = values_of(out)
        return bits(out), bits(pullback(wave(values))) if values.dtype.kind == "f" else None

    alone = in_threads(1, call)
    assert len(alone) == 2
    assert alone[0] not in (TypeError, ValueError)
    assert all(in_threads(threads, call) == alone for threads in (2, 3))


ROWS = np.sin(np.arange(120.0)).reshape(40, 3)
PARTED = LoDTensor.from_lengths(ROWS, [7, 0, 12, 1, 20])
#: Calls whose work is divided among threads, with enough rows for several parts.
CALLS = {
    "cross_entropy": lambda x: lodcore.cross_entropy(x, np.arange(40) % 3),
    "cross_entropy, smoothed": lambda x: lodcore.cross_entropy(x, np.arange(40) % 3, 0.25),
    "softmax": lambda x: lodcore.sequence_softmax(PARTED.with_values(x)),
    "lookup_table": lambda x: lodcore.lookup_table(x, np.arange(80) * 7 % 40, padding_idx=5),
    "lookup_table of a matrix": lambda x: lodcore.lookup_table(x, np.arange(80).reshape(20, 4) % 40, padding_idx=-1),
    "embedding_bag": lambda x: lodcore.embedding_bag(x, PARTED.with_values(np.arange(40) * 3 % 40), "max"),
    "sequence_var": lambda x: ops.sequence_var(PARTED.with_values(x), 1),
    "sequence_expand_as": lambda x: lodcore.sequence_expand_as(x[:5], PARTED),
    "dot_attention": lambda x: lodcore.nn.dot_attention(x[:5], PARTED.with_values(x))[0],
    "linear": lambda x: ops.linear(x, ROWS[:3], ROWS[0]),
    "sequence_reverse": lambda x: lodcore.sequence_reverse(PARTED.with_values(x)),
}


@for_each(("name", "dtype"), product(CALLS, ("f4", "f8")))
def test_results_and_gradients_of_work_cut_into_many_parts_have_the_same_bits(name, dtype):
    def both():
        found, back = vjp(CALLS[name], ROWS.astype(dtype))
        return bits(found), bits(back(wave(values_of(found))))

    alone = in_threads(1, both)
    assert isinstance(alone[0], tuple)
    for count in (2, 3, 7):
        assert in_threads(count, both) == alone
