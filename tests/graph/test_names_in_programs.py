"""Variables in Programs: those from outside belong to them, names are unique, data have values only in a run."""

import copy
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, DTypeError, GraphError, LoDTensor, SparseTensor, TensorArray, nn, ops, vjp
from lodcore.graph import (
    Executor,
    Program,
    Variable,
    append_backward,
    data,
    parameter,
    tree_leaves,
    tree_map,
    value_and_grad,
    var_get_mutable,
    while_loop,
)
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.arange(6.0).reshape(3, 2)


def in_loop(x, *weights):
    """Multiply rows by weights that are first used in the body of a loop."""
    loop = while_loop()
    with loop.loop():
        state = loop.loop_var(x)
        loop.break_if(loop.step() >= 2)
        for weight in weights:
            state.update(lodcore.tanh(lodcore.matmul(state, weight)))
            state = loop.variables[0]
    return state


def in_nested_loop(x, *weights):
    loop = while_loop()
    with loop.loop():
        state = loop.loop_var(x)
        loop.break_if(loop.step() >= 2)
        state.update(lodcore.add(in_loop(state, *weights), 0.0))
    return state


def as_first_value(x, weight):
    loop = while_loop()
    with loop.loop():
        state = loop.loop_var(weight)
        loop.break_if(loop.step() >= 2)
        state.update(lodcore.tanh(lodcore.matmul(state, state)))
    return lodcore.matmul(x, state)


def at_top(x, weight):
    return lodcore.tanh(lodcore.matmul(x, weight))


@for_each("use", [in_loop, in_nested_loop, as_first_value, at_top])
@for_each("name", ["W", None])
def test_a_parameter_from_outside_belongs_to_the_program_from_its_first_use_on(use, name):
    weight = np.array([[0.5, -0.2], [0.1, 0.3]])
    w = parameter(weight, name)
    known = name or "parameter_0"
    with Program() as program:
        x = data("x", (None, 2), "float64")
        loss = ops.sum(use(x, w))
        pairs = append_backward(loss)
    assert program.parameters == [w]
    assert [one for one, _ in pairs] == [w]
    assert program.var(known) is w
    assert program.name_of(w) == known
    assert f"parameter {known}: " in str(program)
    assert f"{known}: " in program.to_dot()
    executor = Executor()
    fetched = executor.run(program, {"x": X}, [known, w, f"{known}@GRAD", pairs[0][1], loss])
    value, gradient = value_and_grad(lambda w: ops.sum(use(X, w)))(weight)
    assert all(np.shares_memory(one, weight) for one in fetched[:2])
    assert (fetched[2] == gradient).all()
    assert (fetched[3] == gradient).all()
    assert fetched[4] == value
    assert (executor.scope.find_var(known).get() == weight).all()


def test_every_parameter_of_a_layer_has_a_gradient():
    layer = nn.GRU(3, 4)
    values = layer.init(np.random.default_rng(0))
    parameters = tree_map(parameter, values)
    batch = LoDTensor.from_lengths(np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32), [2, 3])
    with Program() as program:
        x = data("x", (None, 3), num_levels=1)
        loss = ops.sum(layer(parameters, x)[0])
        gradients = append_backward(loss, parameters=parameters)
    leaves = tree_leaves(parameters)
    assert program.parameters == leaves
    assert [program.name_of(v) for v in leaves] == [f"parameter_{j}" for j in range(len(leaves))]
    assert [v.name for v in leaves] == [program.name_of(v) for v in leaves], "the names of their first Program"
    _, wanted = value_and_grad(lambda p: ops.sum(layer(p, batch)[0]))(values)
    found = Executor().run(program, {"x": batch}, tree_leaves(gradients))
    for one, other in zip(found, tree_leaves(wanted), strict=True):
        assert (one == other).all()
    assert tree_map(lambda x: None, gradients) == tree_map(lambda x: None, wanted)


def test_gradients_come_in_the_tree_that_is_given():
    used, unused, table = parameter(np.ones(2)), parameter(np.ones(3, np.float32), "b"), parameter(np.ones((4, 2)))
    count = parameter(np.arange(2))
    with Program() as program:
        ids = data("ids", (None,), "int64")
        x = data("x", (2,), "float64")
        loss = ops.sum(lodcore.lookup_table(table, ids) * used * x)
        tree = {"layers": [used, (unused, 5)], "table": table, "counts": count, "x": x, "none": None}
        gradients = append_backward(loss, parameters=tree)
        assert append_backward(loss, parameters=used).name == "parameter_1@GRAD_1"
    assert gradients["counts"] is None
    assert gradients["none"] is None
    assert gradients["layers"][1][1] is None
    assert "b@GRAD = zeros(b)" in str(program)
    wanted = [gradients["layers"][0], gradients["layers"][1][0], gradients["table"], gradients["x"]]
    found = Executor().run(program, {"ids": [0, 2, 0], "x": np.ones(2)}, wanted)
    assert found[0].tolist() == [3, 3]
    assert found[1].tolist() == [0, 0, 0]
    assert found[1].dtype == np.float32
    assert isinstance(found[2], SparseTensor)
    assert found[2].to_dense().tolist() == [[2, 2], [0, 0], [1, 1], [0, 0]]
    assert found[3].tolist() == [3, 3]
    with program, pytest.raises(GraphError, match=r"append_backward: parameters: result .*: is neither a parameter"):
        append_backward(loss, parameters=[loss])


@for_each("where", ["at top", "in a loop"])
@for_each("first", ["parameter", "data", "parameter of the Program", "result"])
def test_two_variables_of_one_name_are_an_error_that_names_both(first, where):
    other = parameter(np.ones((2, 2)), "V")
    with Program() as program:
        x = data("x", (None, 2), "float64")
        if first == "data":
            data("V", (2,))
        elif first == "parameter of the Program":
            parameter(np.ones(2), "V")
        elif first == "result":
            lodcore.mul(x, 2.0, name="V")
        else:
            lodcore.mul(x, parameter(np.ones(2), "V"))
        with pytest.raises(
            GraphError, match=r"Variable V: float64 \(2, 2\): .* another .*: \w+ V: float\d\d \(.*2,?\)"
        ):
            in_loop(x, other) if where == "in a loop" else lodcore.matmul(x, other)
    assert str(program).count(" V: ") <= 1


def test_automatic_names_give_way_to_given_ones():
    with Program() as program:
        x = data("x", (None, 2), "float64")
        y = lodcore.tanh(x)
        unnamed = parameter(np.ones(2))
        z = lodcore.mul(y, Variable(np.full(2, 2.0)))
        tanh, named = parameter(np.ones(2), "tanh"), parameter(np.zeros(2), "variable_0")
        last = lodcore.add(z, lodcore.mul(tanh, lodcore.mul(named, unnamed)))
    assert program.var("tanh") is tanh
    assert program.var("variable_0") is named
    assert y.name == "tanh_1"
    names = [v.name for v in (x, y, z, last)] + [program.name_of(v) for v in program.parameters]
    assert len(names) == len(set(names)) == 8
    assert (Executor().run(program, {"x": X}, [last, "variable_1"])[0] == 2 * np.tanh(X)).all()


def test_programs_share_parameters():
    """Those of one Program, and those from outside, whose names are each Program's own."""
    outside = parameter(np.full(2, 3.0))
    programs, results = [], []
    with Program() as first:
        inside, named = parameter(np.full(2, 2.0)), parameter(np.ones(2), "w")
        programs.append(first)
        results.append(data("x", (2,), "float64") * inside * outside * named)
    with Program() as second:
        x = data("x", (2,), "float64")
        loop = while_loop()
        with loop.loop():
            s = loop.loop_var(x)
            loop.break_if(loop.step() >= 1)
            s.update(s * outside * named * inside)
        programs.append(second)
        results.append(s)
    for program, result in zip(programs, results, strict=True):
        assert set(program.parameters) == {inside, outside, named}
        assert Executor().run(program, {"x": np.ones(2)}, [result, inside, "w"])[0].tolist() == [6, 6]
    assert second.name_of(outside) != second.name_of(inside)
    with Program(), pytest.raises(GraphError, match="belongs to another Program"):
        lodcore.mul(results[0], 2.0)


# -- data --------------------------------------------------------------------------------------------------------------


@for_each(
    "change",
    [
        lambda x: var_get_mutable(x, DenseTensor),
        lambda x: x.get_mutable(LoDTensor),
        lambda x: x.set(np.ones(2)),
        lambda x: x.clone(Variable(1.0)),
    ],
)
def test_data_have_no_value_outside_of_a_run(change):
    with Program() as program:
        x = data("x", (None, 2), "float64")
        y = lodcore.mul(x, 2.0)
    with pytest.raises(GraphError, match=r"Variable x: is data, without a value outside of a run; .* feed={'x': ...}"):
        change(x)
    with pytest.raises(GraphError, match="Variable mul: is made by an operator"):
        change(y)
    assert not x.has_value
    with pytest.raises(GraphError, match=r"feed: x: .* is not fed"):
        Executor().run(program, fetch=[y])


@for_each(
    ("declared", "given"),
    [("f4", "f8"), ("f8", "f4"), ("f4", "f2"), (">f4", "f4"), ("i8", "i4"), ("i4", "i8"), ("i8", "u1"), ("c8", "c16")],
)
def test_data_that_cast_take_other_dtypes_of_one_kind(declared, given):
    with Program() as program:
        y = lodcore.mul(data("x", (None,), declared, num_levels=1, cast=True), 2)
        plain = lodcore.mul(data("plain", (None,), declared), 2)
    assert ", 1 level, cast" in str(program)
    fed = LoDTensor.from_lengths(np.arange(3).astype(given), [1, 2])
    (found,) = Executor().run(program, {"x": fed}, [y])
    assert found.dtype == y.dtype
    assert found.lod is fed.lod
    assert found.values.tolist() == [0, 2, 4]
    if np.dtype(declared).newbyteorder("=") != np.dtype(given):
        with pytest.raises(DTypeError, match=r"feed: plain: has dtype .*; the Program needs"):
            Executor().run(program, {"plain": np.ones(2, given)}, [plain])


@for_each(
    ("declared", "value"), [("f4", np.array([1])), ("i8", np.ones(1)), ("i8", np.ones(1, bool)), ("b1", np.ones(1))]
)
def test_data_with_cast_refuses_values_of_another_kind_of_dtype(declared, value):
    with Program() as program:
        y = lodcore.mul(data("x", (None,), declared, cast=True), 1)
    with pytest.raises(DTypeError, match=r"feed: x: has dtype .*; the Program needs"):
        Executor().run(program, {"x": value}, [y])


def test_feed_of_numbers_that_the_dtype_of_data_cannot_hold_raises():
    with Program() as program:
        y = lodcore.mul(data("x", (None,), "int16", cast=True), 1)
    with pytest.raises(DTypeError, match="feed: x: is 32768; int16 cannot hold it"):
        Executor().run(program, {"x": np.array([1, 32768])}, [y])


ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])


def test_operators_and_methods_name_their_results_by_name():
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


def test_names_of_results_are_unique_in_a_program_and_ignored_at_once():
    with Program():
        x = data("x", (None, 2), "float64")
        with pytest.raises(GraphError, match="x"):
            lodcore.tanh(x, name="x")
        with pytest.raises(DTypeError, match="name: is int"):
            lodcore.tanh(x, name=5)
    np.testing.assert_array_equal(lodcore.tanh(X, name="anything"), np.tanh(X))
    np.testing.assert_array_equal(vjp(lambda x: lodcore.tanh(x, name="anything"), X)[0], np.tanh(X))


def test_a_call_whose_name_is_refused_is_not_recorded():
    with Program() as program:
        x = data("x", (), "float64")
        with pytest.raises(GraphError, match=r"^mul: x: there is such a Variable in the Program already: data x"):
            lodcore.mul(x, 2.0, name="x")
        with pytest.raises(DTypeError, match=r"^mul: name: is int; a str is needed"):
            lodcore.mul(x, 2.0, name=3)
        y = lodcore.mul(x, 3.0)
    assert [op.outputs for op in program.ops] == [[y]]
    assert str(program).count("mul = ") == 1
    assert Executor().run(program, feed={"x": 1.0}, fetch=["mul"]) == [3.0]


def test_a_copy_of_a_program_is_a_clone():
    with Program() as program:
        y = data("x", (), "float64") * 2.0
    with copy.copy(program) as copied:
        z = y + 1.0
    assert (program.has(z), copied.has(z)) == (False, True)
    for taken in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"^Program: cannot be pickled; lodcore.save keeps it"):
            taken(program)


def test_arrays_have_the_name_that_is_given():
    assert TensorArray(name="states").name == "states"
    with Program() as program:
        states = TensorArray(name="states")
        states.write(0, data("x", (2,), "float64"))
    assert "states" in str(program)


def test_an_unnamed_parameter_from_outside_is_fetched_by_the_name_that_its_first_program_gave_it():
    outside, other = parameter(np.ones(2)), parameter(np.full(2, 3.0))
    with Program() as program:
        y = outside * 2.0
        inside = parameter(np.full(2, 5.0))
        z = inside * outside * other
    names = [outside.name, other.name, inside.name]
    assert names == ["parameter_0", "parameter_1", "parameter"]
    found = Executor().run(program, fetch=[*names, y, z])
    assert [x[0] for x in found] == [1.0, 3.0, 5.0, 2.0, 15.0]
    with Program() as second:
        other * outside
    assert [second.name_of(v) for v in (other, outside)] == ["parameter_1", "parameter_0"], (
        "the same, where they are free"
    )


def test_names_of_gradients_are_not_given():
    with Program():
        x = parameter(2.0, "x")
        for call in (
            lambda: lodcore.mul(x, x, name="x@GRAD"),
            lambda: data("y@GRAD", ()),
            lambda: parameter(1.0, "@GRAD"),
        ):
            with pytest.raises(GraphError, match="names that end with @GRAD are those of gradients"):
                call()
        assert lodcore.mul(x, x, name="x@GRADIENT").name == "x@GRADIENT"
