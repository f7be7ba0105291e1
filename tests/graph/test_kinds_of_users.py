"""Kinds of tensors from outside: operators take them and return them, in Specs and in runs alike."""

import numpy as np
import pytest

import lodcore
from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import DenseTensor, DTypeError, LoD, LoDError, LoDTensor, SparseTensor, Spec, Tensor, TensorArray, ops, vjp
from lodcore.graph import Executor, Program, data, register_inheritance, while_loop
from lodcore.operators.registry import OPS
from lodcore.operators.roles import spec_of
from lodcore.testing.rules import fits
from lodcore.testing.samples import Sample, several, with_tensors
from tests.helpers.tables import for_each
from tests.helpers.texts_in_every_way import WHILE_RECORDING

pytestmark = pytest.mark.not_on_reference  # no kernels of its own


class Kind(Tensor):
    """What the kinds of this file have in common."""

    shape = property(lambda self: np.asarray(self).shape)
    dtype = property(lambda self: np.asarray(self).dtype)

    def clone(self):
        return type(self).of(np.array(self))


class Runs(Kind):
    """Rows, each with the number of its repetitions."""

    def __init__(self, rows, counts):
        self.rows, self.counts = np.asarray(rows), np.asarray(counts, np.int64)

    @classmethod
    def of(cls, x):
        return cls(x, np.ones(len(x)))

    def __array__(self, dtype=None, copy=None):
        return np.repeat(self.rows, self.counts, axis=0).astype(dtype or self.rows.dtype)

    def with_values(self, values):
        return Runs.of(values) if values.ndim else Runs(values[None], [1])


class View(Kind):
    """Some rows of an array."""

    def __init__(self, base, index):
        self.base, self.index = np.asarray(base), np.asarray(index, np.int64)

    @classmethod
    def of(cls, x):
        return cls(x[::-1], np.arange(len(x))[::-1])

    def __array__(self, dtype=None, copy=None):
        return self.base[self.index].astype(dtype or self.base.dtype)

    def with_values(self, values):
        return View(values, np.arange(len(values)))


class Constant(Kind):
    """One number everywhere; it cannot hold other values, so that operators return arrays."""

    def __init__(self, number, shape):
        self.number, self._shape = number, shape

    @classmethod
    def of(cls, x):
        return cls(x.flat[0] if x.size else x.dtype.type(1), x.shape)

    def __array__(self, dtype=None, copy=None):
        return np.full(self._shape, self.number, dtype)


class Bag(Tensor):
    """A batch of sequences with a label."""

    def __init__(self, x, label=""):
        self.x, self.label = x, label

    lod = property(lambda self: self.x.lod)
    values = property(lambda self: self.x.values)
    shape = property(lambda self: self.x.shape)
    dtype = property(lambda self: self.x.dtype)

    def clone(self):
        return Bag(self.x.clone(), self.label)

    def with_values(self, values):
        return Bag(self.x.with_values(values), self.label)


class Single(Kind):
    """A kind without the second step."""

    @classmethod
    def of(cls, x):
        return cls()

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


@pytest.fixture(autouse=True, scope="module")
def registered():
    for kind in (Runs, View, Constant):
        register_inheritance(kind, DenseTensor)
    register_inheritance(Bag, LoDTensor)


ROWS = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 4.0]])
RUNS, BAG = Runs([[1.0, 2.0], [3.0, 4.0]], [2, 1]), Bag(lodcore.array([[1.0, 2.0], [], [3.0]]), "b")
KINDS = [Runs, View, Constant, Bag]


def as_kind(kind, x):
    if kind is Bag:
        return Bag(x) if isinstance(x, LoDTensor) and x.num_levels else x
    return kind.of(x) if type(x) is np.ndarray and x.ndim and x.dtype.kind in "fiub" else x


@for_each("name", sorted(ARGUMENTS.keys() - {"dropout", "tensor_array_fill"}))  # one draws, the other changes an array
def test_the_kind_of_the_spec_is_the_kind_of_the_run(name):
    op, seen = OPS[name.split()[0]], 0
    for kind in KINDS:
        sample = Sample(ARGUMENTS[name](), KEYWORDS.get(name, {}))
        changed = with_tensors(sample, lambda x, kind=kind: as_kind(kind, x))
        try:
            plain = several(
                op(*with_tensors(sample, lambda x, kind=kind: plain_of(as_kind(kind, x))).args, **sample.kwargs)
            )
        except Exception:  # a constant is no index, for example
            continue
        found = several(op(*changed.args, **changed.kwargs))
        arguments = op.bind(changed.args, changed.kwargs)
        specs = {n: spec_or_list(op.constant(n, x)) if n in op.roles else x for n, x in arguments.items()}
        wanted = op.infer_arguments(specs)
        for spec, one, other in zip([wanted] if isinstance(wanted, Spec) else wanted, found, plain, strict=True):
            assert fits(spec, spec_of(one)), (kind.__name__, spec, spec_of(one))
            np.testing.assert_array_equal(rows_of(one), rows_of(other))
            seen += isinstance(one, kind)
    if op.lod_rule.same_object and op.roles[op.tensors[0]].name in ("Dense", "Nested") and op.writes is None:
        assert seen or name not in ("tanh", "add", "sequence_softmax", "matmul")


def plain_of(x):
    return x.x if isinstance(x, Bag) else np.asarray(x) if isinstance(x, Kind) else x


def rows_of(x):
    x = plain_of(x)
    return getattr(x, "values", x) if isinstance(x, LoDTensor) else np.asarray(x) if isinstance(x, np.ndarray) else 0


def spec_or_list(x):
    if isinstance(x, list):
        return [spec_or_list(one) for one in x]
    return spec_of(x) if isinstance(x, (Tensor, TensorArray, LoD)) else x


@for_each("way", ["at once", "vjp", "Program", "body"])
def test_every_way_keeps_the_kind(way):
    f = {RUNS: lambda x: lodcore.mul(lodcore.tanh(x), 2.0), BAG: lambda x: lodcore.sequence_softmax(lodcore.add(x, x))}
    for x, call in f.items():
        if way == "at once":
            found = call(x)
        elif way == "vjp":
            found, pullback = vjp(call, x)
            (d,) = pullback(np.ones_like(rows_of(found)))
            assert type(d) is type(x)
            assert getattr(d, "label", "") == getattr(x, "label", "")
        elif way == "Program":
            with Program() as program:
                y = call(data("x", spec_of(x)))
            assert y.spec.kind is type(x)
            (found,) = Executor().run(program, {"x": x}, [y])
        else:
            loop = while_loop()
            with loop.loop():
                t, s = loop.step(), loop.loop_var(x)
                loop.break_if(t >= 1)
                s.update(call(s))
            found = s.get()
        assert type(found) is type(x)
        np.testing.assert_allclose(rows_of(found), rows_of(call(plain_of(x))))


def divided(x):
    return lodcore.cond(np.array([True, False, True]), lodcore.tanh, lambda x: lodcore.mul(x, 2.0), x)


def in_blocks(x):
    branches = lodcore.IfElse(np.array([True, False, True]))
    with branches.true_block():
        branches.output(lodcore.tanh(branches.input(x)))
    with branches.false_block():
        branches.output(lodcore.mul(branches.input(x), 2.0))
    return branches()[0]


def mapped(x):
    return lodcore.map_fn(lambda row: lodcore.mul(lodcore.tanh(row), 2.0), x)


@for_each(
    ("call", "way"), [(call, way) for call in (divided, in_blocks, mapped) for way in ("at once", "vjp", "Program")]
)
def test_branches_and_mapped_functions_keep_a_kind_of_rows(call, way):
    for x in (RUNS, View.of(ROWS)):
        if way == "Program":
            with Program() as program:
                y = call(data("x", spec_of(x)))
            assert y.spec.kind is type(x)
            (found,) = Executor().run(program, {"x": x}, [y])
        elif way == "vjp":
            found, pullback = vjp(call, x)
            (d,) = pullback(np.ones_like(ROWS))
            np.testing.assert_allclose(rows_of(d), vjp(call, ROWS)[1](np.ones_like(ROWS))[0])
        else:
            found = call(x)
        assert type(found) is type(x)
        np.testing.assert_allclose(rows_of(found), call(ROWS))
    assert type(divided(Constant.of(ROWS))) is np.ndarray, "which cannot hold other values"


def test_branches_and_mapped_functions_of_sequences_return_lod_tensors():
    """The structure of their results is known only when they run."""
    for call in (divided, mapped):
        with Program() as program:
            y = call(data("x", spec_of(BAG)))
        (found,) = Executor().run(program, {"x": BAG}, [y])
        assert type(found) is type(call(BAG)) is y.spec.kind is LoDTensor
        np.testing.assert_array_equal(found.values, call(BAG.x).values)


def test_a_kind_without_inheritance_is_refused():
    for run in WHILE_RECORDING.values():
        for call in (lodcore.tanh, lambda x: lodcore.sequence_pool(x, "sum"), lambda x: lodcore.add(1.0, x), ops.sum):
            with pytest.raises(DTypeError, match=r"is a Single; register_inheritance\(kind, lodcore.DenseTensor\)"):
                run(lambda call=call: call(Single()))


def test_a_kind_without_a_required_attribute_is_refused_by_its_name():
    class NoLoD(Bag):
        lod = 3

    class Nothing(Tensor):
        shape, dtype = (2,), np.dtype(float)

        def clone(self):
            return self

    class Other(Runs):
        def with_values(self, values):
            return RUNS

    class Doubles(Runs):
        def with_values(self, values):
            return Doubles(np.asarray(values, float), np.ones(len(values)))

    register_inheritance(Nothing, DenseTensor)
    with pytest.raises(DTypeError, match="greater_than: with_values of Doubles returned float64 for bool"):
        lodcore.greater_than(Doubles(ROWS, [1, 1, 1]), 0.0)
    with pytest.raises(DTypeError, match="sequence_pool: x: is a NoLoD, which lacks a LoD as `lod`"):
        lodcore.sequence_pool(NoLoD(BAG.x), "sum")
    with pytest.raises(DTypeError, match="tanh: x: is a Nothing, which lacks __array__ to stand for an array"):
        lodcore.tanh(Nothing())
    with pytest.raises(DTypeError, match="tanh: with_values of Other returned Runs; the same kind is needed"):
        lodcore.tanh(Other(ROWS, [1, 1, 1]))


def test_isinstance_follows_the_table():
    for x in (RUNS, BAG, ROWS, BAG.x, DenseTensor(ROWS)):
        assert isinstance(x, DenseTensor)
    for x in (Single(), SparseTensor([0], [1.0], 2), 3.0, [1.0], TensorArray()):
        assert not isinstance(x, DenseTensor)
    assert not isinstance(BAG, LoDTensor), "its methods are its own"


def test_the_interface_names_the_makers():
    with pytest.raises(TypeError, match=r"Tensor: is the .*lodcore.array.* DenseTensor\(array\).* SparseTensor"):
        lodcore.Tensor([1, 2])


def test_arrays_keep_their_elements():
    sparse = SparseTensor([0, 2], np.ones((2, 2)), 3)
    array = TensorArray()
    for at, x in enumerate((sparse, RUNS, BAG)):
        array.write(at, x)
        assert array.read(at) is x
    assert [type(x) for x in array] == [SparseTensor, Runs, Bag]
    array.write(0, sparse, data_shared=False)
    assert array.read(0) is not sparse
    with Program() as program:
        array = TensorArray()
        array.write(0, data("s", spec_of(sparse)))
        array.write(1, data("r", spec_of(RUNS)))
        y = [array.read(0), array.read(1)]
    found = Executor().run(program, {"s": sparse, "r": RUNS}, y)
    np.testing.assert_array_equal(found[0].to_dense(), sparse.to_dense())
    assert found[1] is RUNS
    both = TensorArray()
    both.write(0, RUNS)
    both.write(1, RUNS)
    np.testing.assert_array_equal(both.stack(), [ROWS, ROWS])
    with pytest.raises(DTypeError, match="element 0: is a SparseTensor; to_dense"):
        TensorArray.of_elements(1, {0: sparse}).stack()


# -- operators of one's own --------------------------------------------------------------------------------------------


def test_an_operator_that_names_the_kind_receives_it():
    @ops.operator(x=Runs, lod_rule=ops.no_lod)
    def number_of_runs(x):
        return np.float64(len(x.rows))

    @number_of_runs.define_infer
    def _(x):
        assert x.kind is Runs
        return Spec((), np.dtype(float))

    assert number_of_runs(RUNS) == 2
    with Program() as program:
        y = number_of_runs(data("x", spec_of(RUNS)))
        with pytest.raises(DTypeError, match="number_of_runs: x: is ndarray; a Runs is needed"):
            number_of_runs(data("z", (3,)))
    assert Executor().run(program, {"x": RUNS}, [y]) == [2]
    with pytest.raises(DTypeError, match="number_of_runs: x: is View; a Runs is needed"):
        number_of_runs(View.of(ROWS))


DEEP = lodcore.array([[[1.0, 2.0], []], [], [[3.0]]])


def test_structure_words_of_lod_rules_give_the_same_in_a_program():
    @ops.operator(x=ops.Nested, lod_rule=ops.before("level"))
    def numbers(x, level=-1):
        return np.arange(float(x.lod.num_sequences(level)))

    @numbers.define_infer
    def _(x, level):
        return Spec((None,), np.dtype(float))

    @ops.operator(x=ops.Nested, lod_rule=ops.outer("level"))
    def flat(x, level=-1):
        return x.values

    @flat.define_infer
    def _(x, level):
        return x

    found = numbers(DEEP)
    assert found.tolist() == [[0, 1], [], [2]]
    assert type(numbers(DEEP, 0)) is np.ndarray
    with Program() as program:
        x = data("x", spec_of(DEEP))
        y, z, wrong = numbers(x), numbers(x, 0), flat(x)
    again, dense = Executor().run(program, {"x": DEEP}, [y, z])
    assert again.equals(found)
    assert type(dense) is np.ndarray
    says = "flat: the result has no levels; its LoD rule says 2, so return a LoDTensor"
    with pytest.raises(LoDError, match=says):
        flat(DEEP)
    with pytest.raises(LoDError, match=says):
        Executor().run(program, {"x": DEEP}, [wrong])
