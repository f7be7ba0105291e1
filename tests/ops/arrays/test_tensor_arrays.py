"""TensorArrays by operators: gradients of steps, recorded levels, no steps at all."""

import itertools
from contextlib import nullcontext

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, vjp
from lodcore.errors import ShapeError
from lodcore.graph import Program, VarArray
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each(("dtype", "read"), list(itertools.product(["f4", "f8"], ([0], [1], [2], [0, 2]))))
def test_steps_that_are_not_read_have_gradients_of_zeros(dtype, read):
    for lengths in ([[1, 3, 0, 2]], [[1, 3], [1, 0, 2, 1]]):
        x = LoDTensor.from_lengths(np.arange(1, 1 + sum(lengths[-1])).astype(dtype), *lengths)

        def chosen(x):
            steps, _ = lodcore.tensor_array_unpack(x, 0)
            return tuple(steps.read(t) for t in read)

        outs, back = vjp(chosen, x)
        (found,) = back(*[np.ones_like(getattr(one, "values", one)) for one in outs])
        assert found.dtype == dtype
        wanted = [[float(t in read) for t in range(n)] for n in lengths[0]]
        nested = found.tolist() if len(lengths) == 1 else [[set(one) for one in part] for part in found.tolist()]
        if len(lengths) == 1:
            assert nested == wanted
        else:
            assert all(one <= {float(t in read)} for part in nested for t, one in enumerate(part))


@pytest.mark.not_on_reference
def test_unpack_and_pack_in_a_program_keep_the_number_of_levels():
    with lodcore.Program():
        x = lodcore.data("x", (None,), num_levels=3)
        for level in range(3):
            steps, of = lodcore.tensor_array_unpack(x, level)
            assert lodcore.tensor_array_pack(steps, level, of).num_levels == 3


@pytest.mark.not_on_reference
def test_stack_of_no_steps_along_any_axis_has_the_shape_of_an_element():
    steps = lodcore.TensorArray.unstack(np.zeros((0, 3, 2), "f4"))
    for axis, shape in ((0, (0, 3, 2)), (1, (3, 0, 2)), (2, (3, 2, 0)), (-1, (3, 2, 0)), (-3, (0, 3, 2))):
        assert steps.stack(axis).shape == shape
        assert steps.stack(axis).dtype == "f4"


def steps_of(kind):
    """Make an array of two batches, of none, or of two that a Program records."""
    x = LoDTensor.from_lengths(np.ones((3, 2)), [1, 2])
    if kind == "none":
        return lodcore.tensor_array_unpack(LoDTensor.from_lengths(np.ones((0, 2)), [], []), 0)[0]
    steps = VarArray() if kind == "recorded" else lodcore.TensorArray()
    for t in range(2):
        steps.write(t, lodcore.data(f"x{t}", (None, 2), "f8", 1) if kind == "recorded" else x)
    return steps


@pytest.mark.not_on_reference
@for_each("kind", ["two", "none", "recorded"])
def test_stack_of_batches_along_an_axis_that_counts_to_the_rows_says_to_use_axis_0(kind):
    with Program() if kind == "recorded" else nullcontext():
        steps = steps_of(kind)
        size = {"two": 2, "none": 0, "recorded": None}[kind]
        shapes = [(size, 2), (size, 2), (2, size)]
        assert [lodcore.tensor_array_stack(steps, axis).shape[-2:] for axis in (1, -2, -1)] == shapes
        with pytest.raises(ShapeError, match="tensor_array_stack: axis: counts from the end to the rows; use axis=0"):
            lodcore.tensor_array_stack(steps, -3)
