"""Memory of the caller's arrays: a result that shares it cannot be written, unless sharing was asked for."""

from array import array

import numpy as np
import pytest
from hypothesis import given

import lodcore
from lodcore.operators.registry import OPS
from tests.helpers.draw import at_most
from tests.samples import SAMPLES

pytestmark = pytest.mark.not_on_reference  # results are made above the kernels

#: Elements of a TensorArray are shared, since `data_shared` says so; two others have no result of their own.
SHARED = {"tensor_array_read", "tensor_array_write", "refuse_empty", "checked"}


def writable(x):
    """Return an argument with arrays of its own, which can be written."""
    if type(x) is np.ndarray:
        return x.copy()
    return type(x)(map(writable, x)) if type(x) in (list, tuple) else x


def arrays_in(x):
    """List the arrays of an argument, or of a result."""
    if type(x) in (list, tuple):
        return [array for one in x for array in arrays_in(one)]
    if isinstance(x, lodcore.LoDTensor):
        return [x.values]
    return [x] if type(x) is np.ndarray else []


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - SHARED))
def test_a_result_cannot_be_written_where_it_shares_an_array_of_the_caller(name):
    @at_most(30)
    @given(SAMPLES[name].calls)
    def holds(drawn):
        given_args = [writable(x) for x in drawn.args]
        options = {key: x if key == "out" else writable(x) for key, x in drawn.kwargs.items()}
        operands = [x for x in (*given_args, *options.values()) if not isinstance(x, lodcore.LoDTensor)]
        theirs = [array for x in operands for array in arrays_in(x)]
        for made in arrays_in(OPS[name](*given_args, **options)):
            shared = any(np.shares_memory(made, x) for x in theirs)
            assert not (made.size and made.flags.writeable and shared)

    holds()


@pytest.mark.parametrize("copy", [lambda x: np.tile(x, 1), lambda x: np.take(x, 0, axis=0), lodcore.ops.sequence_fill])
def test_a_function_of_numpy_that_copies_copies_where_nothing_changes(copy):
    x = lodcore.array([[1, 2], [3]])
    made = copy(x)
    (made if type(made) is np.ndarray else made.values)[...] = 9
    assert x.tolist() == [[1, 2], [3]]


class OfItsOwnClass(np.ndarray):
    """A class of arrays, as `numpy.memmap` is one."""


def state_of_no_steps(x):
    return lodcore.nn.dynamic_rnn(lambda p, row, s: (s, s), None, lodcore.array([[1.0], [], [2.0]]), x)[1]


def fetched(x):
    with lodcore.Program() as program:
        given = lodcore.data("x", (3,), "float64")
        part = given[1:]
    return lodcore.Executor().run(program, {"x": x}, [given, part])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lodcore.lod_reset(x, target_lod=[0, 1, 3]),
        lambda x: lodcore.rows_to_level(x.reshape(3, 1)),
        lodcore.stop_gradient,
        lambda x: lodcore.nn.dropout(x, 0.0, np.random.default_rng(0)),
        lambda x: lodcore.cond(True, lambda v: v, lambda v: -v, x),
        lambda x: lodcore.ops.reshape(x, [3, 1]),
        state_of_no_steps,
        fetched,
    ],
)
@pytest.mark.parametrize("mapped", [True, False])
def test_a_result_cannot_be_written_where_it_shares_an_array_of_another_class(call, mapped, tmp_path):
    x = np.memmap(tmp_path / "x", "f8", "w+", shape=(3,)) if mapped else np.zeros(3).view(OfItsOwnClass)
    made = call(x)
    for one in made if type(made) in (list, tuple) else [made]:
        rows = one.values if isinstance(one, lodcore.LoDTensor) else one
        assert not (rows.flags.writeable and np.shares_memory(rows, x))
        assert type(rows) is np.ndarray
    assert x.flags.writeable


def test_results_within_a_program_and_a_gradient_may_be_written():
    with lodcore.Program() as program:
        v = lodcore.parameter(np.arange(6.0).reshape(3, 2), "v")
        part = lodcore.ops.reshape(v * 2.0, [2, 3])
        level = lodcore.rows_to_level(v * 3.0)
    for found in lodcore.Executor().run(program, fetch=[part, level]):
        arrays_in(found)[0][...] = 7
    found, _ = lodcore.vjp(lambda x: lodcore.rows_to_level(x * 2.0), np.arange(6.0).reshape(3, 2))
    found.values[...] = 7


@pytest.mark.parametrize(
    "kind", [memoryview, lambda x: memoryview(x)[::2], bytearray, lambda x: array("d", x.tolist())]
)
def test_a_result_cannot_be_written_where_it_shares_a_buffer_of_the_caller(kind):
    given = kind(np.arange(3.0))
    made = lodcore.lod_reset(given, target_lod=[0, len(given)])
    assert not (made.values.flags.writeable and np.shares_memory(made.values, np.asarray(given)))
    assert lodcore.lod_reset(kind(np.empty(0)), target_lod=[0, 0]).tolist() == [[]]
