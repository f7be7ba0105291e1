"""Registered kinds of tensors in operators and feeds, and subclasses of LoDTensor."""

import copy
import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, LoDTensor, Tensor, TensorArray, ops, vjp
from lodcore.errors import DTypeError, GraphError
from lodcore.graph import (
    Executor,
    Program,
    Variable,
    data,
    is_inheritance_of,
    parameter,
    register_inheritance,
    var_get_mutable,
)
from lodcore.tensors.tensor import Spec
from tests.helpers.texts_in_every_way import check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0, 0.5]), [1, 0, 3])


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


class Named(LoDTensor):
    """A subclass that is registered, and so kept."""

    def with_values(self, values):
        return Named(values, self.lod)


class Column(DenseTensor):
    """A subclass of a DenseTensor that is registered."""

    def with_values(self, values):
        return Column(values)


register_inheritance(Named, LoDTensor)
register_inheritance(Column, DenseTensor)


@pytest.mark.parametrize("x", [Named(LISTS.values, LISTS.lod), Column(LISTS.values)], ids=["LoDTensor", "DenseTensor"])
def test_a_registered_subclass_is_kept_in_runs_specs_and_gradients(x):
    kind = type(x)
    for y in (lodcore.exp(x), lodcore.add(x, 1.0), lodcore.add(x, x), lodcore.tanh(x), ops.cast(x, "f4")):
        assert type(y) is kind
    out, pullback = vjp(lodcore.exp, x)
    (gradient,) = pullback(np.ones(4))
    assert type(out) is type(gradient) is kind
    np.testing.assert_array_equal(gradient.values, np.exp(LISTS.values))
    with Program() as program:
        y = lodcore.exp(data("x", Spec((None,), np.dtype(float), getattr(x, "num_levels", 0), kind)))
    assert y.spec.kind is type(Executor().run(program, {"x": x}, [y])[0]) is kind
    if kind is Named:
        assert gradient.lod is out.lod is x.lod
        assert [type(y) for y in (x + 1, 1 + x, np.tanh(x), x > 1, lodcore.sequence_softmax(x))] == [Named] * 5
        assert type(x.mean(axis=1)) is np.ndarray


class Marked(LoDTensor):
    """A subclass that is registered and only adds attributes."""

    note = "none"


class Unit(DenseTensor):
    """A subclass of a DenseTensor with a slot."""

    __slots__ = ("unit",)

    def __init__(self, values, unit):
        super().__init__(values)
        self.unit = unit


register_inheritance(Marked, LoDTensor)
register_inheritance(Unit, DenseTensor)


def marked():
    x = Marked(LISTS.values, LISTS.lod)
    x.note = "mine"
    return x


def test_a_registered_subclass_needs_no_with_values():
    x = marked()
    out, pullback = vjp(lodcore.exp, x)
    for y in (lodcore.tanh(x), x + 1, x == x, x.astype("f4"), x.with_values(np.ones(4)), out, pullback(np.ones(4))[0]):
        assert (type(y), y.note, y.lod) == (Marked, "mine", x.lod)
    np.testing.assert_array_equal((x + 1).values, LISTS.values + 1)


def test_copies_keep_the_attributes_of_a_subclass():
    x, unit = marked(), Unit([1.0, 2.0], "km")
    for again in (copy.copy, copy.deepcopy, lambda x: x.clone(), lambda x: pickle.loads(pickle.dumps(x))):
        made = again(x)
        assert (type(made), made.note) == (Marked, "mine")
        assert made.equals(x)
        made = again(unit)
        assert (type(made), made.unit, made.values.tolist()) == (Unit, "km", [1.0, 2.0])
    assert not np.shares_memory(unit.clone().values, unit.values)
    with Program() as program:
        w = parameter(x, "w")
        w.update(w * 2.0)
    executor = Executor()
    executor.run(program)
    assert executor.scope.get(w).note == lodcore.array(x).note == "mine"


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sort(x, axis=1),
        lambda x: np.argsort(x, axis=1),
        lambda x: np.cumsum(x, axis=1),
        lambda x: x[..., None],
        lambda x: np.tile(x[..., None], 2),
        lambda x: np.concatenate([x[..., None]] * 2, axis=-1),
        lambda x: x.round(1),
        lambda x: np.flip(x[..., None], axis=-1),
        lambda x: np.maximum.accumulate(x, axis=1),
        lambda x: np.mean(np.tile(x[..., None], 2), axis=-1),
        lambda x: np.max(x[..., None], axis=2, keepdims=True),
        lambda x: np.nanstd(x[..., None], axis=-1),
        lambda x: ops.reduce_values(x[..., None], "sum", (-1,)),
    ],
)
def test_a_registered_subclass_is_kept_by_functions_of_numpy_in_a_program(call):
    x = marked()
    with Program() as program:
        y = call(data("x", Spec((None,), np.dtype(float), 1, Marked)))
    (found,) = Executor().run(program, {"x": x}, [y])
    assert y.spec.kind is type(call(x)) is type(found) is type(vjp(call, x)[0]) is Marked
    assert found.equals(call(x))


@pytest.mark.parametrize(
    "call",
    [
        np.real,
        np.nan_to_num,
        np.isneginf,
        lambda x: np.isclose(1.0, x),
        lambda x: np.isin(x, [1.0]),
        lambda x: np.modf(x)[1],
        lambda x: np.argmax(np.tile(x[..., None], 2), axis=-1),
        lambda x: np.sort(np.tile(x[..., None], 2), axis=-1),
        lambda x: np.cumsum(np.tile(x[..., None], 2), axis=-1),
        lambda x: np.round(x * 1j, 1),
    ],
)
def test_a_registered_subclass_is_kept_by_functions_of_numpy_at_once(call):
    x = marked()
    found = call(x)
    assert (type(found), found.note, found.lod is x.lod) == (Marked, "mine", True)
    assert found.equals(call(LISTS))


def test_a_reduction_of_rows_returns_what_is_left_not_a_registered_kind():
    x = marked()
    assert type(ops.reduce_values(x[..., None], "sum", (0,))) is np.ndarray
    assert type(ops.reduce_values(x[..., None], "sum", (-2,))) is np.ndarray
    assert type(x.sum(axis=1)) is np.ndarray


def test_the_name_of_a_result_is_that_of_the_kind_which_is_kept():
    with Program() as program:
        x = data("x", Spec((None,), np.dtype(float), 1, Marked))
        y = lodcore.mul(x, 2.0, name="y")
        with pytest.raises(GraphError, match="mul: y: there is such a Variable in the Program already"):
            lodcore.mul(x, 2.0, name="y")
        z = lodcore.exp(x, name="z")
    assert (y.name, z.name) == ("y", "z")
    assert [type(one) for one in Executor().run(program, {"x": marked()}, ["y", "z"])] == [Marked, Marked]


def test_register_inheritance_refuses_what_is_no_tensor():
    with pytest.raises(DTypeError, match="register_inheritance: child: is int; a subclass of"):
        register_inheritance(int, LoDTensor)
    assert (lodcore.array([[1.0]]) + 1).tolist() == [[2.0]]


@pytest.mark.parametrize("name", ["x.npz", "x"])
@pytest.mark.parametrize("x", [Named(LISTS.values, LISTS.lod), Column(LISTS.values), Diagonal([1.0])])
def test_a_registered_kind_is_not_saved_as_another_one(tmp_path, x, name):
    with pytest.raises(DTypeError, match=rf"save: tree\[x\]: is {type(x).__name__}; arrays, LoDTensors"):
        lodcore.save(tmp_path / name, {"x": x})
    assert not list(tmp_path.iterdir())


def test_a_registered_kind_is_fed():
    with Program() as program:
        v = data("d", Spec((None, 2), np.dtype(float), 0, Diagonal))
        y = lodcore.matmul(ROWS, v)
    found = Executor().run(program, {"d": Diagonal([1.0, -1.0])}, [y])[0]
    np.testing.assert_array_equal(found, ROWS * [1.0, -1.0])


class Sentences(LoDTensor):
    """A subclass with one more method."""

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
def test_subclass_of_lodtensor_counts_as_lodtensor_without_registration(make):
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
