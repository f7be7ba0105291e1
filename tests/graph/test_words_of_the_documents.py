"""The terms of the design documents have their meaning there: arrays, loops, Variables, names, kinds of tensors."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, GraphError, LoDTensor, TensorArray, ops, vjp
from lodcore.graph import (
    Executor,
    Program,
    VarArray,
    Variable,
    data,
)
from tests.helpers.ways import check, every_way, run_body

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])
ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0, 0.5]), [1, 0, 3])


# -- "all these components act like arrays" --------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_an_array_is_indexed(way, kind):
    def text(while_loop, x):
        states = kind()
        states[0] = x
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= 3)
            states[t + 1] = states[t] * x
        states[1] = states[2] + states[0]
        return states[1] + states[3]

    check(way, text, lambda x: x**3 + x + x**4, X)


@pytest.mark.parametrize("way", ["at once", "vjp"])
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_an_array_has_a_length_and_is_iterated(way, kind):
    def text(while_loop, x):
        states = kind()
        for k in range(3):
            states[k] = x * (k + 1.0)
        assert len(states) == 3
        total = x * 0.0
        for state in states:
            total = total + state * state
        return total

    check(way, text, lambda x: 14.0 * x * x, X)


@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_indices_never_wrap(kind):
    states = kind()
    states[0] = X
    for at in (-1, 1):
        with pytest.raises(IndexError, match=f"is {at}"):
            states[at]
    with pytest.raises(IndexError, match="is -1"):
        states[-1] = X
    assert isinstance(states, TensorArray)
    assert [element.tolist() for element in states] == [X.tolist()]


@pytest.mark.parametrize("use", [len, list], ids=["len", "iteration"])
def test_the_length_of_an_array_is_not_known_in_a_body(use):
    states = TensorArray()
    with pytest.raises(GraphError, match="break_if"):
        run_body(lambda step: [states.write(step, X), use(states)])


# -- unstack and unpack of an instance -------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("size", [None, 3])
def test_unstack_fills_an_empty_array(way, size):
    def text(while_loop, x):
        ta = TensorArray(size=size)
        ta.unstack(x)
        return ta.read(0) * ta.read(2)

    check(way, text, lambda x: x[0] * x[2], ROWS)


@every_way
def test_unpack_fills_an_empty_array(way):
    def text(while_loop, x):
        ta = TensorArray()
        _, indices_map = ta.unpack(x, 0)
        ta.write(1, ta.read(1) * 3.0)
        return ta.pack(0, indices_map)

    check(way, text, lambda x: LoDTensor(x.values * [1.0, 1.0, 3.0, 1.0], x.lod), LISTS)


def test_what_unstack_and_unpack_return():
    """The array itself, and the map; on the class a new array."""
    ta, other = TensorArray(), TensorArray()
    assert ta.unstack(X) is ta
    filled, indices_map = other.unpack(LISTS, 0)
    assert filled is other
    made, again = TensorArray.unpack(LISTS, 0)
    assert again.tolist() == indices_map.tolist() == [1, 0, 2, 3]
    assert [step.tolist() for step in made] == [step.tolist() for step in other]
    assert made is not other
    assert TensorArray.unstack(X) is not TensorArray.unstack(X)
    assert VarArray().unstack(X).size() == 3


def test_what_unstack_cannot_fill():
    """An array that is too small, or has been written to, is not changed."""
    fixed, written = TensorArray(2, dynamic=False), TensorArray()
    written.write(0, X)
    for array, says in [(fixed, "2"), (written, "written")]:
        for call in (lambda array: array.unstack(ROWS), lambda array: array.unpack([[1.0, 2.0, 3.0]], 0)):
            with pytest.raises((ValueError, IndexError, GraphError), match=f"tensor_array_un(stack|pack): .*{says}"):
                call(array)
    assert fixed.size() == 2
    assert written.size() == 1
    assert TensorArray(5).unstack(X).size() == 5


@every_way
def test_a_size_that_is_recorded(way):
    """`TensorArray states(size=num_steps)`."""

    def text(while_loop, x):
        steps = TensorArray.unstack(x)
        num_steps = steps.size()
        states = TensorArray(size=num_steps, dynamic=False)
        loop = while_loop()
        with loop.loop():
            t = loop.loop_var(0)
            loop.break_if(t >= num_steps)
            states.write(num_steps - 1 - t, steps.read(t) * x[0])
        return states.stack()

    check(way, text, lambda x: x[::-1] * x[0], ROWS)


def test_past_a_size_that_is_recorded():
    with Program() as program:
        x = data("x", (None,), "float64")
        states = TensorArray(size=TensorArray.unstack(x).size(), dynamic=False, name="states")
        states.write(2, x)
        last = states.read(2)
    assert Executor().run(program, {"x": X}, [last])[0].tolist() == X.tolist()
    with pytest.raises(IndexError, match="is 2; the size is fixed at 2"):
        Executor().run(program, {"x": X[:2]}, [last])


# -- names -----------------------------------------------------------------------------------------------------------


def test_results_have_the_names_that_are_given():
    """001: "the name of the variable to output". Any operator, and any method of an array, takes it."""
    with Program() as program:
        x = data("x", (None, 2), "float64")
        steps = TensorArray.unstack(x)
        stacked = steps.stack(name="output")
        gate = lodcore.sigmoid(x, name="gate")
        read = steps.read(1, name="second")
        count = steps.size(name="count")
    assert [v.name for v in (stacked, gate, read, count)] == ["output", "gate", "second", "count"]
    found = Executor().run(program, {"x": ROWS}, ["output", "second", "count"])
    np.testing.assert_array_equal(found[0], ROWS)
    np.testing.assert_array_equal(found[1], ROWS[1])
    assert found[2] == 3
    assert "gate = sigmoid(x=x)" in str(program)


def test_names_are_unique_in_a_program_and_ignored_at_once():
    with Program():
        x = data("x", (None, 2), "float64")
        with pytest.raises(GraphError, match="x"):
            lodcore.tanh(x, name="x")
        with pytest.raises(DTypeError, match="name: is int"):
            lodcore.tanh(x, name=5)
    np.testing.assert_array_equal(lodcore.tanh(X, name="anything"), np.tanh(X))
    np.testing.assert_array_equal(vjp(lambda x: lodcore.tanh(x, name="anything"), X)[0], np.tanh(X))


def test_an_array_has_the_name_that_is_given():
    assert TensorArray(name="states").name == "states"
    with Program() as program:
        states = TensorArray(name="states")
        states.write(0, data("x", (2,), "float64"))
    assert "states" in str(program)


# -- data ------------------------------------------------------------------------------------------------------------


def test_data_with_a_known_first_axis_is_iterated():
    """003: `for step_input in dataset`."""
    with Program() as program:
        dataset = data("dataset", (3, None), "float64")
        assert len(dataset) == 3
        total = ops.sum(dataset, axis=0) * 0.0
        for step_input in dataset:
            total = lodcore.add(lodcore.mul(total, 0.5), step_input)
    found = Executor().run(program, {"dataset": ROWS}, [total])[0]
    np.testing.assert_array_equal(found, ROWS[0] / 4 + ROWS[1] / 2 + ROWS[2])


@pytest.mark.parametrize("use", [len, iter, list], ids=["len", "iter", "list"])
@pytest.mark.parametrize(("shape", "levels"), [((None, 2), 0), ((None, 2), 1)], ids=["rows", "sequences"])
def test_data_whose_first_axis_is_not_known_is_not(use, shape, levels):
    with Program(), pytest.raises(GraphError, match=r"dataset: .*(while_loop|break_if)"):
        use(data("dataset", shape, "float64", levels))


# -- loop variables --------------------------------------------------------------------------------------------------


@every_way
def test_numbers_and_tensors_as_loop_vars(way):
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


def test_a_variable_given_to_loop_vars_holds_the_last_value():
    step, state = Variable(1), Variable("state", X)
    loop = lodcore.create_whileloop(loop_vars=[step, state])
    with loop.frame():
        loop.break_if(lodcore.equal(step, 12))
        state.update(lodcore.mul(state, 2.0))
    assert int(step) == 12
    np.testing.assert_array_equal(state.get(), X * 2.0**11)
    assert (int(loop.loop_vars[0]), loop.loop_vars[1].shape) == (12, (3,))


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
