"""Defects of the LoD tensors of PaddlePaddle Fluid 1.8.5, none of which lodcore has: one test per defect.

Crashes, silently wrong results, wrong gradients, limits of levels and dtypes, batches that could not be expressed, and
stale structures. Offsets are written as in Paddle, coarse first; batches of one column are flat here.
"""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import (
    LoD,
    LoDError,
    LoDTensor,
    RankTable,
    ShapeError,
    TensorArray,
    array,
    grad_check,
    ops,
    vjp,
)
from lodcore.errors import DTypeError, LevelError
from lodcore.graph import while_loop
from reference.cases import OPERATORS
from tests.helpers.draw import batch

FLOATS = [np.float32, np.float64]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def ones_like(x):
    return np.ones_like(x.values if isinstance(x, LoDTensor) else x)


def assert_nothing(x, shape, dtype, num_levels=0):
    """Check that a result without rows has kept its levels, its row shape, and its dtype."""
    values = x.values if num_levels else x
    assert isinstance(x, LoDTensor) == bool(num_levels)
    assert (values.shape, values.dtype) == (shape, dtype)
    assert not num_levels or x.num_levels == num_levels


# -- crashes on plain input -----------------------------------------------------------------------------------------

EMPTIES = [[], [0], [0, 0, 0]]


@pytest.mark.parametrize("lengths", EMPTIES)
@pytest.mark.parametrize("sort_by_length", [True, False])
def test_unpack_of_only_empty_sequences(lengths, sort_by_length):
    x = LoDTensor.from_lengths(np.empty((0, 2), np.float32), lengths)

    def there_and_back(x):
        steps, indices_map = lodcore.tensor_array_unpack(x, 0, sort_by_length)
        assert len(steps) == 0
        return lodcore.tensor_array_pack(steps, 0, indices_map)

    back, pullback = vjp(there_and_back, x)
    assert back.lod == x.lod
    (gradient,) = pullback(ones_like(back))
    assert_nothing(gradient, (0, 2), np.float32, 1)


def test_unpack_of_only_empty_sequences_under_a_level():
    x = LoDTensor.from_offsets(np.empty((0, 2)), [0, 2, 3], [0, 0, 0, 0])
    steps, indices_map = TensorArray.unpack(x, 1)
    assert steps.size() == 0
    assert steps.pack(1, indices_map).lod == x.lod


@pytest.mark.parametrize("lengths", EMPTIES)
def test_concat_with_a_batch_of_no_rows(lengths):
    nothing = LoDTensor.from_lengths(np.empty((0, 2)), lengths)
    rows = LoDTensor.from_lengths(np.ones((2 * len(lengths), 2)), [2] * len(lengths))
    for xs in ([nothing, rows], [rows, nothing], [nothing], [nothing, nothing]):
        joined, pullback = vjp(lodcore.sequence_concat, xs)
        assert joined.lod == (rows if any(x is rows for x in xs) else nothing).lod
        assert [x.values.shape for x in pullback(ones_like(joined))[0]] == [x.values.shape for x in xs]


@pytest.mark.parametrize("lengths", EMPTIES)
def test_pad_of_no_rows(lengths):
    x = LoDTensor.from_lengths(np.empty((0, 2), np.float32), lengths)
    dense, found = lodcore.sequence_pad(x, 7)
    assert_nothing(dense, (len(lengths), 0, 2), np.float32)
    assert found.tolist() == lengths
    dense, _ = lodcore.sequence_pad(x, 7, maxlen=3)
    assert dense.tolist() == [[[7, 7]] * 3] * len(lengths)


@pytest.mark.parametrize("lengths", EMPTIES)
def test_unpad_of_lengths_of_zero(lengths):
    dense = np.ones((len(lengths), 3, 2))
    x, pullback = vjp(lambda dense: lodcore.sequence_unpad(dense, lengths), dense)
    assert_nothing(x, (0, 2), np.float64, 1)
    assert x.lengths.tolist() == lengths
    assert pullback(np.empty((0, 2)))[0].tolist() == np.zeros(dense.shape).tolist()


def test_gradient_of_unpad_without_a_lod():
    x, pullback = vjp(lambda dense: lodcore.sequence_unpad(dense, [1, 0, 2]), np.zeros((3, 2)))
    (gradient,) = pullback(np.array([1.0, 2.0, 3.0]))  # bare rows
    assert gradient.tolist() == [[1, 0], [0, 0], [2, 3]]
    with pytest.raises(ShapeError, match=r"\(2,\).*\(3,\)"):
        pullback(np.array([1.0, 2.0]))
    assert x.lengths.tolist() == [1, 0, 2]


@pytest.mark.parametrize("new_dim", [0, -1, -(2**63)])
def test_reshape_to_no_columns(new_dim):
    with pytest.raises(ShapeError, match=f"sequence_reshape: new_dim: is {new_dim}; 1 or more is needed"):
        lodcore.sequence_reshape(batch([0, 2], width=2), new_dim)


def test_split_of_no_sequences():
    assert LoD.from_lengths([]).split() == []
    when_true, when_false = lodcore.split_by_mask(array([], num_levels=2), [])
    assert len(when_true) == len(when_false) == 0


# -- silently wrong results ----------------------------------------------------------------------------------------


def test_concat_of_two_levels():
    x = array([[[1, 2], [3]], [[4, 5, 6]]])
    y = array([[[7], []], [[8, 9]]])
    assert lodcore.sequence_concat([x, y]).tolist() == [[[1, 2, 7], [3]], [[4, 5, 6, 8, 9]]]
    assert lodcore.sequence_concat([x, y], level=0).tolist() == [[[1, 2], [3], [7], []], [[4, 5, 6], [8, 9]]]


def test_row_conv_of_two_levels():
    x = array([[[1.0, 2.0], [3.0]], [[], [4.0, 5.0]]])
    assert lodcore.row_conv(x, [1.0, 10.0]).tolist() == [[[21, 2], [3]], [[], [54, 5]]]
    assert lodcore.row_conv(x, [1.0, 10.0], level=0).tolist() == [[[21, 32], [3]], [[], [54, 5]]]


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_scatter_out_of_range(bad):
    x, ids = np.zeros((2, 3)), array([[0, 2], [1, bad]])
    with pytest.raises(IndexError, match=f"sequence_scatter: ids: is {bad} at row 3, in sequence 1; .*3 columns"):
        lodcore.sequence_scatter(x, ids, array([[1.0, 1.0], [1.0, 1.0]]))
    assert not x.any()


def test_scatter_with_too_few_sequences():
    with pytest.raises(LoDError, match=r"1 sequences.*2"):
        lodcore.sequence_scatter(np.zeros((2, 3)), array([[0]]), array([[1.0]]))


def test_scatter_into_rows_of_two_axes():
    x = np.zeros((2, 2, 2))
    updates = LoDTensor.from_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 2])
    found = lodcore.sequence_scatter(x, array([[1], [0, 0]]), updates)
    assert found.tolist() == [[[0, 0], [1, 2]], [[8, 10], [0, 0]]]


def test_unpad_of_negative_lengths():
    with pytest.raises(IndexError, match="sequence_unpad: length: is -1 for sequence 1"):
        lodcore.sequence_unpad(np.zeros((3, 2)), [2, -1, 1])


def test_append_of_a_level_that_does_not_fit():
    x = batch([0, 2, 6])
    with pytest.raises(LoDError, match=r"lod_append: .*"):
        lodcore.lod_append(x, offsets=[0, 3, 6])
    with pytest.raises(LoDError, match="append"):
        x.lod.append(offsets=[0, 3, 6])
    assert lodcore.lod_append(x, lengths=[1] * 6).tolist() == [[[1], [2]], [[3], [4], [5], [6]]]


def test_structure_is_not_stale_when_values_change():
    x = batch([0, 2, 6])
    with pytest.raises(LoDError, match="4 rows"):
        LoDTensor(x.values[:4], x.lod)
    with pytest.raises(AttributeError):
        x.values = np.zeros(4)
    with pytest.raises(AttributeError):
        x.lod = LoD.from_lengths([1])


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_structure_is_not_stale_when_values_are_reshaped_in_place():
    values = np.zeros((4, 2))
    x = LoDTensor.from_lengths(values, [1, 3])
    values.shape = (2, 4)
    assert x.values.shape == (4, 2)
    x.values.shape = (2, 4)
    assert x.values.shape == (4, 2)
    for use in (LoDTensor.tolist, lodcore.sequence_reverse, lambda x: lodcore.sequence_pool(x, "sum")):
        assert len(use(x)) == 2


def test_offsets_are_checked_without_rows():
    with pytest.raises(LoDError, match="5"):
        LoDTensor.from_offsets(np.empty((0, 1)), [0, 5])
    with pytest.raises(LoDError, match="5"):
        lodcore.lod_reset(np.empty((0, 1)), target_lod=[0, 5])


def test_structure_that_no_longer_fits_is_not_kept():
    x = batch([0, 2, 6], width=2)
    assert lodcore.sequence_reshape(x, 4).lod == LoD.from_lengths([1, 2])
    assert isinstance(ops.matmul(x, np.ones((2, 3))), LoDTensor)
    with pytest.raises(ShapeError, match=r"axis 1.*ragged"):
        ops.add(x, np.ones((3, 6, 2)))


def test_reorder_with_a_short_table():
    x = batch([0, 2, 3, 6])
    with pytest.raises(LoDError, match="table: has 2 sequences; x has 3"):
        lodcore.reorder_by_rank(x, RankTable([1, 0], [2, 1]))
    with pytest.raises(LoDError, match="table: has 4 sequences; x has 3"):
        lodcore.reorder_by_rank(x, RankTable([1, 0, 2, 3], [3, 2, 1, 1]))


def test_pack_with_the_map_of_another_batch():
    steps, _ = TensorArray.unpack(batch([0, 1, 1, 4, 6]), 0)
    _, other = TensorArray.unpack(batch([0, 2, 6]), 0)
    with pytest.raises(LoDError, match="indices_map"):
        steps.pack(0, other)


def test_read_past_the_end_of_an_array():
    steps = TensorArray(2)
    steps.write(0, np.zeros(2))
    with pytest.raises(IndexError, match="index: is 2; the size is 2"):
        steps.read(2)
    with pytest.raises(IndexError, match="index: is 1, a hole; the size is 2"):
        steps.read(1)
    assert steps.size() == 2  # reading does not resize


def test_mask_of_negative_lengths_and_of_floats():
    with pytest.raises(IndexError, match="lengths: is -1 for sequence 1"):
        lodcore.sequence_mask([1, -1])
    with pytest.raises(DTypeError, match="lengths: has dtype float64"):
        lodcore.sequence_mask(np.array([1.0, 2.0]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_of_large_scores(dtype):
    """Paddle did not subtract the maximum before exp: nan for the whole sequence."""
    x = LoDTensor.from_lengths(np.array([1000, 1000, -1e30, 3e4, 0, -np.inf, 0], dtype), [3, 1, 0, 3])
    softened, pullback = vjp(lodcore.sequence_softmax, x)
    assert softened.tolist() == [[0.5, 0.5, 0], [1], [], [0.5, 0, 0.5]]
    assert np.isfinite(pullback(np.arange(7, dtype=dtype))[0].values).all()
    assert lodcore.sequence_logsumexp(x).tolist()[1:3] == [3e4, -np.inf]


def test_operands_of_unequal_structure():
    x, y = array([[1.0, 2.0], [3.0]]), array([[1.0], [2.0, 3.0]])
    for combine in (ops.add, lodcore.less_than, lambda x, y: ops.cross_entropy(ops.matmul(x, [[1.0]]), y)):
        with pytest.raises((LoDError, ShapeError)):
            combine(x, y)
    with pytest.raises(LoDError, match="sequence 0 of level 0"):
        ops.add(x, y)


# -- wrong gradients -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_gradient_of_a_loop(trips):
    """In Paddle, the gradient was 0 with respect to x after one iteration, and far off with respect to w."""
    x, w = np.array([0.3, -0.2]), np.array([0.5, 0.7])

    def looped(x, w):
        loop = while_loop()
        with loop.loop():
            time = loop.loop_var(0)
            h = loop.loop_var(x)
            loop.break_if(lodcore.greater_equal_than(time, trips))
            h.update(ops.tanh(ops.add(ops.mul(h, w), x)))
        return h

    def unrolled(x, w):
        h = x
        for _ in range(trips):
            h = ops.tanh(ops.add(ops.mul(h, w), x))
        return h

    grad_check(looped, x, w)
    (got, got_pullback), (want, want_pullback) = vjp(looped, x, w), vjp(unrolled, x, w)
    assert got.tobytes() == want.tobytes()
    for one, other in zip(got_pullback(np.ones(2)), want_pullback(np.ones(2)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_gradient_of_an_overwritten_element():
    """Paddle added the gradient of the value that was overwritten: 4 instead of 3."""

    def last_wins(y):
        steps = TensorArray()
        steps.write(0, y)
        steps.write(0, ops.mul(y, 3.0))
        return steps.read(0)

    y = np.array([2.0])
    out, pullback = vjp(last_wins, y)
    assert out.tolist() == [6.0]
    assert pullback(np.array([1.0]))[0].tolist() == [3.0]


@pytest.mark.parametrize("start", [-4, -1, 0, 1, 2, 5])
@pytest.mark.parametrize("with_padding", [False, True])
def test_gradient_of_a_filter_over_short_sequences(start, with_padding):
    """Paddle's result was wrong if windows begin after their row and a sequence is not longer than that."""
    random = np.random.default_rng(0)
    x = LoDTensor.from_lengths(random.standard_normal((9, 2)), [1, 0, 2, 5, 1])
    weights = random.standard_normal((6, 4))
    edges = random.standard_normal((max(0, -start) + max(0, start + 2), 2))
    if with_padding:
        grad_check(lambda x, w, edges: lodcore.sequence_conv(x, w, 3, start, edges), x, weights, edges)
    else:
        grad_check(lambda x, w: lodcore.sequence_conv(x, w, 3, start), x, weights)


def test_gradient_of_a_pad_value():
    x, filling = batch([0, 2, 2, 5]), np.array(0.5)
    grad_check(lambda x, filling: lodcore.sequence_pad(x, filling)[0], x, filling)
    grad_check(lambda x, filling: lodcore.sequence_pool(x, "max", filling), x, filling)
    _, pullback = vjp(lambda filling: lodcore.sequence_pad(x, filling)[0], filling)
    assert pullback(np.ones((3, 3)))[0] == 4.0


def test_gradient_of_rows_that_were_not_copied():
    x = np.array([1.0, 2.0, 3.0])
    _, pullback = vjp(lambda x: lodcore.sequence_expand_as(x, LoD.from_lengths([2, 0, 1])), x)
    assert pullback(np.ones(3))[0].tolist() == [2, 0, 1]


# -- levels --------------------------------------------------------------------------------------------------------

ONE_LEVEL_ONLY = [
    "row_conv",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_expand_as",
    "sequence_pool",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
]


@pytest.mark.parametrize("name", ONE_LEVEL_ONLY)
def test_operators_of_one_level_take_any(name):
    """The cases with which lodcore is compared cover each of these levels."""
    assert {"depth 3", "level 0", "level 1", "level 2"} <= OPERATORS[name].must


def test_erase_at_any_depth():
    assert lodcore.sequence_erase(array([[[1, 2], [2]], [[3]]]), [2]).tolist() == [[[1], []], [[3]]]


@pytest.mark.parametrize("name", ["sequence_pad", "sequence_reshape"])
def test_operators_of_the_last_level_take_any_depth(name):
    assert {"depth 1", "depth 2", "depth 3"} <= OPERATORS[name].must


def test_pool_of_four_levels():
    x = batch([0, 1, 2], [0, 1, 3], [0, 2, 3, 3], [0, 2, 3, 6])
    assert x.num_levels == 4
    for level in range(4):
        pooled = lodcore.sequence_pool(x, "sum", level=level)
        bounds = x.lod.row_offsets(level).tolist()
        sums = [sum(range(start + 1, stop + 1)) for start, stop in itertools.pairwise(bounds)]
        assert (pooled.values if level else pooled).tolist() == sums
        assert not level or pooled.num_levels == level


def test_expand_of_a_nested_batch():
    x = array([[[1, 2], [3]], [[4]], []])
    expanded = lodcore.sequence_expand(x, LoD.from_lengths([2, 0, 1]))
    assert expanded.tolist() == [[[1, 2], [3]], [[1, 2], [3]], []]


# -- dtypes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
@pytest.mark.parametrize("pool_type", ["sum", "mean", "sqrt", "max", "min", "first", "last"])
def test_pool_of_every_dtype(pool_type, dtype):
    pooled = lodcore.sequence_pool(batch([0, 2, 2, 5], dtype=dtype), pool_type)
    want = {
        "sum": [3, 0, 12],
        "mean": [1.5, 0, 4],
        "sqrt": [3 / 2**0.5, 0, 12 / 3**0.5],
        "max": [2, 0, 5],
        "min": [1, 0, 3],
        "first": [1, 0, 3],
        "last": [2, 0, 5],
    }[pool_type]
    np.testing.assert_allclose(pooled, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_convolutions_of_either_dtype(dtype):
    x = batch([0, 2, 2, 5], width=2, dtype=dtype)
    for result in (lodcore.sequence_conv(x, np.ones((6, 3), dtype), 3), lodcore.row_conv(x, np.ones((2, 2), dtype))):
        assert result.dtype == dtype
        assert result.lod is x.lod


@pytest.mark.parametrize("dtype", INTEGERS)
def test_indices_of_any_width(dtype):
    x, one = batch([0, 2, 4]), np.array([1, 1], dtype)
    assert lodcore.sequence_slice(x, one, one).tolist() == [[2], [4]]
    assert lodcore.sequence_unpad(np.ones((2, 3)), one).lengths.tolist() == [1, 1]
    assert lodcore.gather_sequences(x, one).tolist() == [[3, 4], [3, 4]]
    assert lodcore.lod_reset(x, np.array([0, 1, 4], dtype)).lengths.tolist() == [1, 3]
    assert lodcore.lod_append(array([[1], [2]]), lengths=one).tolist() == [[[1]], [[2]]]
    assert lodcore.sequence_mask(one, 2).tolist() == [[True, False]] * 2
    ids = LoDTensor.from_lengths(one, [1, 1])
    assert lodcore.sequence_scatter(np.zeros((2, 2)), ids, 1.0).tolist() == [[0, 1], [0, 1]]
    assert lodcore.sequence_enumerate(ids, 2).tolist() == [[[1, 0]], [[1, 0]]]
    assert lodcore.sequence_erase(ids, one).tolist() == [[], []]
    assert lodcore.lookup_table(np.eye(2), ids).tolist() == [[[0, 1]], [[0, 1]]]
    steps = TensorArray()
    steps.write(one[:1], x)
    assert steps.read(one[:1]) is x


# -- empty batches -------------------------------------------------------------------------------------------------

NOTHING = [  # calls with zero sequences of rows of shape (3,), and their results
    (lambda x: lodcore.sequence_pool(x, "sum"), (0, 3), 0),
    (lambda x: lodcore.sequence_pool(x, "max", -1.0), (0, 3), 0),
    (lambda x: lodcore.sequence_slice(x, [], []), (0, 3), 1),
    (lodcore.sequence_reverse, (0, 3), 1),
    (lambda x: lodcore.sequence_expand(x, LoD.from_lengths([])), (0, 3), 1),
    (lambda x: lodcore.sequence_expand_as(lodcore.sequence_pool(x, "sum"), x), (0, 3), 1),
    (lambda x: lodcore.sequence_concat([x, x]), (0, 3), 1),
    (lambda x: lodcore.concat_batches([x, x]), (0, 3), 1),
    (lambda x: lodcore.sequence_pad(x)[0], (0, 0, 3), 0),
    (lambda x: lodcore.sequence_pad(x, 1.0, 2)[0], (0, 2, 3), 0),
    (lambda x: lodcore.sequence_unpad(np.empty((0, 5, 3), x.dtype), []), (0, 3), 1),
    (lambda x: lodcore.sequence_reshape(x, 2), (0, 2), 1),
    (lambda x: lodcore.gather_sequences(x, []), (0, 3), 1),
    (lambda x: lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x)), (0, 3), 1),
    (lambda x: lodcore.lod_append(x, lengths=[]), (0, 3), 2),
    (lambda x: lodcore.split_by_mask(x, [])[0], (0, 3), 1),
    (lambda x: ops.matmul(x, np.ones((3, 4), x.dtype)), (0, 4), 1),
    (lambda x: ops.softmax(x), (0, 3), 1),
    (lodcore.sequence_softmax, (0, 3), 1),
    (lambda x: lodcore.sequence_conv(x, np.ones((6, 4), x.dtype), 2), (0, 4), 1),
    (lambda x: lodcore.row_conv(x, np.ones((2, 3), x.dtype)), (0, 3), 1),
    (lodcore.sequence_cumsum, (0, 3), 1),
    (lodcore.sequence_logsumexp, (0, 3), 0),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("compute", "shape", "num_levels"), NOTHING)
def test_zero_sequences_keep_shape_and_dtype(compute, shape, num_levels, dtype):
    x = LoDTensor.from_lengths(np.empty((0, 3), dtype), [])
    result, pullback = vjp(compute, x)
    assert_nothing(result, shape, dtype, num_levels)
    if compute is not NOTHING[10][0]:
        (gradient,) = pullback(ones_like(result))
        assert_nothing(gradient, (0, 3), dtype, 1)


@pytest.mark.parametrize("dtype", ["i4", "i8", "u1"])
def test_zero_sequences_of_numbers(dtype):
    ids = LoDTensor.from_lengths(np.empty(0, dtype), [])
    assert_nothing(lodcore.sequence_enumerate(ids, 3), (0, 3), np.dtype(dtype), 1)
    assert_nothing(lodcore.sequence_erase(ids, [1]), (0,), np.dtype(dtype), 1)
    assert_nothing(lodcore.sequence_erase(LoDTensor.from_lengths([1, 1], [2]), [1]), (0,), np.int64, 1)
    assert_nothing(lodcore.lookup_table(np.ones((4, 3)), ids), (0, 3), np.float64, 1)
    assert_nothing(lodcore.embedding_bag(np.ones((4, 3)), ids), (0, 3), np.float64)
    assert_nothing(lodcore.sequence_scatter(np.empty((0, 3)), ids, 1.0), (0, 3), np.float64)


def test_zero_sequences_can_be_said():
    for lod in (LoD.from_offsets([0]), LoD.from_lengths([]), LoD.from_offsets([0], [0])):
        assert (lod.num_sequences(), lod.num_rows) == (0, 0)
    assert lodcore.sequence_mask([]).shape == (0, 0)
    assert lodcore.sequence_mask([0, 0]).shape == (2, 0)  # not uninitialised memory


# -- empty sequences that must not break anything -------------------------------------------------------------------


def test_row_conv_with_an_empty_sequence():
    x = array([[1.0, 2.0], [], [3.0]])
    grad_check(lodcore.row_conv, x, np.array([1.0, 0.5, 2.0]))
    assert lodcore.row_conv(x, [1.0, 0.5, 2.0]).tolist() == [[2, 2], [], [3]]


def test_reorder_with_an_empty_sequence():
    x = array([[1.0], [], [2.0, 3.0]])
    reordered, pullback = vjp(lambda x: lodcore.reorder_by_rank(x, lodcore.lod_rank_table(x)), x)
    assert reordered.tolist() == [[2, 3], [1], []]
    assert pullback(np.array([1.0, 2.0, 3.0]))[0].tolist() == [[3.0], [], [1.0, 2.0]]


def test_pool_of_more_sequences_than_rows():
    x = LoDTensor.from_offsets(np.array([5.0]), [0, 0, 0, 1])
    for pool_type in ("sum", "mean", "sqrt", "max", "min", "first", "last"):
        pooled, pullback = vjp(lambda x, pool_type=pool_type: lodcore.sequence_pool(x, pool_type, -1.0), x)
        assert pooled.tolist() == [-1, -1, 5]
        assert pullback(np.array([7.0, 7.0, 2.0]))[0].tolist() == [[], [], [2.0]]


def test_merge_of_a_false_part_with_empty_sequences():
    x = array([[1], [], [2, 3]])
    sides = lodcore.split_by_mask(x, [True, False, False])
    assert sides[1].tolist() == [[], [2, 3]]
    assert lodcore.merge_by_mask(*sides, [True, False, False]).tolist() == x.tolist()


def test_slices_without_elements():
    lod = LoD.from_offsets([0, 1, 1, 4])
    assert lod.slice(1, 1) == LoD.from_lengths([])
    assert lod.slice(1, 2) == LoD.from_lengths([0])
    assert batch([0, 1, 4])[1:1].tolist() == []


# -- copies --------------------------------------------------------------------------------------------------------


def test_steps_are_views():
    """In Paddle, unpack and pack copied row by row."""
    x = batch([0, 1, 1, 4, 6], width=3)
    steps, indices_map = TensorArray.unpack(x, 0)
    buffer = steps.concat(0)
    assert all(np.shares_memory(step, buffer) for step in steps)
    assert steps.pack(0, indices_map).tolist() == x.tolist()


# -- errors --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: lodcore.sequence_pool(x.values, "sum"), DTypeError, "sequence_pool: x: is ndarray"),
        (lambda x: lodcore.sequence_pool(x, "sum", level=1), LevelError, "level.* 1"),
        (lambda x: TensorArray().read(-1), IndexError, "tensor_array_read: index: is -1; slots count from 0"),
        (lambda x: lodcore.sequence_slice(x, [0, 1], [2, 9]), IndexError, "sequence_slice: offset, length: .*1, 9"),
        (lambda x: lodcore.sequence_expand(x, x.values), DTypeError, "sequence_expand: y: is ndarray"),
        (lambda x: lodcore.lod_reset(x, target_lod=[1, 6]), LoDError, r"\[0\].*1.*0"),
        (lambda x: lodcore.lod_reset(x, target_lod=[0, 4, 2, 6]), LoDError, "fall.*2.*4|4.*2"),
        (lambda x: lodcore.lod_reset(x, target_lod=[0, 4]), LoDError, "4 rows.*6"),
        (lambda x: lodcore.lod_rank_table(x, 1), LevelError, "level.* 1"),
        (lambda x: TensorArray().stack(), ValueError, "the array is empty"),
        (lambda x: array([[[1], [2, 3]], [[4]]]).to_padded(length=0), (ValueError, LevelError), None),
        (lambda x: LoD.from_lengths([2, -1]), LoDError, r"lengths\[0\].*-1 at position 1"),
    ],
)
def test_errors_say_what_is_wrong(call, error, says):
    """Paddle's messages were "Expected in_lod_level > 0, but received 0 <= 0" and "vector::_M_range_check"."""
    with pytest.raises(error, match=says):
        call(batch([0, 2, 6]))
