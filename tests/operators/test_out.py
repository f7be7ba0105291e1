"""Requirements of `out`: the dtype and shape of the result, aligned, and not overlapping any input."""

import numpy as np
import pytest

import lodcore
from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import GraphError, LoDTensor, SparseTensor, TensorArray, ops
from lodcore.graph import Executor, Program, data
from lodcore.operators.registry import OPS
from lodcore.testing.samples import Sample, several, with_tensors
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # `out` is checked before any kernel runs

X = LoDTensor.from_lengths(np.arange(1.0, 11.0).reshape(5, 2), [2, 0, 3])
#: Calls that accept `out`, with their tensors: all operators, and others.
CALLS = {
    **{
        name: (OPS[name], Sample(ARGUMENTS[name](), KEYWORDS.get(name, {})))
        for name in sorted(ARGUMENTS)
        if OPS[name].takes_out
    },
    "embedding_bag of weights": (
        lambda table, ids, weights, out=None: lodcore.embedding_bag(table, ids, "sum", out, per_sample_weights=weights),
        Sample((np.ones((4, 2)), lodcore.array([[0, 3, 1], [], [2]]), np.arange(4.0)), {}),
    ),
    "embedding_bag of integers": (
        lambda table, ids, out=None: lodcore.embedding_bag(table, ids, "sum", out),
        Sample((np.arange(8).reshape(4, 2), lodcore.array([[0, 3, 1], [], [2, 0, 0]])), {}),
    ),
    "lookup_table of integers": (
        lambda table, ids, out=None: lodcore.lookup_table(table, ids, None, out),
        Sample((np.arange(8).reshape(4, 2), np.array([[0, 3], [1, 1]])), {}),
    ),
    "gather_sequences of integers": (
        lambda x, index, out=None: lodcore.gather_sequences(x, index, out=out),
        Sample((X.with_values(np.arange(5)), np.array([2, 0, 2])), {}),
    ),
    "sequence_slice of integers": (
        lambda x, offset, length, out=None: lodcore.sequence_slice(x, offset, length, out=out),
        Sample((X.with_values(np.arange(5)), np.array([1, 0, 0]), np.array([1, 0, 3])), {}),
    ),
    "LoDTensor.to_padded": (lambda x, out=None: x.to_padded(out=out), Sample((X,), {})),
    "LoDTensor.from_arrays": (
        lambda x, y, out=None: LoDTensor.from_arrays([x, y], out=out),
        Sample((X.values, X.values[1:].copy()), {}),
    ),
    "SparseTensor.to_dense": (
        lambda values, out=None: SparseTensor([2, 0, 2], values, 3).to_dense(out=out),
        Sample((np.arange(6.0).reshape(3, 2),), {}),
    ),
    "pullback": (
        lambda d, out=None: lodcore.vjp(lambda x: x * 2.0, np.ones((5, 2)))[1](d, out=(out,))[0],
        Sample((np.arange(10.0).reshape(5, 2),), {}),
    ),
}
#: Tensors of which an operator uses only the structure, by their positions.
STRUCTURE_ONLY = {("sequence_expand_as", 0)}


def result_of(name, sample, **options):
    """Run a call, and return the array that holds its result."""
    first = several(CALLS[name][0](*sample.args, **sample.kwargs, **options))[0]
    first = first.untouched_source if isinstance(first, TensorArray) else first
    return first.values if isinstance(first, LoDTensor) else first


def arrays_in(sample):
    """List the array arguments of a call, including those of LoDTensors."""
    found = []
    with_tensors(sample, lambda x: found.append(x) or x)
    return [x.values if isinstance(x, LoDTensor) else x for x in found if not isinstance(x, TensorArray)]


def with_array(sample, number, array):
    """Replace one of the arrays of `arrays_in`."""
    left = iter(range(10**6))

    def exchanged(x):
        if isinstance(x, TensorArray) or next(left) != number:
            return x
        return LoDTensor(array, x.lod, share=True) if isinstance(x, LoDTensor) else array

    return with_tensors(sample, exchanged)


def misaligned(x):
    made = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    assert not made.flags.aligned
    return made


def read_only(x):
    made = np.zeros_like(x)
    made.flags.writeable = False
    return made


WRONG = {
    "misaligned": misaligned,
    "read-only": read_only,
    "of another byte order": lambda x: np.zeros(x.shape, x.dtype.newbyteorder()),
    "of another dtype": lambda x: np.zeros(x.shape, np.float32 if x.dtype != np.float32 else np.float64),
    "of another size": lambda x: np.zeros((len(x) + 1, *x.shape[1:]), x.dtype),
    "of one more axis": lambda x: np.zeros((*x.shape, 1), x.dtype),
    "with gaps": lambda x: np.zeros((2 * len(x), *x.shape[1:]), x.dtype)[::2],
    "backwards": lambda x: np.zeros_like(x)[::-1],
    "masked": lambda x: np.ma.zeros(x.shape, x.dtype),
    "a list": lambda x: x.tolist(),
}


@for_each("wrong", WRONG)
@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_out_is_refused(name, wrong):
    sample = CALLS[name][1]
    result = result_of(name, sample)
    out = WRONG[wrong](result)
    before = np.array(out).tobytes()
    with pytest.raises((TypeError, ValueError), match="out"):
        result_of(name, sample, out=out)
    assert np.array(out).tobytes() == before


@pytest.mark.parametrize("name", CALLS)
def test_out_may_lie_beside_an_input_but_not_overlap_it(name):
    sample = CALLS[name][1]
    wanted = result_of(name, sample).copy()
    for number, array in enumerate(arrays_in(sample)):
        if not isinstance(array, np.ndarray) or not array.nbytes or (name, number) in STRUCTURE_ONLY:
            continue
        unit = 16  # the alignment of all of them
        room = -(-wanted.nbytes // unit) * unit
        memory = np.zeros(2 * room + array.nbytes + unit, np.uint8)
        memory = memory[-memory.ctypes.data % unit :][: 2 * room + array.nbytes]
        given = memory[room : room + array.nbytes].view(array.dtype).reshape(array.shape)
        given[...] = array
        changed, before = with_array(sample, number, given), memory.copy()
        last = room + (array.nbytes - 1) // unit * unit
        for start in sorted({unit, room, last}):  # it ends, begins, and continues in the input
            out = memory[start : start + wanted.nbytes].view(wanted.dtype).reshape(wanted.shape)
            assert np.shares_memory(out, given)
            with pytest.raises(ValueError, match=r"out.*overlaps"):
                result_of(name, changed, out=out)
            assert np.array_equal(memory, before)
        out = memory[: wanted.nbytes].view(wanted.dtype).reshape(wanted.shape)
        np.testing.assert_array_equal(result_of(name, changed, out=out), wanted)
        if array.nbytes % 8 == 0:
            begin = room + array.nbytes
            out = memory[begin : begin + wanted.nbytes].view(wanted.dtype).reshape(wanted.shape)
            np.testing.assert_array_equal(result_of(name, changed, out=out), wanted)


def test_out_is_returned_and_refused_where_it_overlaps_any_input():
    x, dense = lodcore.array([[1.0, 2.0], [3.0]]), np.ones((2, 2))
    out = np.empty(2)
    assert ops.sequence_pool(x, "sum", 0.5, out=out) is out
    assert ops.sequence_pool(x, "first", out=out) is out
    out = np.empty((2, 2))
    assert lodcore.sequence_pad(x, out=out)[0] is out
    assert ops.layer_norm(dense, [1.0, 1.0], [0.0, 0.0], out=out) is out
    pad = np.ones(2)
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        ops.sequence_pool(LoDTensor.from_lengths(dense, [2]), "sum", pad, out=pad.reshape(1, 2))
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        lodcore.row_conv(LoDTensor.from_lengths(dense, [2]), out, out=out)
    padding = np.zeros((2, 2))
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        lodcore.sequence_conv(LoDTensor.from_lengths(dense, [2]), np.ones((6, 2)), 3, -1, padding, out=padding)


def test_out_may_be_none_by_position_and_by_name_where_a_call_is_recorded():
    x = lodcore.array([[1.0, 2.0], [3.0]])
    with Program() as program:
        v = data("v", (None,), "float64", 1)
        results = [
            lodcore.sequence_reverse(v, 0, None),
            lodcore.sequence_reverse(v, out=None),
            lodcore.sequence_reverse(v, -1, out=None),
        ]
        with pytest.raises(GraphError, match="sequence_reverse: out: a recorded result cannot be written to an array"):
            lodcore.sequence_reverse(v, 0, np.zeros(3))
    for found in Executor().run(program, {"v": x}, results):
        assert found.tolist() == [[2.0, 1.0], [3.0]]
