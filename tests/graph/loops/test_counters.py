"""Counters: loop variables of a single integer that the body never updates, of any shape and in any way of running."""

import numpy as np
import pytest

import lodcore
from lodcore import GraphError, LoDTensor, TensorArray, ops
from lodcore.graph import Executor, Program, data, while_loop
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import WHILE_RECORDING, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5])
INTEGERS = [np.array(5), np.array([5]), np.array([[5]]), np.array([5, 6]), np.array([], np.int64), np.array([[5, 6]])]
every_integer = pytest.mark.parametrize("first", INTEGERS, ids=lambda first: str(first.tolist()))


def after(first, steps=3, by=1):
    """Compute the value of such a loop variable after some steps, in plain Python."""
    return first + steps * by if first.size == 1 else first


def counted(while_loop, first, steps=3, **options):
    loop = while_loop()
    with loop.loop():
        t, found = loop.loop_var(0), loop.loop_var(first, **options)
        loop.break_if(t >= steps)
    return found


@every_way
@every_integer
def test_loop_var_of_one_integer_of_any_shape_counts_steps(way, first):
    check(
        way,
        lambda while_loop, first, x: (counted(while_loop, first), x * 1.0),
        lambda first, x: (after(first), x),
        first,
        X,
    )


@every_way
@every_integer
def test_loop_var_of_a_computed_integer_counts_steps(way, first):
    def text(while_loop, first, x):
        return counted(while_loop, lodcore.add(first, 1)), x * 1.0

    check(way, text, lambda first, x: (after(first + 1), x), first, X)


@every_way
@every_integer
def test_inner_counter_continues_from_the_outer_value(way, first):
    """It continues from the value to which the outer loop has brought it."""

    def text(while_loop, first, x):
        seen = TensorArray()
        loop = while_loop()
        with loop.loop():
            t, outer = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(t >= 2)
            seen.write(t, counted(while_loop, outer))
        return seen.read(1), outer, x * 1.0

    check(way, text, lambda first, x: (after(after(first, 1)), after(first, 2), x), first, X)


@every_way
@every_integer
def test_loop_var_read_from_an_array_counts_steps(way, first):
    """Its value is unknown while it is recorded, if the array was empty."""

    def text(while_loop, first, x):
        kept, seen = TensorArray(), TensorArray()
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= 2)
            kept.write(t, kept.read(t - 1, first))
            seen.write(t, counted(while_loop, kept.read(t), steps=4))
        return seen.read(1), x * 1.0

    check(way, text, lambda first, x: (after(first, 4), x), first, X)


@every_way
@every_integer
def test_loop_var_that_is_updated_or_has_advance_false_does_not_count(way, first):
    def text(while_loop, first, x):
        loop = while_loop()
        with loop.loop():
            t, same = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(t >= 3)
            same.update(same)
        return same, counted(while_loop, first, advance=False), x * 1.0

    check(way, text, lambda first, x: (first, first, x), first, X)


@for_each("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_advance_at_the_limits_of_the_dtype_is_taken_and_beyond_refused(dtype):
    limits = np.iinfo(dtype)
    for by in (1, 127, limits.max, limits.min):
        for first in (np.zeros((), dtype), np.zeros((1, 1), dtype)):
            found = counted(while_loop, first, steps=1, advance=by).get()
            assert (found.dtype, found.item()) == (np.dtype(dtype), by)
    for by in (limits.max + 1, limits.min - 1):
        with pytest.raises(GraphError, match=f"advance: is {by}; {np.dtype(dtype)} cannot hold it"):
            counted(while_loop, np.zeros((), dtype), advance=by)


@every_way
@pytest.mark.parametrize("first", INTEGERS[:3], ids=lambda first: str(first.tolist()))
@pytest.mark.parametrize("by", [2, -3])
def test_loop_var_of_one_integer_advances_by_the_given_number(way, first, by):
    check(
        way,
        lambda while_loop, first, x: (counted(while_loop, first, advance=by), x * 1.0),
        lambda first, x: (after(first, by=by), x),
        first,
        X,
    )


@pytest.mark.parametrize("place", list(WHILE_RECORDING))
def test_advance_of_more_than_one_integer_is_refused_when_recorded_or_run(place):
    """Known violations raise when they are recorded, others when they run, with the same text."""
    from lodcore.graph import while_loop

    with pytest.raises(GraphError, match="loop_var: advance: is 2; only an integer of one element"):
        WHILE_RECORDING[place](lambda: counted(while_loop, np.array([[1, 2]]), advance=2))
    with Program() as program:
        found = counted(while_loop, data("first", (None,), "int64"), advance=2)
    assert Executor().run(program, {"first": [1]}, [found])[0].tolist() == [7]
    for wrong in ([1, 2], []):
        with pytest.raises(GraphError, match="loop_var: advance: is 2; only an integer of one element"):
            Executor().run(program, {"first": wrong}, [found])


@every_way
def test_loop_vars_of_floats_bools_and_sequences_do_not_count(way):
    """Floats, booleans and sequences do not count, even with one element."""

    def text(while_loop, x, b, q):
        return counted(while_loop, x), counted(while_loop, b), counted(while_loop, q)

    q = LoDTensor.from_lengths(np.array([7]), [1])
    check(way, text, lambda x, b, q: (x, b, q), np.array([0.5]), np.array([True]), q)


@every_way
def test_lengths_of_a_batch_of_one_sequence(way):
    """The rule depends on the initial value of the loop variable, so that all ways of running agree."""

    def text(while_loop, x):
        return counted(while_loop, lodcore.lod_lengths(x)), ops.sum(x)

    for lengths in ([2], [1, 1]):
        x = LoDTensor.from_lengths(np.array([0.5, 1.5]), lengths)
        check(way, text, lambda x: (after(x.lengths), np.sum(x.values)), x)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_counters_keep_their_dtype_in_a_program(dtype):
    from lodcore.graph import while_loop

    with Program() as program:
        found = counted(while_loop, data("first", (None,), dtype))
    value = Executor().run(program, {"first": np.array([3], dtype)}, [found])[0]
    assert (value.tolist(), value.dtype) == ([6], np.dtype(dtype))


def test_text_of_a_program_marks_counters():
    from lodcore.graph import while_loop

    with Program() as program:
        one, two, three = (
            data(name, (None, *more), "int64") for name, more in [("one", ()), ("two", (2,)), ("three", ())]
        )
        loop = while_loop()
        with loop.loop():
            loop.break_if(loop.loop_var(0) >= 3)
            loop.loop_var(one)
            loop.loop_var(two)
            loop.loop_var(three, advance=2)
    lines = [line.partition(" = ")[2].partition("  #")[0] for line in str(program).splitlines() if " loop " in line]
    assert lines == ["0, +1", "one, +1 if it is one integer", "two", "three, +2"]
