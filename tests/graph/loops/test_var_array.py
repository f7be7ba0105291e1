"""Arrays as lists: items, len, iteration, sizes that are recorded, and filling by unstack and unpack."""

import numpy as np
import pytest

from lodcore import GraphError, LoDTensor, TensorArray
from lodcore.graph import Executor, Program, VarArray, data
from tests.helpers.texts_in_every_way import check, every_way, run_body

X = np.array([0.5, -1.5, 2.0])

ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])

LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0, 0.5]), [1, 0, 3])


@every_way
@pytest.mark.parametrize("kind", [TensorArray, VarArray])
def test_array_items_are_read_and_written_by_brackets(way, kind):
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
def test_len_and_iteration_of_arrays(way, kind):
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
def test_negative_and_large_indices_are_refused(kind):
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
def test_len_of_an_array_in_a_body_is_refused(use):
    states = TensorArray()
    with pytest.raises(GraphError, match="break_if"):
        run_body(lambda step: [states.write(step, X), use(states)])


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


def test_unstack_and_unpack_return_the_array_itself_and_the_map():
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


def test_unstack_and_unpack_refuse_arrays_that_are_too_small_or_written():
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
def test_array_of_a_recorded_size(way):
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


def test_write_past_a_recorded_size_raises_when_it_runs():
    with Program() as program:
        x = data("x", (None,), "float64")
        states = TensorArray(size=TensorArray.unstack(x).size(), dynamic=False, name="states")
        states.write(2, x)
        last = states.read(2)
    assert Executor().run(program, {"x": X}, [last])[0].tolist() == X.tolist()
    with pytest.raises(IndexError, match="is 2; the size is fixed at 2"):
        Executor().run(program, {"x": X[:2]}, [last])
