"""Broadcasting on the ragged shape: a text has the same meaning for every batch, regardless of its counts."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, Executor, LoD, LoDError, LoDTensor, Program, ShapeError, data, grad_check, ops, vjp
from lodcore.operators.elementwise import elementwise_operator
from lodcore.operators.roles import spec_of
from lodcore.tensors import lod_body
from lodcore.testing.samples import bits
from reference.ops.math import elementwise
from tests.helpers.agree import assert_close
from tests.helpers.tables import for_each
from tests.samples.common import operand

#: Numbers of rows, sequences and widths are drawn from few numbers, so that they coincide.
FEW = st.integers(1, 3)


def numbers(*shape):
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


@st.composite
def coinciding(draw, levels=(1, 2)):
    """Draw a batch (n, None, D) or (n, None, None, D) whose counts are often equal."""
    count, offsets = draw(FEW), []
    for _ in range(draw(st.sampled_from(levels))):
        lengths = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        offsets.append(lengths)
        count = sum(lengths)
    return LoDTensor.from_lengths(numbers(count, draw(FEW)), *offsets)


def as_before(x, v):
    """Return the dense shapes that NumPy's rule allows with the ragged one: the length of each axis, from the last."""
    shape = [len(x), *[1] * x.num_levels]
    if v.ndim > x.ndim:
        return False
    padded = (1,) * (x.ndim - v.ndim) + v.shape
    if any(size not in (1, one) for size, one in zip(padded, shape, strict=False)):
        return False
    return padded[-1] == 1 or x.values.shape[1] in (1, padded[-1])


# -- dense operands ------------------------------------------------------------------------------------------------


@given(coinciding(), st.data())
def test_dense_operands_align_by_their_shape_or_are_refused(x, data_):
    kinds = {1, len(x), x.num_rows, x.values.shape[1]}
    shape = data_.draw(st.lists(st.sampled_from(sorted(kinds)), max_size=x.ndim + 1))
    v = numbers(*shape)
    if not as_before(x, v):
        for call in (lambda: x + v, lambda: v + x, lambda: np.where(x > 0, v, x), lambda: np.maximum(v, x)):
            with pytest.raises(ShapeError, match=r"with_values\(v\).*per_sequence\(v\)"):
                call()
        return
    for found, given_ in ((x - v, (x, v)), (v - x, (v, x))):
        assert found.lod is x.lod
        assert_close(found.tolist(), elementwise(lambda a, b: a - b, *map(operand, given_)), True, 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("row_shape", [(), (2,), (5,), (2, 2), (2, 5), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("num_levels", [1, 2])
def test_dense_operands_of_every_shape_equal_numpy_or_are_refused(num_levels, row_shape, dtype):
    """For rows of any number of axes: along axis 0 one entry or one per sequence, along the levels one."""
    lod = [LoD.from_lengths([3, 0, 2]), LoD.from_lengths([2, 0, 1], [1, 2, 2])][num_levels - 1]
    x = LoDTensor(numbers(5, *row_shape).astype(dtype), lod)
    sequences = np.array([[0, 0, 0, 2, 2], [0, 0, 0, 2, 2]][num_levels - 1])
    for kept, axes in itertools.product(range(len(row_shape) + 1), range(num_levels + 3)):
        for lead in itertools.product({1, 3, 5}, repeat=axes):
            v = numbers(*lead, *row_shape[kept:]).astype(dtype)
            shape = (1,) * (x.ndim - v.ndim) + v.shape
            whole = [(1, 3), *[(1,)] * num_levels, *[(1, size) for size in row_shape]]
            right = len(shape) == x.ndim and all(size in sizes for size, sizes in zip(shape, whole, strict=True))
            calls = [lambda v=v: x + v, lambda v=v: v - x, lambda v=v: np.maximum(x, v), lambda v=v: x < v]
            if not right:
                for call in calls[len(lead) % 2 :: 2]:
                    with pytest.raises(ShapeError, match=r"with_values\(v\).*per_sequence\(v\)"):
                        call()
                continue
            rows = v.reshape(shape)[sequences if shape[0] > 1 else np.zeros(5, int)].reshape(
                5, *shape[1 + num_levels :]
            )
            for call, function in zip(calls, (np.add, lambda a, b: b - a, np.maximum, np.less), strict=True):
                found = call()
                assert found.lod is x.lod
                np.testing.assert_array_equal(found.values, function(x.values, rows), strict=True)


@given(FEW, FEW, FEW, st.data())
def test_operands_of_equal_lengths_equal_numpy(count, length, width, data_):
    dense = numbers(count, length, width)
    x = LoDTensor.from_lengths(dense.reshape(-1, width), [length] * count)
    shape = [data_.draw(st.sampled_from([1, size])) for size in (count, 1, width)]
    v = numbers(*shape[data_.draw(st.integers(0, 3)) :])
    np.testing.assert_array_equal((x * v).to_regular(), dense * v)
    np.testing.assert_array_equal(np.subtract(v, x).to_regular(), v - dense)
    for axis in (1, 2, (0, 1), (1, 2), None):
        for name in ("mean", "sum", "max", "std"):
            kept = getattr(x, name)(axis=axis, keepdims=True)
            wanted = getattr(dense, name)(axis=axis, keepdims=True)
            regular = kept.to_regular() if isinstance(kept, LoDTensor) else kept
            np.testing.assert_allclose(regular, wanted, rtol=1e-12)
            np.testing.assert_allclose((x - kept).to_regular(), dense - wanted, rtol=1e-12, atol=1e-12)


@given(coinciding())
@example(LoDTensor.from_lengths(numbers(3, 3), [1, 1, 1]))
def test_alignment_does_not_depend_on_the_lengths_of_the_batch(x):
    last = x.num_levels
    axes = tuple(range(1, last + 1))
    for axis in (last, last + 1, axes, (0, *axes), None):
        assert (x - x.sum(axis=axis, keepdims=True)).lod is x.lod
    for wrong in (lambda: x - numbers(x.num_rows + 2, 1), lambda: x - numbers(len(x) + 2, *x.values.shape)):
        with pytest.raises(ShapeError):
            wrong()
    if len({len(x), 1}) > 1:
        for name in ("num_rows", "num_sequences"):
            v = numbers(x.num_rows if name == "num_rows" else len(x), x.values.shape[1])
            if len(v) > 1:
                with pytest.raises(ShapeError, match="ragged"):
                    x * v
    assert (x * x.with_values(numbers(x.num_rows))).lod is x.lod
    assert (x * x.per_sequence(numbers(len(x), 1), 0)).lod is x.lod


# -- LoDTensors ----------------------------------------------------------------------------------------------------


@given(coinciding((2, 3)), st.data())
def test_outer_levels_align_if_inner_dimensions_have_length_1(x, data_):
    kept = data_.draw(st.integers(1, x.num_levels - 1))
    outer = lod_body.slice_levels(x.lod, 0, kept)
    width = data_.draw(st.sampled_from([1, x.values.shape[1]]))
    y = LoDTensor(numbers(outer.num_rows, *(1,) * (x.num_levels - kept), width), outer)
    found = y - x
    assert found.lod is x.lod
    assert_close(found.tolist(), elementwise(lambda a, b: a - b, operand(y), operand(x)), True, 0)
    assert bits(vjp(lambda y, x: y - x, y, x)[0]) == bits(found)
    d_y, d_x = vjp(lambda y, x: y - x, y, x)[1](np.ones(found.values.shape))
    assert d_y.lod is y.lod
    assert d_x.lod is x.lod
    lengths = np.diff(x.lod.row_offsets(kept)).reshape(-1, *(1,) * (y.values.ndim - 1))
    assert np.array_equal(d_y.values, np.broadcast_to(lengths * (x.values.shape[1] // width), y.values.shape))


def test_operands_of_other_structures_are_refused_with_axis_and_per_sequence_named():
    x = lodcore.array([[[1.0, 2.0], [3.0]], [[4.0]]])
    with pytest.raises(LoDError, match=r"level 0 has length 1; .*axis=\(1, 2\).*per_sequence"):
        x - x.mean(axis=1, keepdims=True)
    with pytest.raises(LoDError, match=r"axis=\(0, 1, 2\)"):
        x - x.mean(axis=0, keepdims=True)
    with pytest.raises(LoDError, match=r"y: has 1 level; x has 2; x.per_sequence\(y, 1\) repeats one entry per seq"):
        x - x.sum(axis=2)
    assert (x - x.per_sequence(x.sum(axis=2), 1)).tolist() == [[[-2.0, -1.0], [0.0]], [[0.0]]]
    with pytest.raises(LoDError, match=r"y: has 2 levels; x has 1; y.per_sequence\(x, 1\)"):
        x.sum(axis=2) - x
    with pytest.raises(LoDError, match=r"assignment: value: has 2 levels; x\[...\] has 1$"):
        x.sum(axis=2)[:] = x
    wide = LoDTensor(numbers(4, 2), x.lod)
    with pytest.raises(LoDError, match="y: has 5 axes; x has 4"):
        wide - LoDTensor(numbers(4, 2, 2), x.lod)
    with pytest.raises(LoDError, match="y: has length 2 on axis 2, along which x is ragged"):
        x - LoDTensor(numbers(3, 2)[: x.lod.num_sequences(1)], lod_body.slice_levels(x.lod, 0, 1))


# -- gradients, Programs -------------------------------------------------------------------------------------------

CENTRED = [
    lambda x: x - x.mean(axis=1, keepdims=True),
    lambda x: x * x.sum(axis=(0, 1), keepdims=True),
    lambda x: x / (1 + x.std(axis=-1, keepdims=True)),
    lambda x: np.where(x > x.mean(axis=1, keepdims=True), x, 0.5),
    lambda x: np.clip(x, None, x.mean(axis=1, keepdims=True) + 1),
    lambda x: x * x.with_values(ops.sum(x.values, axis=1)),
]


@pytest.mark.parametrize("at", range(len(CENTRED)))
def test_recorded_is_eager_and_gradients_are_derivatives(at):
    function = CENTRED[at]
    rows = np.random.default_rng(at).uniform(0.1, 0.9, (5, 3))
    for lengths in ([2, 0, 3], [1, 1, 1, 1, 1], [5]):
        x = LoDTensor.from_lengths(rows, lengths)
        with np.errstate(invalid="ignore"):
            wanted = function(x)
            with Program() as program:
                y = function(data("x", spec_of(x)))
            assert bits(Executor().run(program, feed={"x": x}, fetch=[y])[0]) == bits(wanted)
            if 0 not in lengths:
                grad_check(function, x)


def test_a_length_that_is_not_known_is_checked_when_it_runs():
    x = LoDTensor.from_lengths(numbers(3, 3), [1, 1, 1])
    with Program() as program:
        v = data("v", (None, 3), "float64")
        y = data("x", spec_of(x)) + v
    run = Executor().run
    assert bits(run(program, feed={"x": x, "v": np.ones((1, 3))}, fetch=[y])[0]) == bits(x + 1.0)
    with pytest.raises(ShapeError, match=r"y: has length 3 on axis 1.*ragged.*with_values"):
        run(program, feed={"x": x, "v": np.ones((3, 3))}, fetch=[y])


@given(coinciding((1,)))
def test_the_gradient_of_one_entry_a_sequence_is_summed_over_its_rows(x):
    v = numbers(len(x), 1, x.values.shape[1])
    d = numbers(*x.values.shape)
    (d_v,) = vjp(lambda v: x * v, v)[1](d)
    wanted = lodcore.sequence_pool(LoDTensor(d * x.values, x.lod), "sum")
    if len(x) == 1:  # then it stands for all sequences
        np.testing.assert_allclose(d_v, wanted.reshape(v.shape), rtol=1e-12)
    else:
        assert np.array_equal(d_v, wanted.reshape(v.shape))


# -- assignment ----------------------------------------------------------------------------------------------------


@given(coinciding(), st.data())
def test_assignment_aligns_as_an_operand_does(x, data_):
    kinds = {1, len(x), x.num_rows, x.values.shape[1]}
    v = numbers(*data_.draw(st.lists(st.sampled_from(sorted(kinds)), max_size=x.ndim)))
    for key in (slice(None), x.with_values(np.ones(x.num_rows, bool)), ...):
        y = x.copy()
        try:
            wanted = x * 0 + v
        except ShapeError:
            wanted = None
        if wanted is None or wanted.values.shape != x.values.shape:
            with pytest.raises(ShapeError):
                y[key] = v
            assert bits(y) == bits(x)
        else:
            y[key] = v
            assert bits(y) == bits(wanted)


@pytest.mark.parametrize("call", [2**14, 0, 2**40])
def test_products_of_sequences_are_those_of_matrices(call, monkeypatch):
    monkeypatch.setattr(
        sys.modules["lodcore.ops.networks.sequence_matmul"], "CALL", call
    )  # whether equal shapes are combined
    rows = np.random.default_rng(0).standard_normal((12, 3))
    for one, other in itertools.product(([3, 0, 2], [1, 1, 1], [2, 2, 2]), ([1, 4, 0], [2, 2, 2])):
        x, y = (LoDTensor.from_lengths(rows[: sum(lengths)], lengths) for lengths in (one, other))
        scores = lodcore.sequence_matmul(x, y, transpose_y=True)
        for a, b, found, mixed in zip(x, y, scores, lodcore.sequence_matmul(scores, y), strict=True):
            np.testing.assert_allclose(found.values.reshape(len(a), len(b)), a @ b.T, rtol=1e-12)
            np.testing.assert_allclose(mixed, a @ b.T @ b, rtol=1e-12, atol=1e-12)


@given(coinciding(), st.data())
def test_full_like_aligns_its_fill_value_as_an_operand(x, data_):
    kinds = {1, len(x), x.num_rows, x.values.shape[1]}
    v = numbers(*data_.draw(st.lists(st.sampled_from(sorted(kinds)), max_size=x.ndim + 1)))
    if v.ndim and not as_before(x, v):
        with pytest.raises(ShapeError, match=r"full_like: fill_value: .*with_values\(v\).*per_sequence\(v\)"):
            np.full_like(x, v)
    elif v.ndim and v.shape[-1] not in (1, x.values.shape[1]):
        with pytest.raises(ShapeError, match="full_like: fill_value: has length"):
            np.full_like(x, v)
    else:
        assert bits(np.full_like(x, v)) == bits(x * 0 + v)


def test_a_product_takes_one_matrix_for_all_rows():
    """For any number of rows: three axes are never one matrix per row."""
    for count in (1, 2, 5):
        x = LoDTensor.from_lengths(numbers(5, 3, 2), [count, 5 - count])
        one = numbers(2, 4)
        for y in (one, one[None]):
            found = x @ y
            assert found.lod is x.lod
            np.testing.assert_array_equal(found.values, x.values @ one)
        for many in (1 + len(x), 5):
            with pytest.raises(ShapeError, match="one matrix for all rows is needed"):
                x @ numbers(many, 2, 4)
            with pytest.raises(ShapeError, match="one matrix for all rows is needed"), Program():
                data("x", spec_of(x)) @ numbers(many, 2, 4)


BLAMED = [  # two structures, and the end of the message: the later operand is blamed, whichever is deeper
    (LoDTensor.from_lengths(numbers(3), [1, 2]), LoDTensor.from_lengths(numbers(3), [2, 1]), 2, 1),
    (LoDTensor.from_lengths(numbers(3, 1), [2, 1]), lodcore.array([[[1.0]], [[2.0], [3.0]]]), 1, 2),
    (lodcore.array([[[1.0]], [[2.0], [3.0]]]), LoDTensor.from_lengths(numbers(3, 1), [2, 1]), 2, 1),
]


@for_each(("x", "y", "found", "needed"), BLAMED)
def test_the_later_of_two_structures_that_differ_is_named(x, y, found, needed):
    text = f"{{}}: sequence 0 of level 0 has length {found}; that of {{}} has {needed}".format
    for function in (ops.add, ops.less_than, ops.div, lambda x, y: x - y):
        with pytest.raises(LoDError, match=text("y", "x")):
            function(x, y)
    for operands, names in [((x > 1, y, 0.0), "x condition"), ((x > 1, 0.0, y), "y condition"), ((True, x, y), "y x")]:
        with pytest.raises(LoDError, match=f"where: {text(*names.split())}"):
            ops.where(*operands)


LENGTHS = [2, 0, 3]
EACH = {  # functions of a list of tensors with one structure
    "concat_values": lambda xs: ops.concat_values(xs, 1),
    "sequence_interleave": ops.sequence_interleave,
    "interleave_places": ops.interleave_places,
    "tensor_array_stack": lambda xs: lodcore.tensor_array_stack(
        lodcore.TensorArray.of_elements(4, dict(enumerate(xs))), 1
    ),
    "numpy.concatenate": lambda xs: np.concatenate(xs, axis=-1),
}


@for_each(("name", "at"), itertools.product(EACH, range(1, 4)))
def test_every_tensor_of_a_list_must_have_the_structure_of_the_first(name, at):
    """The second one, and the last, is named; an equal structure that is another object is not refused."""
    lods = [LoD.from_lengths(LENGTHS) for _ in range(4)]
    EACH[name]([LoDTensor(numbers(5, 2), lod) for lod in lods])
    interleaved = "interleave" in name  # of as many sequences, of any lengths
    lods[at] = LoD.from_lengths([*LENGTHS, 0]) if interleaved else LoD.from_lengths(LENGTHS[::-1])
    with pytest.raises(LoDError, match=rf"(xs\[{at}\]:|element {at}|batch {at}:)"):
        EACH[name]([LoDTensor(numbers(5, 2), lod) for lod in lods])


@for_each("function", [lambda x: x[:-1], lambda x: np.repeat(x, 2, 0), np.sum, lambda x: x[None], lambda x: x[:, 0]])
def test_functions_of_rows_return_one_entry_a_row(function):
    @elementwise_operator(function=function)
    def changed(x):
        """Change rows."""

    for rows in (numbers(5, 2), numbers(5, 1), numbers(2, 2)):
        x = LoDTensor.from_lengths(rows, [len(rows) - 1, 1])
        with pytest.raises(ShapeError, match=f"changed: the result has shape .*; there are {len(rows)} rows"):
            changed(x)


def test_the_operand_whose_rows_do_not_fit_is_named():
    """The third one, too, at once and in a Program; an assigned value on any axis of rows."""
    condition, x = LoDTensor.from_lengths(numbers(3, 2), [2, 1]) > 1, LoDTensor.from_lengths(numbers(3, 2), [2, 1])
    for wrong in (numbers(3), LoDTensor(numbers(3, 3), x.lod), numbers(2, 1, 3)):
        with pytest.raises(ShapeError, match="where: y: has length 3 on axis 2; that of condition is 2"):
            ops.where(condition, x, wrong)
        with pytest.raises(ShapeError, match="where: y: has length 3 on axis 2; that of condition is 2"), Program():
            ops.where(data("c", spec_of(condition)), x, wrong)
        with pytest.raises(ShapeError, match="where: x: has length 3 on axis 2; that of condition is 2"):
            ops.where(condition, wrong, 0.0)
    for shape in ((2, 1), (1, 2), (1, 1), (1, 2, 1), (2, 1, 1)):
        y = LoDTensor.from_lengths(numbers(3, *shape), [2, 1]).copy()
        for axis in range(len(shape)):
            if shape[axis] == 1:
                value = numbers(*shape[:axis], 3, *shape[axis + 1 :])
                with pytest.raises(ShapeError, match=f"value: has length 3 on axis {axis + 2}; that of .* is 1"):
                    y[...] = value


@for_each(
    ("dtype", "value", "wrong"),
    [
        ("i1", [1, 300], "300"),
        ("i8", [2.0, 0.5], "0.5"),
        ("i8", [0.0, np.nan], "nan"),
        ("u1", [7, -1], "-1"),
        ("f4", [1.0, -1e300], "-1e\\+300"),
        ("?", [1, 2], "2"),
        ("U1", ["a", "bc"], "'bc'"),
        ("S2", ["ab", "abc"], "'?b?'?abc'"),
    ],
)
def test_the_value_that_does_not_fit_is_named(dtype, value, wrong):
    """Not the first one, if that fits."""
    x = LoDTensor(np.zeros((3, 2), dtype), LoD.from_lengths([2, 1]))
    with pytest.raises(DTypeError, match=f"fill_value: is {wrong}; {x.dtype} cannot hold it"):
        np.full_like(x, value)
    y = x.copy()
    with pytest.raises(DTypeError, match=f"is {wrong}; {x.dtype} cannot hold it"):
        y[...] = np.array(value)
    assert not y.values.astype(bool).any()


def test_concatenate_refuses_a_number_that_the_dtype_cannot_hold():
    x = LoDTensor.from_lengths(np.arange(6).reshape(3, 2), [2, 1])
    assert np.concatenate([x, 2.0], axis=-1).values.tolist() == [[0, 1, 2], [2, 3, 2], [4, 5, 2]]
    with pytest.raises(DTypeError, match=r"is 1\.5; int64 cannot hold it"):
        np.concatenate([x, 1.5], axis=-1)
    with pytest.raises(DTypeError, match=r"is 1\.5; int64 cannot hold it"):
        np.concatenate([1.5, x.with_values(np.arange(3))], axis=1)


@pytest.mark.not_on_reference
def test_elementwise_takes_lists_tuples_arrays_and_numbers():
    for form in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0])):
        assert ops.elementwise([form, (3.0, 4.0)], np.add).tolist() == [4.0, 6.0]
        assert ops.elementwise((form, 3), np.multiply).tolist() == [3.0, 6.0]
