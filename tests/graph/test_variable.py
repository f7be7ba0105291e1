"""Variables: names, Specs, holders; parameters and data; kinds of tensors."""

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, DTypeError, GraphError, LoDTensor, ShapeError, Spec, TensorArray, ops, vjp
from lodcore.graph import (
    ArrayVariable,
    Executor,
    Program,
    VarArray,
    Variable,
    data,
    parameter,
    value_and_grad,
    while_loop,
)
from tests.helpers.texts_in_every_way import WHILE_RECORDING

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

LISTS = lodcore.array([[1.0, 2.0], [], [3.0]])


# -- the holder ------------------------------------------------------------------------------------------------------


def test_variable_with_a_value_knows_its_spec():
    x = Variable("x", LISTS)
    assert (x.name, x.shape, x.dtype, x.ndim, x.num_levels) == ("x", (3, None), np.float64, 2, 1)
    assert x.spec == Spec((None,), np.dtype(float), 1, LoDTensor)
    assert x.lod is LISTS.lod
    assert len(x) == 3
    assert repr(x) == "Variable(x: float64 (.,), 1 level, with a value)"
    assert x.get() is x.value is LISTS


def test_rows_without_their_structure_are_recorded():
    nested = lodcore.array([[[1.0, 2.0], []], [[3.0]]])

    def squares(x):
        return ops.sum(x.values * x.values) + ops.sum(x.flatten() * 2.0) + ops.sum(x.flatten(1) * x.lengths[0])

    value, pullback = vjp(squares, nested)
    assert value == 14.0 + 12.0 + 12.0
    assert pullback(1.0)[0].values.tolist() == [6.0, 8.0, 10.0]
    with Program():
        x = data("x", (None, 3), "float32", num_levels=2)
        assert (x.values.spec.shape, x.values.num_levels, x.flatten().num_levels) == ((None, 3), 0, 1)
        assert (x.lengths.spec.shape, x.lengths.dtype) == ((None,), np.int64)


def test_variable_has_lengths_offsets_and_num_rows_and_no_other_methods_of_its_value():
    x = Variable("x", LISTS)
    assert (x.lengths.tolist(), x.offsets.tolist(), x.num_rows) == ([2, 0, 1], [0, 2, 2, 3], 3)
    for name in ("to_padded", "lenghts"):
        with pytest.raises(AttributeError, match=rf"Variable x: has no '{name}'; use an operator, or get\(\)"):
            getattr(x, name)
    with pytest.raises(AttributeError, match="Variable y: has no 'lengths'"):
        _ = Variable("y", np.ones(2)).lengths


def test_get_and_spec_of_a_variable_without_value_raise():
    x = Variable()
    assert repr(x) == "Variable(variable)"
    assert not x.has_value
    with pytest.raises(GraphError, match=r"Variable variable: has no value .* break_if"):
        x.get()
    with pytest.raises(GraphError, match="neither a Spec nor a value"):
        _ = x.spec
    x.set([1, 2])
    assert x.shape == (2,)
    with pytest.raises(DTypeError, match="Variable variable: is an object; a LoDTensor or an array is needed"):
        x.set(object())
    with pytest.raises(DTypeError, match="is a Variable; the value itself"):
        x.set(x)
    with pytest.raises(ShapeError, match="Variable variable: is nested unevenly"):
        x.set([[1], [1, 2]])
    np.testing.assert_array_equal(x.get(), [1, 2])


VALUES = {
    "number": 3,
    "real number": 2.5,
    "vector": np.arange(3, dtype="f4"),
    "matrix": np.zeros((2, 3)),
    "ragged": lodcore.array([[1, 2], [3]]),
    "ragged of real vectors": lodcore.LoDTensor.from_lengths(np.zeros((3, 2), "f4"), [1, 2]),
    "two levels": lodcore.array([[[1.0], []], []]),
    "array": lodcore.TensorArray.unstack(np.zeros((2, 3))),
    "sparse": lodcore.SparseTensor([1, 4], np.ones((2, 3)), 6),
}


@pytest.mark.parametrize("second", VALUES)
@pytest.mark.parametrize("first", VALUES)
def test_a_variable_is_described_by_the_value_that_it_has_now(first, second):
    def described(x, value):
        names = ["spec", *([] if isinstance(value, TensorArray) else ["shape", "dtype", "ndim", "num_levels"])]
        return [repr(x), *[getattr(x, name) for name in names]]

    x = Variable("x", VALUES[first])
    described(x, VALUES[first])
    x.set(VALUES[second])
    assert described(x, VALUES[second]) == described(Variable("x", VALUES[second]), VALUES[second])
    assert x.get() is VALUES[second] or type(VALUES[second]) in (int, float)


def test_a_spec_without_a_value():
    x = Variable("x", None, Spec((None, 4), np.dtype("f4"), 2, LoDTensor))
    assert (x.shape, x.ndim, str(x.dtype)) == ((None, None, None, 4), 4, "float32")
    assert repr(x) == "Variable(x: float32 (., 4), 2 levels)"
    x.set(np.ones(2))
    assert x.shape == (2,)


def test_clone_copies_value_and_kind():
    for value in (LISTS, np.ones(2), DenseTensor([1.0]), TensorArray(unstack_from=np.ones(2))):
        x, y = Variable("x", value), Variable("y")
        y.clone(x)
        assert type(y.get()) is type(value)
        assert y.get() is not value
    with pytest.raises(GraphError):
        y.clone(Variable())


def test_operators_compute_at_once_on_variables_outside_of_blocks():
    w = Variable("w", np.array([1.0, 2.0]))
    np.testing.assert_array_equal(lodcore.mul(w, 2.0), [2.0, 4.0])
    np.testing.assert_array_equal(lodcore.mul(2.0, y=w), [2.0, 4.0])
    assert lodcore.concat_batches([LISTS, Variable("x", LISTS)]).num_rows == 6
    with pytest.raises(GraphError, match="Variable empty: has no value"):
        lodcore.mul(w, Variable("empty"))


@pytest.mark.parametrize(
    "call",
    [
        lambda w, x: lodcore.mul(w, x),
        lambda w, x: lodcore.mul(x, w),
        lambda w, x: lodcore.mul(w, y=x),
        lambda w, x: ops.concat_values([w, x], 0),
        lambda w, x: ops.concat_values(xs=[w, x], axis=0),
    ],
)
def test_operators_of_plain_and_recorded_variables_are_recorded(call):
    weights = Variable("w", np.array([1.0, 2.0]))
    value, pullback = vjp(lambda x: ops.sum(call(weights, x)), np.array([3.0, 4.0]))
    assert value == np.sum(call(weights.get(), np.array([3.0, 4.0])))
    assert np.all(pullback(1.0)[0] != 0)


def test_a_slot_that_holds_a_value_is_an_attribute():
    numbers = VarArray().unstack(np.array([1, 0]))
    assert lodcore.sequence_topk(LISTS, numbers.get(0))[0].tolist() == [[2.0], [], [3.0]]
    _, pullback = vjp(lambda x: lodcore.sequence_pool(x, "sum", level=numbers.get(1)), LISTS)
    assert pullback(np.ones(3))[0].tolist() == [[1.0, 1.0], [], [1.0]]


def test_an_array_is_recorded_where_its_size_is():
    size = Variable("n", np.array(3))
    assert (TensorArray(size=size).size(), len(TensorArray(unstack_from=Variable("x", np.zeros((2, 2)))))) == (3, 2)


def test_variables_with_arrays():
    array = Variable("a", TensorArray())
    assert not isinstance(array, ArrayVariable)
    lodcore.tensor_array_write(array, 0, 1.0)
    assert array.get().size() == 1
    with pytest.raises(GraphError, match="is a TensorArray, which has no shape"):
        _ = array.shape


# -- parameters and data -----------------------------------------------------------------------------------------------


def test_parameter_holds_its_value_and_refuses_other_objects():
    values = np.ones(2, np.float32)
    assert parameter(values).get() is values
    assert parameter([1.0], "w").name == "w"
    assert parameter(LISTS).get() is LISTS
    for wrong, error in [(object(), DTypeError), ([[1], [1, 2]], ShapeError), (parameter(1.0), DTypeError)]:
        with pytest.raises(error, match="parameter: value"):
            parameter(wrong)
    with pytest.raises(DTypeError, match="parameter: name: is int"):
        parameter(1.0, 5)
    with Program() as program:
        a, b = parameter(1.0), parameter(2.0)
        c = parameter(3.0, "c")
        with pytest.raises(GraphError, match="parameter: c: there is such a Variable"):
            parameter(4.0, "c")
    assert [v.name for v in (a, b, c)] == ["parameter", "parameter_1", "c"]
    assert program.parameters == [a, b, c]


def test_data_declares_name_shape_dtype_and_levels():
    with Program() as program:
        x = data("x", (None, 3))
        y = data("y", [2], "int64", num_levels=2)
        z = data("z", Spec((None,), np.dtype("f8"), 1))
        with pytest.raises(GraphError, match="data: x: there is such a Variable"):
            data("x", ())
    assert program.feeds == [x, y, z]
    assert (x.shape, x.dtype) == ((None, 3), np.float32)
    assert (y.num_levels, y.spec.kind, z.spec.kind) == (2, LoDTensor, LoDTensor)
    with pytest.raises(GraphError, match="data: w: is made while a Program is open"):
        data("w", ())
    loop = while_loop()
    with pytest.raises(GraphError, match="outside of loops"), loop.loop():
        data("w", ())


@pytest.mark.parametrize(
    ("spec", "more", "says"),
    [
        ("text", {}, "spec: is 'text'"),
        ((1.5,), {}, "each size is an integer"),
        ((-1,), {}, "each size is an integer"),
        ((None,), {"dtype": object}, "dtype: is object"),
        ((), {"num_levels": 1}, "has levels and no axis"),
        ((None,), {"num_levels": -1}, "num_levels: is -1"),
        (Spec((None,), np.dtype(float)), {"dtype": "f4"}, "are parts of the given Spec"),
    ],
)
def test_data_refuses_wrong_specs_and_names(spec, more, says):
    with Program(), pytest.raises(DTypeError, match=f"data: .*{says}"):
        data("x", spec, **more)
    with Program(), pytest.raises(DTypeError, match="data: name"):
        data(5, ())


# -- Blocks do not mix -------------------------------------------------------------------------------------------------


def test_variables_of_two_programs_are_refused_together():
    with Program():
        x = data("x", (2,), "float64")
    with Program() as other:
        y = data("y", (2,), "float64")
        with pytest.raises(GraphError, match="Variable x: belongs to another Program"):
            lodcore.mul(x, 2.0)
    with pytest.raises(GraphError, match="Variable y: belongs to another Program"):
        lodcore.mul(x, y)
    with pytest.raises(GraphError, match="vjp: Variable x: is data of a Program"):
        vjp(lambda z: lodcore.mul(z, x), 1.0)
    with pytest.raises(GraphError, match="Variable x: belongs to another Program"), other:
        use_in_a_loop(x)
    assert other.closed, "the error went through the Program, too"


def use_in_a_loop(x):
    loop = while_loop()
    with loop.loop():
        loop.break_if(True)
        lodcore.mul(x, 2.0)


def test_attributes_refuse_variables():
    with Program():
        x = data("x", (2, 2), "float64")
        for wrong in (lambda: ops.softmax(x, axis=x), lambda: lodcore.TensorArray.unstack(x, x)):
            with pytest.raises(GraphError, match="axis: is a Variable; a value is needed"):
                wrong()


@pytest.mark.parametrize("make", [Variable, parameter])
@pytest.mark.parametrize(
    ("options", "shape", "dtype"),
    [
        ({"dtype": "f8"}, (), np.float64),
        ({"dtype": np.int32}, (), np.int32),
        ({"shape": (2, 3)}, (2, 3), np.float32),
        ({"shape": 4}, (4,), np.float32),
        ({"shape": (2,), "dtype": "i8"}, (2,), np.int64),
    ],
)
def test_zeros_of_a_shape_or_a_dtype(make, options, shape, dtype):
    if make is parameter and "shape" not in options:
        with pytest.raises(DTypeError, match="parameter: value: is missing; a value or a shape is needed"):
            make(name="v", **options)
        return
    v = make(name="v", **options)
    assert (v.get().shape, v.get().dtype, v.get().any()) == (shape, dtype, False)
    with pytest.raises(DTypeError, match="shape, dtype: replace a value; one is given, too"):
        make(name="v", value=np.ones(2), **options)


@pytest.mark.parametrize("shape", [-1, (2, -1), (1.5,), ("a",)])
def test_sizes_are_integers_from_0(shape):
    for make in (Variable, parameter):
        with pytest.raises(DTypeError, match=r"shape: is .*; each size is an integer of 0 or more"):
            make(name="v", shape=shape)


def test_vjp_of_variables_of_a_program_names_their_kind():
    with Program():
        x, w = data("x", (None, 2)), parameter(np.ones(2), "w")
        y = lodcore.tanh(x)
        for v, kind in ((x, "data"), (w, "a parameter"), (y, "a result")):
            says = f"Variable {v.name}: is {kind} of a Program; append_backward"
            for call in (lambda v=v: vjp(lambda x: x, v), lambda v=v: value_and_grad(ops.sum)(v)):
                with pytest.raises(GraphError, match=says):
                    call()
    with pytest.raises(GraphError, match="vjp: Variable x: is data of a Program"):
        vjp(lambda z: z * x, np.ones((1, 2)))
    with pytest.raises(GraphError, match="vjp: Variable input: is recorded already; gradients of gradients"):
        vjp(lambda z: vjp(lambda u: u, z)[0], np.ones(2))
    loop = while_loop()
    with loop.loop():
        s = loop.loop_var(np.ones(2))
        with pytest.raises(GraphError, match="is recorded in a body, where it has no value; call vjp with the loop"):
            vjp(lambda x: x, s)
        loop.break_if(True)


ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])


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
def test_iteration_over_data_of_unknown_first_axis_is_refused(use, shape, levels):
    with Program(), pytest.raises(GraphError, match=r"dataset: .*(while_loop|break_if)"):
        use(data("dataset", shape, "float64", levels))


X = np.array([0.5, -1.5, 2.0])


@pytest.mark.parametrize("make", [lambda: lodcore.Var(12), lambda: Variable(12), lambda: Variable(value=12)])
def test_variable_of_a_number_has_it_as_value(make):
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


def test_variable_of_a_shape_is_zeros_and_of_shape_0_a_scalar():
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
def test_parameter_of_a_shape_is_drawn_small_and_not_all_zero(recording):
    """Small numbers, not all zero, since a network with equal weights does not learn."""
    w, b = WHILE_RECORDING[recording](
        lambda: (parameter(shape=(3, 2), name="W"), parameter(shape=[4], dtype=lodcore.float64))
    )
    assert (w.name, w.shape, w.dtype) == ("W", (3, 2), np.float32)
    assert (b.shape, b.dtype) == ((4,), np.float64)
    assert np.isfinite(w.get()).all()
    with pytest.raises(DTypeError, match=r"parameter: .*shape"):
        parameter()


def test_names_of_the_design_documents_are_public():
    assert lodcore.LODDenseTensor is LoDTensor
    assert lodcore.Var is lodcore.Variable
    for name in ("int8", "int32", "int64", "float32", "float64"):
        assert np.dtype(getattr(lodcore, name)) == np.dtype(name)
    for name in ("LODDenseTensor", "Var", "create_whileloop", "lod_lengths"):
        assert name in lodcore.__all__
