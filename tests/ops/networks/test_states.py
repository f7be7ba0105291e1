"""States of recurrent networks: the last of the steps, and first states of zeros."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops, vjp
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
def test_last_of_steps_changes_neither_boot_nor_cotangent():
    steps, of = lodcore.tensor_array_unpack(lodcore.array([[1.0, 2.0], [], [3.0]]), 0)
    boot = np.array([7.0, 8.0, 9.0])
    assert ops.last_of_steps(steps, boot, of).tolist() == [2.0, 8.0, 3.0]
    assert boot.tolist() == [7.0, 8.0, 9.0]
    d = np.ones(3)
    back = vjp(lambda boot: ops.last_of_steps(steps, boot, of), boot)[1]
    assert [back(d)[0].tolist(), d.tolist()] == [[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]


def steps_with(at, element):
    """Return steps of two sequences, of which one is replaced."""
    array = lodcore.TensorArray()
    for t in range(3):
        array.write(t, element if t == at else np.ones(2, np.float32))
    return array, lodcore.tensor_array_unpack(lodcore.array([[1, 2, 3], [4, 5, 6]]), 0)[1]


@pytest.mark.not_on_reference
@for_each("at", range(3))
def test_last_of_steps_names_the_element_of_another_shape_or_dtype(at):
    boot = np.zeros(2, np.float32)
    for element, error, says in (
        (np.ones(3, np.float32), lodcore.LoDError, f"element {at}: has shape .3,.; 2 sequences"),
        (np.ones((2, 1), np.float32), lodcore.ShapeError, f"element {at}: has rows of shape .1,."),
        (np.ones(2), lodcore.DTypeError, f"element {at}: has dtype float64; that of boot is float32"),
        (np.float32(1), (lodcore.LoDError, IndexError), f"element {at}: has (shape|no axis)"),
    ):
        steps, of = steps_with(at, element)
        with pytest.raises(error, match=says):
            ops.last_of_steps(steps, boot, of)
    with pytest.raises(IndexError, match=f"element {at}: has no axis"):
        lodcore.tensor_array_pack(steps_with(at, np.float32(1))[0], 0, of)
    steps, of = steps_with(at, np.ones(2, np.float32))
    with pytest.raises(ValueError, match="out: overlaps an input"):
        lodcore.tensor_array_pack(steps_with(at, out := np.ones(6, np.float32)[:2])[0], 0, of, out=out.base)


@pytest.mark.not_on_reference
@for_each("dtype", [">f4", ">i2", None, "f2", bool])
def test_zero_states_of_any_dtype_are_native(dtype):
    found = ops.zero_states(2, 3, dtype)
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.dtype.isnative
    assert found.tolist() == [[0, 0, 0]] * 2


@pytest.mark.not_on_reference
def test_last_of_steps_of_one_step_or_none_is_that_step_or_boot():
    for lengths in ([1, 1, 1], [1, 0, 1], [1, 0, 0], [0, 0, 0]):
        x = LoDTensor.from_lengths(10.0 + np.arange(sum(lengths)), lengths)
        steps, order = lodcore.tensor_array_unpack(x, 0)
        boot = np.arange(3.0)
        wanted = [part[-1] if len(part) else boot[j] for j, part in enumerate(x.tolist())]
        found = ops.last_of_steps(steps, boot, order)
        assert found.tolist() == wanted
        assert not np.shares_memory(found, boot)
