"""Kinds of tensors: adding a new one in two steps, the kind of a Variable, and the operators that accept each kind."""

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, DTypeError, LoDTensor, SparseTensor, Spec, Tensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, Variable, data, is_inheritance_of, register_inheritance, var_get_mutable

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

LISTS = lodcore.array([[1.0, 2.0], [], [3.0]])


class Diagonal(Tensor):
    """The first step: a new kind of tensor implements the interface."""

    def __init__(self, entries=()):
        self.entries = np.array(entries, np.float64)

    @property
    def shape(self):
        return (len(self.entries),) * 2

    @property
    def dtype(self):
        return self.entries.dtype

    def clone(self):
        return Diagonal(self.entries)


class Banded(Diagonal):
    pass


def test_a_new_kind_in_two_steps():
    held = Diagonal([1.0, 2.0])
    x = Variable("x", held)
    assert not is_inheritance_of(x, DenseTensor)
    assert type(var_get_mutable(Variable("y", Diagonal()), DenseTensor)) is DenseTensor
    register_inheritance(Diagonal, DenseTensor)  # the second step
    assert is_inheritance_of(x, DenseTensor)
    assert var_get_mutable(x, DenseTensor) is held
    assert is_inheritance_of(Variable("b", Banded()), DenseTensor), "classes below it, too"
    assert (x.shape, x.dtype, x.spec.kind) == ((2, 2), np.float64, Diagonal)
    y = Variable("y")
    y.clone(x)
    assert isinstance(y.get(), Diagonal)
    assert y.get() is not held
    empty = var_get_mutable(y, Diagonal)
    assert empty is y.get()
    assert type(var_get_mutable(y, DenseTensor, enable_inheritance=False)) is DenseTensor
    assert type(y.get()) is DenseTensor
    register_inheritance(Diagonal, DenseTensor)
    with pytest.raises(DTypeError, match="register_inheritance: is 'text'"):
        register_inheritance(Diagonal, "text")


class Base(Tensor):
    shape, dtype = (), np.dtype(float)

    def clone(self):
        return self


class Other(Base):
    pass


def test_is_inheritance_of_follows_chains_and_circles():
    register_inheritance(Other, Diagonal)
    register_inheritance(Diagonal, Other)
    x = Variable("x", Other())
    assert is_inheritance_of(x, Diagonal)
    assert is_inheritance_of(x, Base)
    assert not is_inheritance_of(x, LoDTensor)


def test_register_inheritance_adds_parents_to_known_ones():
    class Twice(Tensor):
        shape, dtype = (), np.dtype(float)

        def clone(self):
            return self

    register_inheritance(Twice, LoDTensor)
    register_inheritance(Twice, SparseTensor, Base)
    register_inheritance(Twice)
    x = Variable("x", Twice())
    assert [is_inheritance_of(x, kind) for kind in (LoDTensor, SparseTensor, Base, DenseTensor)] == [True] * 4
    assert not is_inheritance_of(x, Other)


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (LISTS, {LoDTensor, DenseTensor, Tensor}),
        (np.ones(2), {np.ndarray, DenseTensor, Tensor}),
        (DenseTensor([1.0]), {DenseTensor, Tensor}),
        (SparseTensor([0], [1.0], 2), {SparseTensor, Tensor}),
        (TensorArray(), {TensorArray}),
    ],
)
def test_is_inheritance_of_and_var_get_mutable_follow_the_table_of_kinds(value, kinds):
    x = Variable("x", value)
    every = {LoDTensor, np.ndarray, DenseTensor, SparseTensor, Tensor, TensorArray}
    assert {kind for kind in every if is_inheritance_of(x, kind)} == kinds
    for kind in kinds:
        assert var_get_mutable(x, kind) is value
    assert var_get_mutable(x, type(value), enable_inheritance=False) is value


def test_get_mutable_makes_an_empty_tensor_of_each_kind():
    for kind, shape in ((np.ndarray, (0,)), (DenseTensor, (0,)), (LoDTensor, (0, None)), (SparseTensor, (0,))):
        made = Variable("x").get_mutable(kind)
        assert (made.shape, made.dtype) == (shape, np.float64)


def test_a_variable_without_a_value_gets_an_empty_one():
    for kind in (LoDTensor, np.ndarray, DenseTensor, TensorArray, Diagonal):
        x = Variable("x")
        assert not is_inheritance_of(x, kind)
        made = var_get_mutable(x, kind)
        assert type(made) is kind
        assert made is x.get()
    for wrong in (is_inheritance_of, var_get_mutable):
        with pytest.raises(DTypeError, match="var: is ndarray; a Variable is needed"):
            wrong(np.ones(2), LoDTensor)


# -- operators on kinds ------------------------------------------------------------------------------------------------


def test_structure_is_passed_on_while_it_is_recorded():
    with Program():
        x = data("x", (None, 4), "float32", num_levels=2)
        dense = data("dense", (None, 4), "float32")
        w = data("w", (4, 3), "float32")
        for y in (lodcore.tanh(x), lodcore.mul(x, 2.0), lodcore.mul(dense, x), lodcore.matmul(x, w)):
            assert (y.spec.kind, y.num_levels, y.dtype) == (LoDTensor, 2, np.float32)
        assert lodcore.matmul(x, w).shape == (None, None, None, 3)
        assert lodcore.tanh(dense).spec == dense.spec
        assert lodcore.sequence_pool(x, "sum").spec == Spec((None, 4), np.dtype(np.float32), 1, LoDTensor)


def test_holders_of_dense_arrays_are_dense():
    x = DenseTensor([[1.0, 2.0]])
    with Program() as program:
        v = data("x", Spec((None, 2), np.dtype(float), 0, DenseTensor))
        y = lodcore.tanh(lodcore.matmul(v, np.eye(2)))
    assert y.spec.kind is np.ndarray
    (found,) = Executor().run(program, {"x": x}, [y])
    np.testing.assert_array_equal(found, np.tanh(x.values), strict=True)
    with pytest.raises(DTypeError, match="feed: x: is ndarray; the Program needs DenseTensor"):
        Executor().run(program, {"x": x.values}, [y])


SPARSE = SparseTensor([1, 0], np.ones((2, 3)), 4)


def test_operators_refuse_arrays_and_maps_as_operands():
    with Program():
        steps, indices_map = TensorArray.unpack(data("x", (None,), "float64", num_levels=1), 0)
        for wrong, says in [
            (lambda: lodcore.mul(steps, 2), "mul: x: is a TensorArray; a LoDTensor or an array"),
            (lambda: steps.pack(0, steps), "indices_map: is TensorArray; a RankTable or an IndicesMap"),
            (lambda: lodcore.tensor_array_read(indices_map, 0), "_read: ta: is IndicesMap; a TensorArray"),
            (lambda: lodcore.tensor_array_read(data("y", (2,)), 0), "_read: ta: is ndarray; a TensorArray"),
        ]:
            with pytest.raises(DTypeError, match=says):
                wrong()


# -- sparse gradients --------------------------------------------------------------------------------------------------


TABLE = np.arange(8.0).reshape(4, 2)


def test_sparse_gradients_stay_sparse():
    def f(table):
        return lodcore.add(lodcore.lookup_table(table, [1, 3]), lodcore.lookup_table(table, [3, 3]))

    (d,) = vjp(f, TABLE)[1](np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert isinstance(d, SparseTensor)
    assert d.shape == TABLE.shape
    np.testing.assert_array_equal(d.to_dense(), [[0, 0], [1, 2], [0, 0], [7, 10]])


def test_sparse_and_dense_is_dense():
    for f in (
        lambda table: [lodcore.lookup_table(table, [1]), lodcore.mul(table, 2.0)],
        lambda table: [lodcore.mul(table, 2.0), lodcore.lookup_table(table, [1])][::-1],
    ):
        (d,) = vjp(f, TABLE)[1](np.ones((1, 2)), np.ones((4, 2)))
        np.testing.assert_array_equal(d, 2 + np.eye(4)[1][:, None] * np.ones(2), strict=True)
    place = np.full((4, 2), np.nan)
    pullback = vjp(lambda table: lodcore.lookup_table(table, [1, 1]), TABLE)[1]
    assert pullback(np.ones((2, 2)), out=(place,))[0] is place
    np.testing.assert_array_equal(place, [[0, 0], [2, 2], [0, 0], [0, 0]])


def test_two_sparse_gradients_share_no_memory():
    def f(a, b):
        return lodcore.add(lodcore.lookup_table(a, [0, 1]), lodcore.lookup_table(b, [0, 1]))

    first, second = vjp(f, TABLE, TABLE)[1](np.ones((2, 2)))
    assert not np.shares_memory(first.values, second.values)


@pytest.mark.parametrize("recompute", [False, True])
def test_sparse_gradients_inside_loops(recompute):
    """Paddle does not allow them."""
    ids = TensorArray(unstack_from=np.array([[0, 1], [1, 1], [3, 0]]))

    def f(table, w):
        loop = lodcore.graph.while_loop(recompute=recompute)
        with loop.loop():
            time, s = loop.step(), loop.loop_var(np.zeros((2, 2)))
            loop.break_if(lodcore.equal(time, 3))
            row = lodcore.lookup_table(table, ids.read(time))
            s.update(lodcore.tanh(lodcore.add(lodcore.mul(s, w), row)))
        return s

    def unrolled(table, w):
        s = np.zeros((2, 2))
        for time in range(3):
            s = lodcore.tanh(lodcore.add(lodcore.mul(s, w), lodcore.lookup_table(table, ids.read(time))))
        return s

    w, d = np.array([0.5, -0.5]), np.array([[1.0, 2.0], [3.0, 4.0]])
    (found, d_w), (wanted, d_w_wanted) = (vjp(g, TABLE / 8, w)[1](d) for g in (f, unrolled))
    assert isinstance(found, SparseTensor)
    np.testing.assert_array_equal(found.to_dense(), wanted.to_dense())
    np.testing.assert_array_equal(d_w, d_w_wanted)
    lodcore.grad_check(f, TABLE / 8, w)
    (mixed,) = vjp(lambda table: lodcore.add(f(table, w), ops.sum(table)), TABLE / 8)[1](d)
    np.testing.assert_allclose(mixed, found.to_dense() + 10.0)


def test_context_gives_the_lod_of_any_input():
    """InputSeq of the design of variable-length input."""
    seen = []

    @lodcore.ops.operator(x=lodcore.ops.Nested, y=lodcore.ops.Dense)
    def times(x, y):
        return x.values * y

    @times.define_vjp
    def _(d, y, needs, context):
        seen.append((context.input_lod("x"), context.input_lod("y"), needs.y))
        with pytest.raises(KeyError, match="times: input_lod: has no input 'z'; its inputs are x, y"):
            context.input_lod("z")
        return d * y, None

    _, pullback = vjp(lambda x: times(x, np.ones(3)), LISTS)
    np.testing.assert_array_equal(pullback(np.ones(3))[0].values, np.ones(3))
    assert seen == [(LISTS.lod, None, False)]


def test_var_get_mutable_names_kinds_that_cannot_be_made_empty():
    x = Variable("x", SPARSE)
    assert var_get_mutable(x, SparseTensor) is SPARSE
    empty = var_get_mutable(Variable("y"), SparseTensor)
    assert (empty.height, len(empty.indices), empty.values.shape) == (0, 0, (0,))
    with pytest.raises(DTypeError, match="Tensor cannot be made empty"):
        var_get_mutable(Variable("z"), Tensor)
    for function in (var_get_mutable, is_inheritance_of):
        with pytest.raises(DTypeError, match="T: is 5; a class is needed"):
            function(x, 5)
