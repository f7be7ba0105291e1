"""Integers that callers pass: of NumPy, of classes with `__index__`, and True where Python takes it for 1."""

import re

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops
from lodcore.testing.samples import bits
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each
from tests.helpers.wrong_calls import run, things

pytestmark = pytest.mark.not_on_reference

#: Calls in which 1 may be given as True, as for an index, a length or an axis in Python and NumPy.
ALSO_BOOLS = [
    "lookup_table(dense, [0, 1, 2], padding_idx={})",
    "sequence_pad(array([[1], [2]]), maxlen={})",
    "tensor_array_unstack(dense, {})",
    "tensor_array_stack(TensorArray(unstack_from=np.ones((2, 2, 2))), {})",
    "tensor_array_concat(TensorArray(unstack_from=np.ones((2, 2, 2))), {})",
    "tensor_array_sizes(TensorArray(unstack_from=np.ones((2, 2, 2))), {})",
    "ops.softmax(dense, {})",
    "gather_sequences(x, [0], {})",
    "sequence_cumsum(x, {})",
    "ops.reduce_values(dense, 'sum', ({},))",
    "lodcore_sparse({})",
    "flat.to_padded(levels={})",
    "flat[1:2].to_padded(length={})",
    "flat.to_padded(multiple_of={})",
    "flat[1:2].to_padded(min_length={})",
]
#: Calls in which a bool is refused, since it is more likely a mask or an option in the wrong place.
NO_BOOLS = [
    "sequence_topk(flat, {})",
    "sequence_enumerate(flat, {})",
    "sequence_reshape(wide, {})",
    "tensor_array_read(steps, {})",
    "beam_search(1, 0.0, None, wide, {}, 0)",
    "beam_search(1, 0.0, None, wide, 2, {})",
    "sequence_conv(wide, np.ones((2, 1)), {})",
    "ops.sum(dense, {})",
    "ops.sequence_rolling(flat, {}, 'sum')",
    "ops.sequence_shift(flat, {})",
    "ops.slice_along(flat, {})",
    "ops.slice_along(flat, 0, {})",
    "ops.slice_along(flat, 0, 2, {})",
    "ops.pick_along(flat, {})",
    "ops.zero_states({}, 2)",
]


class One:
    """An integer of a class of a user."""

    def __index__(self):
        return 1


class Word:
    """A class of a user whose `__index__` returns no integer."""

    def __index__(self):
        return "one"

    def __repr__(self):
        return "Word()"


def result(call, number):
    names = {**things(), "lodcore_sparse": lambda height: lodcore.SparseTensor([0], [[1.0]], height).to_dense()}
    found = run(call.format("number"), {**names, "number": number})
    listed = [*found] if isinstance(found, TensorArray) else found
    return bits(listed)


@pytest.mark.parametrize("call", ALSO_BOOLS + NO_BOOLS)
def test_an_integer_is_of_any_type(call):
    wanted = result(call, 1)
    for number in (np.int8(1), np.uint64(1), One()):
        assert result(call, number) == wanted, type(number)
    if call in ALSO_BOOLS:
        assert result(call, True) == wanted
    refused = (np.True_, np.array(True), Word())
    for number in refused if call in ALSO_BOOLS else (True, *refused):
        said = "|has dtype bool" if isinstance(number, np.ndarray) else ""  # all that a recording knows of an array
        with pytest.raises(lodcore.DTypeError, match=rf"((is|are) .*{re.escape(repr(number))}{said}).* integer"):
            result(call, number)


@for_each(
    ("call", "message"),
    [
        ("np.tile(flat, {})", "tile: reps: is"),
        ("np.round(flat, {})", "round: decimals: is"),
        ("lodcore.while_loop(max_steps={})", "max_steps: is"),
        ("lodcore.array([[1]], num_levels={})", "num_levels: is"),
        ("lodcore.parameter(shape=(2, {}))", "shape: is .*; each size"),
        ("lodcore.data('x', (None, {}))", "spec: has the shape .*; each size"),
        ("lodcore.data('x', (None,), num_levels={})", "num_levels: is"),
        ("np.partition(flat, {}, 1)", "kth: is"),
        ("flat[{}]", "index: is"),
        ("flat[0, {}]", "index: is"),
    ],
)
def test_arguments_that_are_no_integers_are_named(call, message):
    for number in (Word(), 1.5):
        with lodcore.Program(), pytest.raises((ValueError, TypeError, lodcore.GraphError), match=message):
            eval(call.format("number"), {**things(), "lodcore": lodcore, "np": np, "number": number})


@pytest.mark.parametrize("axis", [0, -2])
def test_the_first_axis_of_sequences_counted_from_the_last(axis):
    """Sequences are cut into elements along axis 0, which is also -2 of one level, -3 of two levels or of rows."""
    flat, deep = lodcore.array([[1, 2], [], [3]]), lodcore.array([[[1, 2], [3]], []])
    wide = lodcore.LoDTensor.from_lengths(np.arange(6.0).reshape(3, 2), [2, 1])
    for x, at in ((flat, axis), (deep, axis and -3), (wide, axis and -3)):
        assert [element.tolist() for element in ops.tensor_array_unstack(x, at)] == x.tolist()
        for wrong in (1, -1, at - 1 if at else -len(x.shape) - 1):
            with pytest.raises(lodcore.ShapeError, match=f"axis: is {wrong}; a LoDTensor is cut along axis 0"):
                ops.tensor_array_unstack(x, wrong)


@for_each("number", [np.int8(2), np.int64(2), np.uint8(2), np.float16(2), np.float64(2), 2])
def test_scale_eps_and_rate_take_numbers_of_numpy(number):
    x = LoDTensor.from_lengths(np.eye(2), [2])
    weights = values_of(ops.dot_attention(np.array([[1.0, 0.0]]), x, scale=number)[1])
    np.testing.assert_allclose(weights, np.exp([2, 0]) / (np.exp(2) + 1), rtol=1e-14)
    np.testing.assert_allclose(values_of(ops.layer_norm(x, [1.0] * 2, [0.0] * 2, eps=number)), (np.eye(2) - 0.5) / 1.5)
    assert values_of(ops.dropout(x, type(number)(1), np.random.default_rng(0))).tolist() == [[0, 0], [0, 0]]
