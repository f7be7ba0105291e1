"""while_loop by examples: the meaning of its body, where it may occur, and what it refuses."""

import itertools
import threading

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, TensorArray, ops, vjp
from lodcore.graph import Program, Variable, engine, parameter, tree_leaves, tree_map, while_loop
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


def count(loop, steps):
    """Declare a counter, and break at a number of steps."""
    time = loop.loop_var(0)
    loop.break_if(lodcore.greater_equal_than(time, steps))
    return time


def refused(match, error=GraphError):
    return pytest.raises(error, match=match)


# -- the meaning ---------------------------------------------------------------------------------------------------


def test_counters_hold_the_step_of_the_break_and_respect_advance():
    loop = while_loop()
    with loop.loop():
        time = loop.loop_var(0)
        half = loop.loop_var(np.array([10]), advance=2)
        still = loop.loop_var(7, advance=False)
        many = loop.loop_var(np.array([1, 2]))
        number = loop.step()
        loop.break_if(lodcore.equal(number, 4))
    assert [v.get().tolist() for v in (time, half, still, many, number)] == [4, [18], 7, [1, 2], 4]


def test_second_update_in_a_step_replaces_the_first():
    loop = while_loop()
    with loop.loop():
        count(loop, 1)
        x = loop.loop_var(1.0)
        x.update(lodcore.mul(x, 5.0))
        x.update(lodcore.mul(x, 3.0))
    assert float(x.get()) == 3.0


def test_an_advance_comes_after_an_update():
    loop = while_loop()
    with loop.loop():
        time = loop.loop_var(1, advance=1)
        loop.break_if(lodcore.greater_than(time, 20))
        time.update(lodcore.mul(time, 2))
    assert int(time.get()) == 31  # 1, 2 + 1, 6 + 1, 14 + 1, 30 + 1


def test_a_counter_that_overflows():
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        time = loop.loop_var(np.array(126, np.int8))
        loop.break_if(lodcore.less_than(time, 0))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        loop()
    with np.errstate(over="ignore"):
        loop()
    assert time.get() == -128


@for_each(
    "condition", [np.empty(0, bool), np.empty((1, 0)), np.ones(2, bool), np.ones((2, 1)), lodcore.array([[True]])]
)
def test_conditions_of_more_or_no_elements_are_refused_at_once(condition):
    loop = while_loop()
    with refused(r"break_if: cond: is .*; one element is needed"), loop.loop():
        loop.break_if(condition)


def test_conditions_of_one_element():
    for condition in (np.array([[1.0]]), True, np.bool_(True), 3):
        loop = while_loop()
        with loop.loop():
            loop.break_if(condition)
    with refused(r"while_loop: step 0: break_if: cond: has shape \(2,\)"):
        loop = while_loop()
        with loop.loop():
            x = loop.loop_var(np.ones(2))  # its number of rows is unknown in the body
            loop.break_if(lodcore.greater_than(x, 0.0))


# -- names and spellings -------------------------------------------------------------------------------------------


def test_loop_vars_under_their_own_names():
    step, total = Variable("step", np.array(0)), Variable("total", np.array(1.0))
    loop = while_loop(loop_vars=[step, total])
    with loop.frame():
        loop.break_if(lodcore.equal(step, 3))
        total.update(lodcore.mul(total, 2.0))
    assert [v.name for v in loop.variables] == ["step", "total"]
    assert [float(v.get()) for v in loop.variables] == [3, 8]
    assert (int(step.get()), float(total.get())) == (3, 8), "what is given holds the last value"


def test_variables_that_no_loop_declares_have_no_update():
    x = Variable("x", np.array(1.0))
    with refused("update: x: is not a loop variable"):
        x.update(2.0)
    loop = while_loop()
    with refused("update: x: is not a loop variable"), loop.loop():
        x.update(2.0)


# -- what comes from outside ---------------------------------------------------------------------------------------


def test_deferred_loop_reads_captured_values_at_each_run():
    x, w = np.array([1.0, 2.0]), parameter([3.0, 3.0], "w")
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        count(loop, 2)
        v = loop.loop_var(np.ones(2))
        v.update(lodcore.add(lodcore.mul(v, w), x))
    with refused("Variable loop_var_1: its loop has not run"):
        v.get()
    loop()
    np.testing.assert_array_equal(v.get(), [13.0, 17.0])
    x[:] = 0
    w.set(np.array([1.0, 2.0]))
    loop()
    np.testing.assert_array_equal(v.get(), [1.0, 4.0])


def test_a_constant_that_a_body_uses_twice_is_captured_once():
    w = np.ones((2, 2))
    loop = while_loop()
    with loop.loop():
        count(loop, 1)
        lodcore.matmul(np.ones(2), w)
        lodcore.matmul(w, w)
    assert sum(given is w for given, _ in loop.body.captures.values()) == 1


def test_first_axis_of_loop_variables_is_unknown_in_the_body():
    loop = while_loop()
    with loop.loop():
        count(loop, 1)
        x = loop.loop_var(np.ones((4, 3)))
        y = lodcore.mul(x, np.ones((4, 3)))
        assert x.shape == y.shape == (None, 3)
        assert lodcore.mul(np.ones((4, 3)), 2).shape == (None, 3)
    assert x.shape == (4, 3)


def test_parameters_made_inside():
    loop = while_loop()
    with loop.loop():
        count(loop, 2)
        x = loop.loop_var(np.ones(2))
        x.update(lodcore.mul(x, parameter([2.0, 3.0])))
    np.testing.assert_array_equal(x.get(), [4.0, 9.0])


def test_operators_in_a_body_take_lists_and_numbers():
    loop = while_loop()
    with loop.loop():
        count(loop, 2)
        x = loop.loop_var([1.0, 2.0])
        x.update(lodcore.add(lodcore.mul(x, [1.0, 0.5]), np.float32(1)))
    np.testing.assert_array_equal(x.get(), [3.0, 2.0])
    loop = while_loop()
    with loop.loop():
        count(loop, 2)
        x = loop.loop_var(np.float32(0))
        x.update(3)
    assert (x.get(), x.get().dtype) == (3.0, np.float32)


@pytest.mark.parametrize(
    "computed",
    [
        lambda: lodcore.add(1, 2),
        lambda: lodcore.mul(1, 2.5),
        lambda: lodcore.tanh(1),
        lambda: lodcore.tanh(np.float32(1)),
        lambda: ops.where(True, 1, 2),
        lambda: ops.rows(2.5),
        lambda: lodcore.less_than(1, 2),
    ],
)
def test_operators_of_numbers_alone_run_in_a_body(computed):
    wanted = np.asarray(computed())
    loop = while_loop()
    with loop.loop():
        count(loop, 2)
        x = loop.loop_var(np.zeros_like(wanted), advance=False)
        x.update(computed())
    assert (x.get(), x.get().dtype) == (wanted, wanted.dtype)


# -- tensors that change from step to step ---------------------------------------------------------------------------


indices = TensorArray()
for kept in ([0, 1, 3], [0, 2], [0]):
    indices.write(len(indices), np.array(kept))


def test_gradient_of_a_batch_that_shrinks():
    x = lodcore.array([[0.1, 0.2, 0.3], [0.4], [], [0.5, 0.6]])

    def f(x, w):
        loop = while_loop()
        with loop.loop():
            time = loop.step()
            left = loop.loop_var(x)
            loop.break_if(lodcore.greater_equal_than(time, 3))
            left.update(lodcore.gather_sequences(lodcore.tanh(lodcore.mul(left, w)), indices.read(time)))
        return left

    def unrolled(x, w):
        for time in range(3):
            x = lodcore.gather_sequences(lodcore.tanh(lodcore.mul(x, w)), indices.read(time))
        return x

    w = np.array(1.5)
    lodcore.grad_check(f, x, w)
    d = np.array([1.0, -2.0, 3.0])
    for found, wanted in zip(vjp(f, x, w)[1](d), vjp(unrolled, x, w)[1](d), strict=True):
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(getattr(found, "values", found), getattr(wanted, "values", wanted))


def test_two_levels_go_from_step_to_step():
    x = lodcore.array([[[1.0], [2.0, 3.0]], [], [[4.0]]])
    loop = while_loop()
    with loop.loop():
        count(loop, 2)
        v = loop.loop_var(x)
        v.update(lodcore.mul(v, 2.0))
    assert v.get().tolist() == [[[4.0], [8.0, 12.0]], [], [[16.0]]]
    assert v.get().lod is x.lod


@pytest.mark.parametrize(
    ("init", "value", "says"),
    [
        (np.ones(2), np.ones(2, np.float32), r"is float32 \(\.,\); loop variable loop_var_1 is float64 \(\.,\)"),
        (np.ones((2, 3)), np.ones((2, 4)), r"is float64 \(\., 4\); loop variable loop_var_1 is float64 \(\., 3\)"),
        (np.ones((2, 3)), np.ones(2), r"is float64 \(\.,\)"),
        (np.ones((2, 3, 4)), np.ones((2, 3, 5)), r"is float64 \(\., 3, 5\); .* is float64 \(\., 3, 4\)"),
        (lodcore.array([[1.0]]), np.ones(1), r"is float64 \(\.,\); loop variable .* is float64 \(\.,\), 1 level"),
        (lodcore.array([[1.0]]), lodcore.array([[[1.0]]]), r"is float64 \(\.,\), 2 levels"),
        (np.int64(1), 1.5, r"is float64 \(\)"),
        (1.0, TensorArray(), r"is TensorArray"),
    ],
)
def test_updates_of_another_kind_are_refused(init, value, says):
    loop = while_loop()
    with refused(f"update: value: {says}"), loop.loop():
        count(loop, 1)
        loop.loop_var(init).update(value)


def test_updates_of_unknown_shape_are_checked_at_run_time():
    array = TensorArray()
    array.write(0, np.ones(2, np.float32))
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        time = count(loop, 1)
        v = loop.loop_var(np.ones(2))
        empty = TensorArray()
        v.update(empty.read(time))
        empty.write(time, np.ones(2))
    with refused("size is 0", IndexError):
        loop()
    loop = while_loop()
    with refused(r"update: value: is float32 \(.,\); loop variable .* is float64 \(.,\)"), loop.loop():
        time = count(loop, 1)
        v = loop.loop_var(np.ones(2))
        v.update(unknown(array, time))


@for_each(("init", "number"), [(np.int8(1), 128), (np.int8(1), -129), (np.int16(1), 2**15), (np.int32(1), 2**31)])
def test_numbers_that_a_loop_variable_cannot_hold_are_refused(init, number):
    loop = while_loop()
    with refused(f"update: value: is {number}; {init.dtype} cannot hold it", DTypeError), loop.loop():
        count(loop, 1)
        loop.loop_var(init).update(number)


def unknown(array, time):
    """Read an element such that its Spec is unknown at recording."""
    return array.read(time, 0.0)


# -- nested loops --------------------------------------------------------------------------------------------------


def test_the_inner_loop_cannot_change_the_outer_one():
    outer = while_loop()
    with refused("update: loop_var: is a loop variable of a Block that is not the open one"), outer.loop():
        x = outer.loop_var(1.0)
        inner = while_loop()
        with inner.loop():
            inner.break_if(True)
            x.update(2.0)
    outer = while_loop()
    with refused("break_if: the body of this loop is not the Block that is open"), outer.loop():
        inner = while_loop()
        with inner.loop():
            outer.break_if(True)


# -- what is refused -----------------------------------------------------------------------------------------------


def test_no_break_is_refused():
    loop = while_loop()
    with refused("the body has no break_if; it would never end"), loop.loop():
        loop.loop_var(0)
    with refused("the body is failed"):
        loop()
    loop = while_loop()
    with refused("the body has no break_if; it would never end"), loop.loop(exec_immediately=False):
        lodcore.add(loop.loop_var(0), 1)


@for_each(("most", "end"), itertools.product(range(4), range(6)))
def test_loop_of_more_than_max_steps_raises(most, end):
    loop = while_loop(max_steps=most)
    with loop.loop(exec_immediately=False):
        t = loop.step()
        loop.break_if(t >= end)
    if end <= most:
        loop()
        assert t.get() == end
    else:
        with refused(f"max_steps: {most} steps have run, and no break_if held"):
            loop()


def test_while_loop_that_exceeds_max_steps_raises():
    def run(steps):
        loop = while_loop(max_steps=5)
        with loop.loop():
            time = count(loop, steps)
        return int(time.get())

    assert run(5) == 5
    with refused("max_steps: 5 steps have run, and no break_if held"):
        run(6)
    for wrong in (-1, 1.5, "1"):
        with refused("max_steps: is .*; an integer of 0 or more"):
            while_loop(max_steps=wrong)


def test_an_exception_in_the_body_closes_it_and_runs_nothing():
    array = TensorArray()
    loop = while_loop()
    with refused("division by zero", ZeroDivisionError), loop.loop():
        loop.break_if(True)
        array.write(0, 1.0)
        x = loop.loop_var(1.0)
        _ = 1 / 0
    assert lodcore.mul(2, 3) == 6, "no Block is open"
    assert array.size() == 0
    for wrong in (x.get, loop, lambda: lodcore.mul(x, 2)):
        with refused("its loop has not run|the body is failed"):
            wrong()


def test_errors_name_operator_and_step():
    x = TensorArray(unstack_from=np.arange(2.0))
    loop = while_loop()
    with refused("^while_loop: step 2: tensor_array_read: index: is 2; the size is 2", IndexError), loop.loop():
        x.read(count(loop, 9))
    loop = while_loop()
    with refused("^while_loop: step 1: while_loop: step 0: mul: shapes ", lodcore.ShapeError), loop.loop():
        time = count(loop, 9)
        v = loop.loop_var(np.ones(3))
        inner = while_loop()
        with inner.loop():
            inner.break_if(lodcore.equal(inner.step(), 1))
            lodcore.mul(v, np.ones(3))
        v.update(shorter.read(time))


shorter = TensorArray(unstack_from=np.ones((1, 2)))


class Strange(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize("error", [Strange(1, 2), KeyError("key"), UnicodeDecodeError("utf-8", b"", 0, 1, "why")])
def test_errors_without_a_text_constructor_pass_through_a_loop(error, monkeypatch):
    def fails(x):
        raise error

    monkeypatch.setattr(lodcore.tanh, "__wrapped__", fails)

    monkeypatch.setattr(lodcore.tanh, "on_arrays", None)
    loop = while_loop()
    with pytest.raises(Exception, match="while_loop: step 0: tanh: ") as caught, loop.loop():
        loop.break_if(lodcore.greater_than(lodcore.tanh(loop.loop_var(1.0)), 2.0))
    assert caught.value.__cause__ is error


def test_errors_raised_by_signals_pass_through_a_loop_unchanged(monkeypatch):
    """They are raised unchanged between two calls, and are not lost in one."""

    def late(*given):
        raise TimeoutError("late")

    monkeypatch.setattr(lodcore.sigmoid, "on_arrays", late)
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        loop.break_if(lodcore.greater_than(lodcore.sigmoid(loop.loop_var(np.array(1.0))), 0.5))
    with pytest.raises(TimeoutError, match=r"^while_loop: step 0: sigmoid: late$"):
        loop()
    monkeypatch.setattr(engine, "run", late)
    with pytest.raises(TimeoutError, match=r"^late$"):
        loop()


def test_variables_of_the_body_are_refused_outside():
    loop = while_loop()
    with loop.loop():
        count(loop, 1)
        y = lodcore.mul(loop.loop_var(1.0), 2.0)
    for wrong in (
        lambda: lodcore.mul(y, 2.0),
        lambda: lodcore.mul(np.ones(2), y),
        lambda: lodcore.concat_batches([y]),
        lambda: lodcore.tensor_array_write(TensorArray(), 0, y),
        lambda: vjp(lambda x: lodcore.mul(x, y), 1.0),
    ):
        with refused("Variable mul: .*cannot be used outside"):
            wrong()
    with refused("Variable mul: .*cannot be used outside"), Program():
        lodcore.mul(y, 2.0)
    other = while_loop()
    with refused("Variable mul: .*cannot be used outside"), other.loop():
        lodcore.mul(y, 2.0)
    del loop
    with refused("Variable mul: its Block is gone; it cannot be used outside that Block"):
        lodcore.mul(y, 2.0)
    with refused("Variable mul: has no value while it is recorded"):
        y.get()


def test_loop_var_refuses_an_initial_value_made_in_the_body():
    loop = while_loop()
    with refused("loop_var: init: Variable mul is made in the body; make it before"), loop.loop():
        loop.break_if(True)
        loop.loop_var(lodcore.mul(loop.loop_var(1.0), 2.0))


@pytest.mark.parametrize("question", [bool, int, float, len, list, np.asarray, lambda x: range(x), lambda x: [1][x]])
def test_conversions_of_recorded_values_in_a_body_are_refused(question):
    loop = while_loop()
    with (
        refused(
            r"known only at run time|break_if|while_loop and map_fn|would not be recorded", (GraphError, TypeError)
        ),
        loop.loop(),
    ):
        question(lodcore.mul(loop.loop_var(np.array([1])), 2))


def test_loop_refuses_statements_outside_of_its_body_and_a_second_body():
    loop = while_loop()
    with refused("loop_var: the body is not open"):
        loop.loop_var(0)
    with refused("break_if: the body of this loop is not"):
        loop.break_if(True)
    with refused("the body is new; it must be recorded"):
        loop()
    with loop.loop():
        loop.break_if(True)
        with refused("the body is open; it must be recorded"):
            loop()
        with refused("the body was recorded already"), loop.loop():
            pass
    with refused("the body was recorded already"), loop.loop():
        pass
    with refused("loop_var: the body is not open"):
        loop.step()


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (
            lambda: while_loop([TensorArray()]).loop().__enter__(),
            "loop_vars: is TensorArray array; arrays go from step",
        ),
        (lambda: while_loop(np.ones(2)), "loop_vars: is an ndarray; a list"),
        (lambda: while_loop(Variable("x", 1.0)), "loop_vars: is a Variable; a list"),
        (lambda: in_body(lambda loop: loop.loop_var(1.0, advance=True)), "advance: is True; only an integer"),
        (lambda: in_body(lambda loop: loop.loop_var(np.arange(3), advance=1)), "advance: is 1; only an integer"),
        (lambda: in_body(lambda loop: loop.loop_var(0, advance=0.5)), "advance: is 0.5; only an integer"),
        (lambda: in_body(lambda loop: loop.loop_var(np.uint8(0), advance=-1)), "advance: is -1; uint8 cannot hold it"),
        (lambda: in_body(lambda loop: loop.loop_var(np.int8(0), advance=300)), "advance: is 300; int8 cannot hold it"),
        (lambda: in_body(lambda loop: loop.loop_var(0).set(1)), "loop_var: is a loop variable; update sets"),
    ],
)
def test_wrong_calls_of_while_loop_raise(wrong, error):
    with refused(error):
        wrong()


def in_body(function):
    loop = while_loop()
    with loop.loop():
        loop.break_if(True)
        function(loop)


@pytest.mark.parametrize("init", [object(), [[1], [1, 2]], None, iter([1]), {1: None}, np.array([None])])
def test_loop_var_refuses_initial_values_that_are_no_tensors(init):
    with pytest.raises((TypeError, ValueError), match="loop_var: init"):
        in_body(lambda loop: loop.loop_var(init))


# -- threads and generators ------------------------------------------------------------------------------------------


def test_each_thread_has_its_own_open_block():
    results, opened, go = {}, threading.Barrier(2), threading.Barrier(2)

    def work(number):
        loop = while_loop()
        with loop.loop():
            opened.wait()
            x = loop.loop_var(float(number))
            count(loop, 3)
            x.update(lodcore.mul(x, 2.0))
            go.wait()
        results[number] = float(x.get())

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {1: 8.0, 2: 16.0}


def test_bodies_of_two_threads_do_not_mix():
    loop = while_loop()
    caught = []

    def work(y):
        try:
            other = while_loop()
            with other.loop():
                other.break_if(True)
                lodcore.mul(y, 2.0)
        except GraphError as error:
            caught.append(str(error))

    with loop.loop():
        loop.break_if(True)
        thread = threading.Thread(target=work, args=(lodcore.mul(loop.loop_var(1.0), 2.0),))
        thread.start()
        thread.join()
    assert len(caught) == 1
    assert "Variable mul: belongs to another Body" in caught[0]


def test_one_loop_in_many_threads():
    array = TensorArray()
    array.write(0, np.array(1.0))
    loop = while_loop()
    with loop.loop(exec_immediately=False):
        time = count(loop, 50)
        array.write(lodcore.add(time, 1), lodcore.add(array.read(time), 1.0))
    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(array.stack(), np.arange(1.0, 52.0))


def test_generator_that_stops_in_a_body_closes_it_without_a_run():
    """A generator that stops inside a body leaves it open; closing the generator ends it, and nothing runs."""

    def generator():
        loop = while_loop()
        with loop.loop():
            loop.break_if(True)
            yield lodcore.mul(loop.loop_var(1.0), 2.0)

    inside = generator()
    assert isinstance(next(inside), Variable)
    inside.close()
    assert lodcore.mul(2, 3) == 6


# -- numbers of NumPy as loop variables under their own name ----------------------------------------------------------


def test_a_number_of_numpy_stands_for_its_loop_variable_in_updates():
    start = np.float64(2.0)
    loop = while_loop(loop_vars=[start])
    with loop.loop():
        (s,), t, last = loop.loop_vars, loop.loop_var(0), loop.loop_var(0.5)
        loop.break_if(t >= 3)
        last.update(start)
        s.update(s * 3.0)
    assert (float(last), float(s)) == (18.0, 54.0)


def test_a_number_of_numpy_stands_for_its_loop_variable_in_break_if():
    stop = np.bool_(False)
    loop = while_loop(loop_vars=[stop], max_steps=9)
    with loop.loop():
        (s,), t = loop.loop_vars, loop.loop_var(0)
        loop.break_if(stop)
        s.update(t >= 4)
    assert int(t) == 5


def test_a_number_of_numpy_stands_for_its_loop_variable_where_a_loop_inside_begins():
    one = np.float64(1.0)
    outer = while_loop(loop_vars=[one])
    with outer.loop():
        (s,), t, total = outer.loop_vars, outer.loop_var(0), outer.loop_var(0.0)
        outer.break_if(t >= 3)
        inner = while_loop()
        with inner.loop():
            k, doubled = inner.loop_var(0), inner.loop_var(one)
            inner.break_if(k >= 2)
            doubled.update(doubled * 2.0)
        total.update(total + doubled)
        s.update(s + 1.0)
    assert float(total) == 4 * (1.0 + 2.0 + 3.0)


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("options", [{}, {"recompute": True}, {"max_steps": 5}])
def test_loop_whose_first_instruction_is_break_if_has_gradients(steps, options):
    def f(x):
        loop = while_loop(**options)
        with loop.loop():
            done, count, total = loop.loop_var(np.array(steps == 0)), loop.loop_var(np.array(1)), loop.loop_var(x)
            loop.break_if(done)
            done.update(count >= steps)
            count.update(count + 1)
            total.update(total * 2.0)
        return total

    y, pullback = vjp(f, np.array([1.0, 3.0]))
    np.testing.assert_array_equal(y, np.array([1.0, 3.0]) * 2**steps)
    np.testing.assert_array_equal(pullback(np.array([1.0, 1.0]))[0], [2.0**steps] * 2)
    np.testing.assert_array_equal(f(np.array([1.0, 3.0])).get(), y)


A = np.array([[1.0, 2.0]])


@for_each("tree", [{"h": A, "c": (A, 1.0)}, (A, [A]), [A, A]])
def test_loop_var_carries_trees_of_tensors(tree):
    def run(tree):
        loop = while_loop()
        with loop.loop():
            t, state = loop.step(), loop.loop_var(tree)
            loop.break_if(t >= 2)
            tree_map(lambda v: v.update(v * 2.0), state)
        return state

    for found, first in zip(tree_leaves(run(tree)), tree_leaves(tree), strict=True):
        np.testing.assert_array_equal(found.get(), np.asarray(first) * 4)
    _, pullback = vjp(lambda tree: sum(ops.sum(leaf) for leaf in tree_leaves(run(tree))), tree)
    assert all(np.all(leaf == 4) for leaf in tree_leaves(pullback(1.0)[0]))


def test_lists_of_numbers_are_one_tensor_and_names_are_refused():
    loop = while_loop()
    with loop.loop():
        assert loop.loop_var([1.0, 2.0]).shape == (None,)
        with refused("loop_var: init: is 'x'; a tensor or a number is needed", DTypeError):
            loop.loop_var("x")
        with refused("break_if: cond: has dtype <U4; bool or a number"):
            loop.break_if("done")
        with refused("add: dtypes", DTypeError):
            lodcore.add("one", 2.0)
        loop.break_if(True)


X = np.array([0.5, -1.5, 2.0])


@every_way
def test_loop_vars_takes_numbers_and_tensors(way):
    """A variable without a name in the body is `loop.loop_vars[k]`, there and after the loop."""

    def text(while_loop, x):
        loop = while_loop([0, 1.0, x * 1.0])
        with loop.loop():
            t, s, v = loop.loop_vars
            loop.break_if(t >= 3)
            s.update(s * 2.0)
            v.update(v * s)
        t, s, v = loop.loop_vars
        return t, s, v

    check(way, text, lambda x: (np.array(3), np.array(8.0), x * 8.0), X)


@pytest.mark.parametrize("way", ["vjp", "recompute", "Program"])
def test_a_recorded_variable_given_to_loop_vars_stands_for_the_last_value(way):
    def text(while_loop, x):
        state = x * 1.0
        before = state + 0.0
        loop = while_loop(loop_vars=[state])
        with loop.loop():
            loop.break_if(loop.step() >= 2)
            state.update(state * x)
        return before, state * 3.0

    check(way, text, lambda x: (x, x**3 * 3.0), X)
