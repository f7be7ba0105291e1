"""Loops of no entries know the sizes of what comes from outside; loops that run twice begin anew."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops, vjp
from lodcore.graph import map_fn, while_loop

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


@pytest.mark.parametrize("made", [captured, variable_of_a_loop, element_of_an_array, updated_in_a_loop])
def test_no_entries_have_the_width_of_what_comes_from_outside(made):
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


def test_a_loop_that_runs_twice_begins_with_the_array_that_it_met():
    q = LoDTensor.from_lengths(np.ones((2, 2)), [1, 1])

    def f(by, array):
        loop = while_loop()
        with loop.loop(exec_immediately=False):
            t = loop.loop_var(0)
            loop.break_if(t >= 1)
            array.write(0, lodcore.add(array.read(0), by))
        loop()
        loop()
        return array.read(0), map_fn(lambda part: part, q)

    for run in (f, lambda by, array: vjp(lambda by: f(by, array), by)[0]):
        array = TensorArray()
        array.write(0, np.array(1.0))
        assert float(run(np.array(0.5), array)[0]) == 1.5
        assert float(array.read(0)) == 1.5


def test_sizes_that_a_loop_changes_are_not_known_of_no_entries():
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
