"""The terms of the design documents for Variables and kinds of tensors."""

import pickle

import numpy as np
import pytest

import lodcore
from lodcore import DenseTensor, DTypeError, LoDTensor, Tensor, TensorArray, ops, vjp
from lodcore.graph import (
    Executor,
    Program,
    Variable,
    data,
    is_inheritance_of,
    parameter,
    register_inheritance,
    var_get_mutable,
    while_loop,
)
from lodcore.tensors.tensor import Spec
from tests.helpers.ways import WHILE_RECORDING, check, every_way

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])
ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
LISTS = LoDTensor.from_lengths(np.array([1.0, 2.0, -1.0, 0.5]), [1, 0, 3])


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
    """Small numbers, not all zero, since a network with equal weights does not learn."""
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
    for name in ("LODDenseTensor", "Var", "create_whileloop", "lod_lengths"):
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
    """A subclass with a method of its own."""

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
