"""Loops without entries know the sizes of tensors from outside; a second run starts from the beginning."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops, vjp
from lodcore.graph import map_fn, while_loop
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


def captured(v):
    return lambda row: v


def variable_of_a_loop(v):
    def of_row(row):
        loop = while_loop()
        with loop.loop():
            t, kept = loop.loop_var(0), loop.loop_var(v)
            loop.break_if(t >= 1)
        return kept

    return of_row


def element_of_an_array(v):
    outside = TensorArray()
    outside.write(0, v)
    return lambda row: outside.read(0)


def updated_in_a_loop(v):
    def of_row(row):
        loop = while_loop()
        with loop.loop():
            t, same, other = loop.loop_var(0), loop.loop_var(v), loop.loop_var(row)
            loop.break_if(t >= 1)
            same.update(lodcore.mul(same, other))
            other.update(same)
        return same

    return of_row


def written_in_a_loop(v, steps=lambda row: 1, after=lambda array: array.read(0)):
    """An array that is made in the body, and written in a loop there."""

    def of_row(row):
        made, count = TensorArray(), steps(row)
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= count)
            made.write(t, v)
        return after(made)

    return of_row


def overwritten_in_a_loop(v):
    def of_row(row):
        made = TensorArray.unstack(v[None])
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= 1)
            made.write(t, lodcore.mul(made.read(0), 2.0))
        return made.read(0)

    return of_row


MADE = [
    captured,
    variable_of_a_loop,
    element_of_an_array,
    updated_in_a_loop,
    written_in_a_loop,
    overwritten_in_a_loop,
]


@pytest.mark.parametrize("made", MADE)
def test_map_fn_of_no_entries_has_the_width_of_captured_values(made):
    v, x = np.array([1.0, 2.0]), np.empty((0, 2))
    assert map_fn(made(v), x).shape == (0, 2)
    assert vjp(lambda x: map_fn(made(v), x), x)[0].shape == (0, 2)
    results = []
    loop = while_loop()
    with loop.loop():
        t, total = loop.loop_var(0), loop.loop_var(np.empty((0, 2)))
        results.append(lodcore.add(map_fn(made(lodcore.tanh(v)), x), v))
        total.update(results[0])
        loop.break_if(t >= 1)
    assert total.get().shape == (0, 2)


def test_map_fn_of_no_entries_leaves_sizes_changed_by_a_loop_unknown():
    """A loop variable may have more rows in each step; its width is known."""

    def of_row(row):
        loop = while_loop()
        with loop.loop():
            t, grown = loop.loop_var(0), loop.loop_var(np.ones((1, 2)))
            loop.break_if(t >= 2)
            grown.update(ops.concat_values([grown, grown], 0))
        return grown

    assert map_fn(of_row, np.empty((3, 2))).shape == (3, 4, 2)
    assert map_fn(of_row, np.empty((0, 2))).shape == (0, 0, 2)


PARTS = LoDTensor.from_lengths(np.ones((3, 2)), [0, 2, 1])


@pytest.mark.parametrize("made", MADE)
def test_nested_map_fn_of_an_empty_sequence_has_the_width_of_the_others(made):
    """Nested: the loop over the rows of the empty sequence has no steps."""
    v = np.array([1.0, 2.0])

    def f(x):
        return map_fn(lambda part: map_fn(made(v), part), x)

    expected, (result, back) = f(PARTS), vjp(f, PARTS)
    assert expected.lod == result.lod == PARTS.lod
    assert expected.values.shape == result.values.shape == (3, 2)
    assert np.array_equal(expected.values, result.values)
    assert back(result)[0].values.shape == (3, 2)


def test_array_of_no_steps_has_the_width_of_the_others():
    """An array is written in a loop with as many steps as a sequence has rows."""
    v = np.array([1.0, 2.0])

    def joined(x, after):
        return map_fn(written_in_a_loop(v, lambda part: TensorArray.unstack(part).size(), after), x)

    def f(x):
        return joined(x, lambda array: array.stack())

    for result in (f(PARTS), vjp(f, PARTS)[0]):
        assert result.lod == PARTS.lod
        assert np.array_equal(result.values, [v, v, v])
    assert joined(np.empty((0, 2, 2)), lambda array: array.stack()).shape == (0, 0, 2)


def test_array_of_no_steps_leaves_changing_row_counts_unknown():
    """Its elements would have more rows in each step."""

    def of_row(row):
        made = TensorArray()
        loop = while_loop()
        with loop.loop():
            t, grown = loop.loop_var(0), loop.loop_var(np.ones((1, 2)))
            loop.break_if(t >= 2)
            made.write(t, grown)
            grown.update(ops.concat_values([grown, grown], 0))
        return made.read(1)

    assert map_fn(of_row, np.empty((3, 2))).shape == (3, 2, 2)
    assert map_fn(of_row, np.empty((0, 2))).shape == (0, 0, 2)


@for_each(("rows", "wanted"), [([2], 2), ([2, 2], 2), ([1, 3], 0), ([3, 1], 0), ([2, 2, 0], 0)])
def test_read_in_map_fn_of_no_entries_has_the_rows_common_to_all_elements(rows, wanted):
    outside = TensorArray()
    for k, count in enumerate(rows):
        outside.write(k, np.ones((count, 2)))
    assert map_fn(lambda row: outside.read(0), np.empty((0, 5))).shape == (0, wanted, 2)
