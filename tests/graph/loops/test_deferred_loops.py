"""A loop that is recorded in one place and runs in another, once or more: each run starts with the captured values.

The meaning of each text is given in plain Python, with lists for arrays.
"""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, VarArray, Variable, data, map_fn, parameter, while_loop
from tests.helpers.texts_in_every_way import RECORDED, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 0.75])
ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])


def steps_of(make_loop, count, body, **options):
    """Run a loop of a number of steps, whose body is called with the number of the step."""
    loop = make_loop()
    with loop.loop(**options):
        t = loop.loop_var(0)
        loop.break_if(t >= count)
        body(t)
    return loop


# -- loops with named variables --------------------------------------------------------------------------------------


def doubling(while_loop, own, count=3):
    """Make a loop that runs later: it doubles a loop variable, which it reads by the given name."""
    loop = while_loop(loop_vars=[own])
    with loop.loop(exec_immediately=False):
        t = loop.loop_var(0)
        loop.break_if(t >= count)
        loop.loop_vars[0].update(lodcore.mul(own, 2.0))
    return loop


@every_way
@pytest.mark.parametrize("runs", [1, 2, 3])
def test_each_run_begins_with_the_first_value(way, runs):
    def text(while_loop, x):
        loop = doubling(while_loop, lodcore.add(x, 1.0))
        for _ in range(runs):
            loop()
        return loop.loop_vars[0]

    check(way, text, lambda x: (x + 1) * 8, X)


@every_way
def test_loop_var_of_a_computed_number_restarts_in_each_run(way):
    """Such a result has no axis: it is a number when computed at once, and still the loop variable."""

    def text(while_loop, x):
        loop = doubling(while_loop, ops.sum(x))
        loop()
        loop()
        return loop.loop_vars[0]

    check(way, text, lambda x: np.sum(x) * 8, X)


@every_way
def test_loop_vars_under_their_own_names_are_seen_in_inner_loops(way):
    def text(while_loop, x):
        own, number = lodcore.add(x, 1.0), ops.sum(x)
        loop = while_loop(loop_vars=[own, number])
        with loop.loop():
            t, last = loop.loop_var(0), loop.loop_var(x)
            loop.break_if(t >= 3)
            inner = while_loop()
            with inner.loop():
                k, total = inner.loop_var(0), inner.loop_var(own)
                inner.break_if(k >= 2)
                total.update(lodcore.add(total, lodcore.mul(own, number)))
            last.update(total)
            loop.loop_vars[0].update(lodcore.tanh(own))
            loop.loop_vars[1].update(lodcore.mul(number, 0.5))
        return last, *loop.loop_vars

    def meaning(x):
        own, number, last = x + 1.0, np.sum(x), x
        for _ in range(3):
            last, own, number = own + 2 * own * number, np.tanh(own), number * 0.5
        return last, own, number

    check(way, text, meaning, X)


@pytest.mark.parametrize("recorded", [False, True], ids=["at once", "vjp"])
def test_variable_changed_by_a_run_does_not_change_the_next_initial_value(recorded):
    """Each run starts with the value that the Variable had where the loop was recorded."""
    own = Variable("own", np.array(3.0))
    loop = doubling(while_loop, own)

    def f(x):
        loop()
        loop()
        return loop.loop_vars[0] * x

    found = vjp(f, np.array(1.0))[0] if recorded else f(np.array(1.0))
    assert float(found) == 24.0
    assert float(own.get()) == 24.0


def test_variable_given_under_vjp_is_read_where_the_loop_is_recorded():
    own = Variable("own", np.array(3.0))

    def f(x):
        loop = doubling(while_loop, own)
        loop()
        loop()
        return loop.loop_vars[0] * x

    assert float(vjp(f, np.array(1.0))[0]) == 24.0
    assert float(own.get()) == 24.0


def test_variable_given_in_a_body_is_read_anew_in_each_outer_step():
    own = Variable("own", np.array(3.0))

    def body(step):
        loop = doubling(while_loop, own, count=1)
        loop()
        loop()

    steps_of(while_loop, 3, body)
    assert float(own.get()) == 24.0


def test_variable_of_a_loop_recorded_outside_changes_when_it_runs_in_a_body():
    own = Variable("own", np.array(3.0))
    loop = doubling(while_loop, own, count=1)

    def body(step):
        loop()
        loop()

    steps_of(while_loop, 3, body)
    assert float(own.get()) == 6.0


def test_parameters_are_read_at_each_run_and_initial_values_once():
    """Outer Variables are held by reference; only the initial values of a loop are kept as they were."""
    factor, begin = parameter(np.array(2.0)), parameter(np.array(1.0))
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        t, s = loop.loop_var(0), loop.loop_var(begin)
        loop.break_if(t >= 3)
        s.update(s * factor)
    loop()
    assert float(s.get()) == 8.0
    factor.set(np.array(3.0))
    begin.set(np.array(100.0))
    loop()
    assert float(s.get()) == 27.0


@pytest.mark.parametrize("way", RECORDED)
def test_deferred_loop_reads_the_value_that_another_loop_left(way):
    """A recorded Variable passed to another loop has the last value afterwards, also for loops recorded earlier."""

    def text(while_loop, x):
        own = lodcore.add(x, 1.0)
        later = while_loop()
        with later.loop(exec_immediately=False):
            t, s = later.loop_var(0), later.loop_var(x)
            later.break_if(t >= 2)
            s.update(s + own)
        doubling(while_loop, own)()
        later()
        return s, own

    check(way, text, lambda x: (x + 2 * 8 * (x + 1), 8 * (x + 1)), X)


def test_num_rows_of_a_loop_variable_under_its_own_name_is_that_of_the_step():
    """Queries about a loop variable refer to it, whatever value the Variable had before."""

    def f(x):
        own = lodcore.mul(x, 1.0)
        loop = while_loop(loop_vars=[own])
        with loop.loop():
            t, seen = loop.loop_var(0), loop.loop_var(np.array([0]))
            loop.break_if(t >= 3)
            loop.loop_vars[0].update(lodcore.concat_batches([own, own]))
            seen.update(own.lengths)
        return ops.cast(seen, "float64")

    x = LoDTensor.from_lengths(np.ones(3), [1, 2])
    assert vjp(f, x)[0].tolist() == [1, 2] * 4
    with Program() as program:
        found = f(data("x", (None,), "float64", num_levels=1))
    assert Executor().run(program, {"x": x}, [found])[0].tolist() == [1, 2] * 4


# -- a loop that is recorded outside, and runs in the body of another -------------------------------------------------


def written_one_by_one(kind):
    def made(x):
        array = kind()
        for k in range(3):
            array.write(k, x[k])
        return array

    return made


ARRAYS = {
    "written": written_one_by_one(TensorArray),
    "VarArray": written_one_by_one(VarArray),
    "unstacked": TensorArray.unstack,
    "unstack_from": lambda x: TensorArray(unstack_from=x),
    "filled": lambda x: TensorArray().unstack(x),
    "segmented": lambda x: VarArray().segment(x),
    "operator": lodcore.tensor_array_unstack,
}
every_array = pytest.mark.parametrize("made", list(ARRAYS))


def scaling(while_loop, array, factor):
    """Make a loop that runs later: element t becomes the previous element, or the last one, plus itself, scaled."""

    def body(t):
        array.write(t, (array.read(t) + array.read(2)) * factor)

    return steps_of(while_loop, 3, body, exec_immediately=False)


def scaled(elements, factor):
    """Compute in plain Python the final elements of such a loop."""
    made = list(elements)
    for t in range(3):
        made[t] = (made[t] + made[2]) * factor
    return made


@every_way
@every_array
@pytest.mark.parametrize("runs", [1, 2])
def test_loop_recorded_outside_runs_in_a_body_on_the_array_of_that_time(way, made, runs):
    """Each run starts with the current elements of the array, including those written since the last run."""

    def text(while_loop, x):
        array = ARRAYS[made](x)
        loop = scaling(while_loop, array, 0.5)

        def body(t):
            array.write(0, array.read(1) * 100.0)
            for _ in range(runs):
                loop()

        steps_of(while_loop, 2, body)
        return array.stack()

    def meaning(x):
        array = list(x)
        for _ in range(2):
            array[0] = array[1] * 100.0
            for _ in range(runs):
                array = scaled(array, 0.5)
        return np.stack(array)

    check(way, text, meaning, ROWS)


@every_way
@every_array
def test_loop_recorded_outside_runs_in_a_body_and_afterwards(way, made):
    def text(while_loop, x, y):
        array, seen = ARRAYS[made](x), TensorArray()
        array.write(1, y)
        loop = scaling(while_loop, array, 0.5)

        def body(t):
            loop()
            seen.write(t, array.read(0) + array.read(1))
            array.write(2, y * y)

        steps_of(while_loop, 3, body)
        between = array.read(2) * 1.0
        loop()
        return seen.stack(), between, array.stack()

    def meaning(x, y):
        array, seen = [x[0], y, x[2]], []
        for _ in range(3):
            array = scaled(array, 0.5)
            seen.append(array[0] + array[1])
            array[2] = y * y
        return np.stack(seen), y * y, np.stack(scaled(array, 0.5))

    check(way, text, meaning, ROWS, np.array([0.25, -0.75]))


@every_way
@every_array
def test_loop_recorded_outside_runs_in_a_nested_body(way, made):
    def text(while_loop, x):
        array, total = ARRAYS[made](x), TensorArray()
        total.write(0, x[0] * 0.0)
        loop = scaling(while_loop, array, 0.5)

        def innermost(k):
            loop()
            total.write(0, total.read(0) + array.read(0) * array.read(1))
            array.write(1, array.read(0))

        def body(t):
            array.write(0, array.read(1) * 2.0)
            steps_of(while_loop, 2, innermost)
            total.write(0, total.read(0) + array.read(1))

        steps_of(while_loop, 2, body)
        return total.read(0), array.stack()

    def meaning(x):
        array = list(x)
        total = x[0] * 0.0
        for _ in range(2):
            array[0] = array[1] * 2.0
            for _ in range(2):
                array = scaled(array, 0.5)
                total = total + array[0] * array[1]
                array[1] = array[0]
            total = total + array[1]
        return total, np.stack(array)

    check(way, text, meaning, ROWS)


@every_way
@pytest.mark.parametrize("place", ["body", "map_fn"])
def test_results_of_a_loop_recorded_outside_are_those_of_its_last_run(way, place):
    """Loop variables refer in the body to the results of the run in this body."""

    def text(while_loop, x):
        first, loop = x[0], while_loop()
        with loop.loop(exec_immediately=False):
            t, s = loop.loop_var(0), loop.loop_var(first)
            loop.break_if(t >= 2)
            s.update(s * x[1])
        loop()
        before = s * 1.0
        if place == "map_fn":

            def of_row(row):
                loop()
                return s * row

            return before, map_fn(of_row, x)
        seen = TensorArray()

        def body(k):
            loop()
            seen.write(k, s * x[2])

        steps_of(while_loop, 3, body)
        return before, seen.stack()

    def meaning(x):
        s = x[0] * x[1] ** 2
        return s, s * (x if place == "map_fn" else np.stack([x[2]] * 3))

    check(way, text, meaning, ROWS)


@pytest.mark.parametrize("recompute", [False, True], ids=["vjp", "recompute"])
@pytest.mark.parametrize("runs", [1, 2])
def test_vjp_of_an_array_that_a_deferred_loop_writes(recompute, runs):
    """An array among the inputs of vjp is taken like any other."""

    def f(array, y):
        loop = while_loop(recompute=recompute)
        with loop.loop(exec_immediately=False):
            t = loop.loop_var(0)
            loop.break_if(t >= 3)
            array.write(t, (array.read(t) + array.read(2)) * y)

        def body(k):
            array.write(0, array.read(1) * 100.0)
            for _ in range(runs):
                loop()

        steps_of(lambda: while_loop(recompute=recompute), 2, body)
        return ops.sum(array.stack())

    def value(x, y):
        array = list(x)
        for _ in range(2):
            array[0] = array[1] * 100.0
            for _ in range(runs):
                array = scaled(array, y)
        return sum(np.sum(element) for element in array)

    given = TensorArray.unstack(ROWS)
    found, pullback = vjp(f, given, np.array(0.5))
    assert float(found) == pytest.approx(value(ROWS, 0.5))
    of_array, of_y = pullback(1.0)
    assert float(of_y) == pytest.approx((value(ROWS, 0.5 + 1e-6) - value(ROWS, 0.5 - 1e-6)) / 2e-6)
    near = np.array(
        [
            [(value(ROWS + e, 0.5) - value(ROWS - e, 0.5)) / 2e-6 for e in row]
            for row in 1e-6 * np.eye(6).reshape(3, 2, 3, 2)
        ]
    )
    np.testing.assert_allclose(of_array.stack(), near, rtol=1e-6)


# -- map_fn within map_fn, and arrays from outside --------------------------------------------------------------------


@every_way
@every_array
def test_nested_map_fn_reads_and_writes_arrays_from_outside(way, made):
    """The next entry reads what the previous one wrote: arrays are updated in program order."""

    def text(while_loop, x):
        array, count = ARRAYS[made](x), TensorArray()
        count.write(0, np.array(0))

        def of_number(number):
            array.write(1, array.read(1) * number + array.read(0))
            count.write(0, count.read(0) + 1)
            return array.read(1) * number

        def of_row(row):
            array.write(0, array.read(0) + row)
            return map_fn(of_number, row)

        return map_fn(of_row, x), array.stack(), ops.cast(count.read(0), "float64")

    def meaning(x):
        array, found = list(x), []
        for row in x:
            array[0] = array[0] + row
            found.append([])
            for number in row:
                array[1] = array[1] * number + array[0]
                found[-1].append(array[1] * number)
        return np.array(found), np.stack(array), np.array(float(x.size))

    check(way, text, meaning, ROWS)


@every_way
def test_nested_map_fn_over_sequences_of_sequences_with_an_array_from_outside(way):
    def text(while_loop, x, y):
        running = TensorArray()
        running.write(0, y)

        def of_sentence(sentence):
            running.write(0, running.read(0) * 0.5 + ops.sum(sentence))
            return sentence * running.read(0)

        return map_fn(lambda document: map_fn(of_sentence, document), x), running.read(0)

    def meaning(x, y):
        found, running = [], y
        for document in range(x.lod.num_sequences(0)):
            for sentence in x[document]:
                running = running * 0.5 + np.sum(sentence)
                found.append(sentence * running)
        return LoDTensor(np.concatenate(found), x.lod), running

    x = LoDTensor.from_lengths(np.array([0.5, 1.5, -0.5, 2.0, -1.0, 0.25]), [2, 0, 2], [1, 2, 0, 3])
    check(way, text, meaning, x, np.array(0.75))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_loop_run_again_in_a_program_starts_from_the_captured_value(inside, known):
    """A Variable with a value that the loop doubles: each run, also one in a body, starts with the same value."""
    with Program() as program:
        x = parameter(ROWS) if known else data("x", (None, 2), "float64")
        number = lodcore.add(parameter(np.array(1.0)), 0.0)
        loop = while_loop(loop_vars=[number])
        with loop.loop():
            t, doubled = loop.loop_var(0), loop.loop_vars[0]
            loop.break_if(t >= 1)
            doubled.update(doubled * 2.0)
        rows = map_fn(lambda row: (loop() if inside else None, row)[1], x)
        assert number.has_value is (known or not inside)
        loop()
        found = [number, loop.loop_vars[0]]
        assert [float(v.get()) for v in found] == [2.0, 2.0]
    results = Executor().run(program, {} if known else {"x": ROWS}, [*found, rows])
    for result, wanted in zip(results, (2.0, 2.0, ROWS), strict=True):
        np.testing.assert_array_equal(result, wanted)
