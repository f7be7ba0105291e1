"""The words of the design documents mean what they say: arrays, loops, Variables, names, kinds of tensors."""

import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, DTypeError, GraphError, LoDTensor, Tensor, TensorArray, ops, vjp
from lodcore.graph import (
    Executor,
    Program,
    VarArray,
    Variable,
    data,
    is_inheritance_of,
    parameter,
    register_inheritance,
    var_get_mutable,
    while_loop,
)
from lodcore.registry import Spec
from tests.graph.ways import WHILE_RECORDING, check, every_way, run_body

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
    """An array of a fixed size that is too small, or to which something was written, stays as it was."""
    fixed, written = TensorArray(2, dynamic=False), TensorArray()
    written.write(0, X)
    for array, says in [(fixed, "2"), (written, "written")]:
        for call in (lambda array: array.unstack(ROWS), lambda array: array.unpack([[1.0, 2.0, 3.0]], 0)):
            with pytest.raises((ValueError, IndexError, GraphError), match=f"TensorArray.un(stack|pack): .*{says}"):
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
        total = 0.0
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
    """What has no name of its own in the body is `loop.loop_vars[k]`, there and after the loop."""

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


# -- Variables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: lodcore.Var(12), lambda: Variable(12), lambda: Variable(value=12)])
def test_a_number_is_a_value(make):
    v = make()
    assert (int(v), v.shape, v.has_value) == (12, (), True)
    assert v.dtype == np.int64
    assert int(lodcore.add(v, 1)) == 13


@pytest.mark.parametrize("value", [X, 2.5, LISTS, [1.0, 2.0]], ids=["array", "number", "sequences", "list"])
def test_the_first_argument_of_a_variable_is_a_name_or_a_value(value):
    v = lodcore.Var(value)
    assert v.has_value
    assert v.name == Variable().name
    named = Variable("x", value)
    assert (named.name, named.spec) == ("x", v.spec)
    assert not Variable("x").has_value
    with pytest.raises(DTypeError, match="Variable"):
        Variable(value, value)


def test_a_variable_of_a_shape():
    """003: `Variable(shape=[0], dtype=int32)` is a scalar 0; any other shape is one of zeros."""
    time = lodcore.Variable(shape=[0], dtype=lodcore.int32)
    assert (time.shape, time.dtype, int(time)) == ((), np.int32, 0)
    for shape in [(2, 3), (), (4,)]:
        v = Variable(shape=shape, dtype=lodcore.float32)
        assert (v.shape, v.dtype) == (shape, np.float32)
        assert not v.get().any()
    loop = while_loop()
    with loop.loop():
        t = loop.loop_var(time)
        loop.break_if(t >= 3)
    assert (int(t), t.dtype) == (3, np.int32)


@pytest.mark.parametrize("recording", ["at once", "Program"])
def test_a_parameter_of_a_shape(recording):
    """Of small numbers, not all of them zero, since a network whose weights are equal does not learn."""
    w, b = WHILE_RECORDING[recording](
        lambda: (parameter(shape=(3, 2), name="W"), parameter(shape=[4], dtype=lodcore.float64))
    )
    assert (w.name, w.shape, w.dtype) == ("W", (3, 2), np.float32)
    assert (b.shape, b.dtype) == ((4,), np.float64)
    assert np.isfinite(w.get()).all()
    with pytest.raises(DTypeError, match=r"parameter: .*shape"):
        parameter()


def test_names_of_the_documents():
    assert lodcore.LODDenseTensor is LoDTensor
    assert lodcore.Var is lodcore.Variable
    for name in ("int8", "int32", "int64", "float32", "float64"):
        assert np.dtype(getattr(lodcore, name)) == np.dtype(name)
    for name in ("LODDenseTensor", "Var", "create_whileloop", "int32", "float64", "lod_lengths"):
        assert name in lodcore.__all__


# -- kinds of tensors ------------------------------------------------------------------------------------------------


class Diagonal(Tensor):
    """The first step of a new kind: it implements the interface; its entries are seen by NumPy."""

    def __init__(self, entries=()):
        self.entries = np.array(entries, np.float64)

    shape = property(lambda self: (len(self.entries),) * 2)
    dtype = property(lambda self: self.entries.dtype)

    def clone(self):
        return Diagonal(self.entries)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(np.diag(self.entries), dtype)


register_inheritance(Diagonal, DenseTensor)  # the second step


@every_way
def test_a_registered_kind_computes_in_operators(way):
    d = Diagonal([1.0, 2.0])

    def text(while_loop, x):
        array = TensorArray()
        array.write(0, lodcore.matmul(x, d))
        return lodcore.matmul(x, d) + 1.0, lodcore.add(d, x[:2]), lodcore.mul(ops.sum(d), x), array.read(0)

    scale = np.array([1.0, 2.0])
    check(way, text, lambda x: (x * scale + 1.0, np.diag(scale) + x[:2], 3.0 * x, x * scale), ROWS)


def test_a_registered_kind_is_fed():
    with Program() as program:
        v = data("d", Spec((None, 2), np.dtype(float), 0, Diagonal))
        y = lodcore.matmul(ROWS, v)
    found = Executor().run(program, {"d": Diagonal([1.0, -1.0])}, [y])[0]
    np.testing.assert_array_equal(found, ROWS * [1.0, -1.0])


class Sentences(LoDTensor):
    """A subclass with a word of its own."""

    def count(self):
        return len(self)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sentences(LISTS.values, LISTS.lod),
        lambda: Sentences.from_lengths(LISTS.values, [1, 0, 3]),
        lambda: Sentences.from_offsets(LISTS.values, [0, 1, 1, 4]),
        lambda: Sentences.from_row_splits(LISTS.values, [0, 1, 1, 4]),
        lambda: Sentences.from_arrays(LISTS.to_arrays()),
        lambda: Sentences.from_padded(LISTS.to_padded(), [1, 0, 3]),
        lambda: Sentences.from_segment_ids(LISTS.values, [0, 2, 2, 2], 3),
        lambda: Sentences.from_starts_stops(LISTS.values, [0, 1, 1], [1, 1, 4]),
        lambda: Sentences(LISTS.values, LISTS.lod).clone(),
        lambda: pickle.loads(pickle.dumps(Sentences(LISTS.values, LISTS.lod))),
    ],
    ids=["class", "lengths", "offsets", "splits", "arrays", "padded", "ids", "starts", "clone", "pickle"],
)
def test_a_subclass_of_lodtensor_is_one_from_birth(make):
    made = make()
    assert type(made) is Sentences
    assert made.count() == 3
    assert LISTS.equals(LoDTensor(made.values, made.lod))
    v = Variable("x", made)
    assert is_inheritance_of(v, LoDTensor)
    assert var_get_mutable(v, LoDTensor) is made
    assert lodcore.sequence_pool(made, "sum").tolist() == [1.0, 0.0, 1.5]
    (gradient,) = vjp(lambda x: lodcore.sequence_pool(x, "sum"), made)[1]([1.0, 2.0, 3.0])
    assert gradient.lod is made.lod
