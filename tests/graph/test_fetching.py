"""What an Executor fetches is the same as a result, as its Variable and by name; alone, with others, and run again."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, GraphError, LoD, LoDTensor, ShapeError, SparseTensor, TensorArray, nn, ops
from lodcore.graph import Executor, Program, VarArray, append_backward, data, parameter, while_loop

pytestmark = pytest.mark.not_on_reference  # fetching is independent of the kernels

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
W = np.array([2.0, 0.5])


def everything():
    """Record a Program; return it, the names that can be fetched, and their values computed with NumPy."""
    with Program() as program:
        x, w = data("x", (3, 2), "float64"), parameter(W.copy(), "w")
        scaled = lodcore.mul(x, w, name="scaled")
        things = {"x": (x, X), "w": (w, W), "scaled": (scaled, X * W)}

        things["empty"] = (TensorArray(name="empty"), [])
        things["holes"] = (TensorArray(2, name="holes"), [None, None])
        written = TensorArray(name="written")
        written.write(0, x)
        first = lodcore.add(written.read(0), 0.0, name="first")
        written.write(1, scaled)
        written.write(0, scaled)  # again: earlier reads keep the earlier value
        second = lodcore.add(written.read(0), 0.0, name="second")
        things |= {"written": (written, [X * W, X * W]), "first": (first, X), "second": (second, X * W)}

        unstacked = TensorArray(4, name="unstacked")
        unstacked.unstack(x)
        things["untouched"] = (TensorArray(unstack_from=x, name="untouched"), [*X])
        unstacked.write(1, w)
        things["unstacked"] = (unstacked, [X[0], W, X[2], None])
        slots = VarArray(name="slots")
        slots.update(0, x)
        slots.get(0).update(scaled)
        things["slots"] = (slots, [X * W])

        inside, behind = TensorArray(name="inside"), TensorArray(name="behind")
        behind.write(0, w)
        loop = while_loop()
        with loop.loop():
            time = loop.step()
            loop.break_if(lodcore.greater_equal_than(time, 2))
            state = loop.loop_var(w)
            inside.write(time, state)
            behind.write(1, state)
            state.update(lodcore.mul(state, 2.0))
        total = lodcore.add(state, 0.0, name="total")
        behind.write(2, total)
        things |= {"inside": (inside, [W, 2 * W]), "behind": (behind, [W, 2 * W, 4 * W]), "total": (total, 4 * W)}
        things["stacked"] = (lodcore.add(inside.stack(), 0.0, name="stacked"), np.array([W, 2 * W]))
    return program, things


def listed(value):
    """Return a value as lists, with None for the holes of an array."""
    if isinstance(value, TensorArray):
        held = value.known_elements()
        return [listed(held[at]) if at in held else None for at in range(value.size())]
    if isinstance(value, list):
        return [one if one is None else one.tolist() for one in value]
    return value.tolist()


WAYS = {
    "itself": lambda program, thing, name: thing,
    "Variable": lambda program, thing, name: program.var(name),
    "name": lambda program, thing, name: name,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("alone", [True, False], ids=["alone", "with all others"])
def test_fetches_alone_and_together_give_the_last_values(way, alone):
    program, things = everything()
    wanted = {name: listed(value) for name, (_, value) in things.items()}
    fetched = {name: WAYS[way](program, thing, name) for name, (thing, _) in things.items()}
    for _ in range(2):  # a second run starts from the beginning
        if alone:
            found = {name: Executor().run(program, {"x": X}, [one])[0] for name, one in fetched.items()}
        else:
            executor = Executor()
            executor.run(program, {"x": X}, [*fetched.values()][:3])
            found = dict(zip(fetched, executor.run(program, {"x": X}, [*fetched.values()]), strict=True))
        assert {name: listed(value) for name, value in found.items()} == wanted


def test_an_array_is_fetched_with_elements_written_after_its_first_run():
    program, things = everything()
    executor = Executor()
    executor.run(program, {"x": X}, ["written"])
    with program:
        things["written"][0].write(2, things["total"][0])
    for way in WAYS.values():
        (found,) = executor.run(program, {"x": X}, [way(program, things["written"][0], "written")])
        assert listed(found) == listed([X * W, X * W, 4 * W])


def test_results_with_levels_and_gradients():
    ragged = lodcore.array([[1.0, 2.0], [], [3.0]])
    with Program() as program:
        x, w = data("x", (None,), "float64", num_levels=1), parameter(np.array(3.0), "w")
        y = lodcore.mul(x, w, name="y")
        loss = lodcore.ops.sum(y)
        ((_, gradient),) = lodcore.graph.append_backward(loss)
    wanted = {"y": (ragged * 3.0).tolist(), gradient.name: 6.0, loss.name: 18.0}
    for things in ([y, gradient, loss], [y.name, gradient.name, loss.name], [program.var(name) for name in wanted]):
        found = dict(zip(wanted, Executor().run(program, {"x": ragged}, things), strict=True))
        assert isinstance(found["y"], LoDTensor)
        assert {name: value.tolist() for name, value in found.items()} == wanted


def test_results_come_in_the_order_in_which_they_are_asked_for():
    program, things = everything()
    executor, feed = Executor(), {"x": X}
    names = ["scaled", "first", "second", "total"]
    alone = {name: executor.run(program, feed, [things[name][0]])[0].tolist() for name in names}
    for count in (2, 3, 4):
        for chosen in itertools.permutations(names, count):
            found = executor.run(program, feed, [things[name][0] for name in chosen])
            assert [one.tolist() for one in found] == [alone[name] for name in chosen]
    twice = executor.run(program, feed, [things[name][0] for name in ("first", "total", "first")])
    assert [one.tolist() for one in twice] == [alone[name] for name in ("first", "total", "first")]


def test_gradients_alone_and_together_through_one_loop():
    with Program() as program:
        a, b = data("a", (2,), "float64"), data("b", (2,), "float64")
        loop = while_loop()
        with loop.loop():
            state = loop.loop_var(np.ones(2))
            loop.break_if(loop.step() >= 2)
            state.update(state * a + b)
        append_backward(ops.sum(state))
    feed, wanted = {"a": np.array([2.0, 3.0]), "b": np.array([1.0, 5.0])}, {"a@GRAD": [5, 11], "b@GRAD": [3, 4]}
    for names in (["a@GRAD"], ["b@GRAD"], ["a@GRAD", "b@GRAD"], ["b@GRAD", "a@GRAD"], ["b@GRAD"], ["a@GRAD"]):
        found = Executor().run(program, feed, names)
        assert [one.tolist() for one in found] == [wanted[name] for name in names]


def test_the_scope_of_a_run_that_failed_is_empty():
    with Program() as program:
        y = lodcore.mul(data("x", (None,), "float64"), W)
    executor = Executor()
    for feed, fetch in (({"x": [1.0]}, ["nothing"]), ({"y": 1}, [y]), ({}, [y]), ({"x": [1.0, 2.0, 3.0]}, [y])):
        executor.run(program, {"x": [1.0, 2.0]}, [y])
        assert executor.scope.find_var("x").get().tolist() == [1, 2]
        with pytest.raises((GraphError, ShapeError)):
            executor.run(program, feed, fetch)
        assert executor.scope.local_var_names() == []


def test_a_loop_that_runs_twice_has_results_of_two_names():
    with Program() as program:
        x, loop = data("x", (), "float64"), while_loop()
        with loop.loop(exec_immediately=False):
            total = loop.loop_var(x)
            loop.break_if(loop.step() >= 2)
            total.update(total * 2.0)
        results = []
        for _ in range(2):
            loop()
            results.append(total.current())
            total = loop.variables[0]
    assert results[0].name != results[1].name
    for one in results:
        assert program.var(one.name) is one
        assert Executor().run(program, {"x": 3.0}, [one.name])[0] == 12


def nested(value):
    return LoDTensor.from_lengths(np.full((3, 2), value), [1, 2])


def written(value):
    array = TensorArray()
    array.write(0, value)
    return array


SHARING = {
    "the parameter itself": (np.ones((2, 2)), lambda v: v),
    "a view of it": (np.ones((2, 2)), lambda v: v[0:1]),
    "a view turned round": (np.ones((2, 2)), lambda v: v[::-1, 1:]),
    "what passes it on": (np.ones((2, 2)), lambda v: lodcore.stop_gradient(v)),
    "one of two branches": (np.ones((2, 2)), lambda v: lodcore.cond(np.bool_(True), lambda w: w, lambda w: w * 2, v)),
    "with levels": (nested(1.0), lambda v: v),
    "with other levels": (nested(1.0), lambda v: lodcore.lod_reset(v, target_lod=[0, 2, 3])),
    "the values of levels": (nested(1.0), lambda v: v.values),
    "rows of a table": (SparseTensor([1], np.ones((1, 2)), 3), lambda v: v),
    "a holder": (DenseTensor(np.ones((2, 2))), lambda v: v),
    "an element": (np.ones((2, 2)), lambda v: written(v).read(0)),
    "an array with it": (np.ones((2, 2)), written),
}


def test_writes_to_fetched_results_do_not_change_parameters_and_fed_values():
    for case, (value, f) in SHARING.items():
        for fed in (False, True):
            if fed and isinstance(value, (SparseTensor, DenseTensor)):
                continue
            with Program() as program:
                spec = dict(num_levels=1) if isinstance(value, LoDTensor) else {}
                v = data("v", (None, 2), "float64", **spec) if fed else parameter(value, "v")
                result = f(v)
            feed = {"v": value} if fed else {}
            (found,) = Executor().run(program, feed, [result])
            found = found.read(0) if isinstance(found, TensorArray) else found
            found = found if isinstance(found, np.ndarray) else found.values
            assert not found.flags.writeable, case


def test_a_fed_holder_is_fetched_as_one_that_cannot_be_changed():
    given = DenseTensor(np.arange(3.0))
    with Program() as program:
        x = data("x", (None,), "float64")
    (found,) = Executor().run(program, {"x": given}, [x])
    assert type(found) is DenseTensor
    assert not found.values.flags.writeable
    np.testing.assert_array_equal(found.values, given.values)


def test_results_of_a_run_may_be_changed():
    with Program() as program:
        v = parameter(np.ones((2, 2)), "v")
        doubled = v * 2
        part = doubled[0:1]
        v.update(lodcore.add(v, 1.0, name="new"))
    executor = Executor()
    for one in executor.run(program, fetch=[doubled, part, "new"]):
        one[...] = 7
    (before,) = executor.run(program, fetch=[v])
    np.testing.assert_array_equal(before, np.full((2, 2), 2.0))


def test_an_element_of_an_array_from_outside_cannot_be_changed():
    outside = written(np.ones(2))
    with Program() as program:
        element = outside.read(0)
    (found,) = Executor().run(program, fetch=[element])
    assert not found.flags.writeable


@pytest.mark.parametrize("levels", [0, 1])
def test_writes_to_an_array_after_the_update_that_it_was_given_to_do_not_change_the_new_value(levels):
    array = np.ones((2, 3))
    value = LoDTensor(array, LoD.from_lengths([2, 0]), share=True) if levels else array
    with Program() as program:
        v = parameter(value, "v")
        v.update(value)
    array[...] = 7
    executor = Executor()
    executor.run(program)
    found = executor.scope.get(v)
    assert type(found) is type(value)
    np.testing.assert_array_equal(found.values if levels else found, np.ones((2, 3)))


def test_the_new_value_of_a_parameter_is_no_view_of_what_is_fetched():
    parameters = {"w": parameter(np.ones((2, 2)), "w")}
    with Program() as program:
        gradients = append_backward(lodcore.ops.sum(parameters["w"] * 2.0), parameters=parameters)
        nn.SGD(0.5).step(parameters, gradients)
        part = program.var("w@NEXT")[0:1]
    executor = Executor()
    (found,) = executor.run(program, fetch=[part])
    kept = executor.scope.get(parameters["w"])
    np.testing.assert_array_equal(kept, np.zeros((2, 2)))
    assert not np.shares_memory(found, kept)
