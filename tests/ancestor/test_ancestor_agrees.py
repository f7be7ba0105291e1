"""Conventions of PaddlePaddle Fluid 1.8.5 that lodcore shares, with worked examples."""

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ShapeError, TensorArray, array, vjp
from tests.helpers.draw import batch


def test_rank_table_is_stable_and_falls():
    table = lodcore.lod_rank_table(batch([0, 1, 1, 4, 6]))
    assert list(zip(table.indices.tolist(), table.lengths.tolist(), strict=True)) == [(2, 3), (3, 2), (0, 1), (1, 0)]


def test_rank_table_counts_elements_of_the_next_level():
    table = lodcore.lod_rank_table(batch([0, 1, 3], [0, 2, 2, 6]))
    assert (table.indices.tolist(), table.lengths.tolist()) == ([1, 0], [2, 1])


def test_unpack_of_one_level():
    steps, indices_map = TensorArray.unpack(batch([0, 1, 1, 4, 6]), 0)
    assert [step.tolist() for step in steps] == [[2, 5, 1], [3, 6], [4]]
    assert steps.pack(0, indices_map).offsets.tolist() == [0, 1, 1, 4, 6]


def test_unpack_of_two_levels():
    x = batch([0, 1, 3], [0, 2, 2, 6])
    steps, indices_map = TensorArray.unpack(x, 0)
    assert [step.values.tolist() for step in steps] == [[1, 2], [3, 4, 5, 6]]
    assert [step.offsets.tolist() for step in steps] == [[0, 0, 2], [0, 4]]
    assert steps.pack(0, indices_map).lod == x.lod


def test_unpack_without_sorting_keeps_the_order_and_all_rows():
    """The TensorArray of 2017 sorted in ascending order here, and lost rows."""
    steps, indices_map = TensorArray.unpack(batch([0, 1, 1, 4, 6]), 0, sort_by_length=False)
    assert [step.tolist() for step in steps] == [[1, 2, 5], [3, 6], [4]]
    assert indices_map.tolist() == [0, 1, 4, 2, 5, 3]


def test_shrink_keeps_what_is_longer():
    table = lodcore.lod_rank_table(batch([0, 1, 1, 4, 6]))
    memory = np.array([2, 3, 0, 1])  # in the order of the table
    kept = [lodcore.shrink_memory(memory, step, table).tolist() for step in range(4)]
    assert kept == [[2, 3, 0], [2, 3], [2], []]
    _, pullback = vjp(lambda x: lodcore.shrink_memory(x, 1, table), np.ones(4))
    assert pullback(np.array([5.0, 6.0]))[0].tolist() == [5, 6, 0, 0]


def test_first_of_equal_maxima_has_the_gradient():
    x = array([[1.0, 3.0, 3.0], [2.0, 2.0]])
    pooled, pullback = vjp(lambda x: lodcore.sequence_pool(x, "max"), x)
    assert pooled.tolist() == [3, 2]
    assert pullback(np.array([5.0, 7.0]))[0].tolist() == [[0, 5, 0], [7, 0]]


def test_a_late_nan_is_not_ignored():
    """In Paddle, a nan in the first position stayed, and a later one was ignored."""
    for rows in ([np.nan, 1.0], [1.0, np.nan]):
        assert np.isnan(lodcore.sequence_pool([rows], "max")).all()


def test_pools_and_their_gradients():
    x = batch([0, 2, 2, 6])
    for pool_type, derivatives in {
        "sum": [1, 1, 1, 1, 1, 1],
        "mean": [1 / 2, 1 / 2, 1 / 4, 1 / 4, 1 / 4, 1 / 4],
        "sqrt": [2**-0.5, 2**-0.5, 0.5, 0.5, 0.5, 0.5],
        "first": [1, 0, 1, 0, 0, 0],
        "last": [0, 1, 0, 0, 0, 1],
    }.items():
        pooled, pullback = vjp(lambda x, pool_type=pool_type: lodcore.sequence_pool(x, pool_type, 9.0), x)
        assert pooled[1] == 9.0
        np.testing.assert_allclose(pullback(np.ones(3))[0].values, derivatives, rtol=1e-15)


def test_softmax_and_its_gradient():
    x = array([[0.0, np.log(3.0)], [5.0]])
    softened, pullback = vjp(lodcore.sequence_softmax, x)
    np.testing.assert_allclose(softened.values, [0.25, 0.75, 1.0])
    np.testing.assert_allclose(pullback(np.array([1.0, 0.0, 9.0]))[0].values, [0.1875, -0.1875, 0], atol=1e-15)


def test_pool_keeps_the_levels_before():
    pooled = lodcore.sequence_pool(batch([0, 1, 3], [0, 2, 2, 6]), "sum")
    assert (pooled.tolist(), pooled.offsets.tolist()) == ([[3], [0, 18]], [0, 1, 3])


def test_expand_of_rows_has_no_lod():
    expanded = lodcore.sequence_expand(np.array([1, 2, 3]), LoD.from_offsets([0, 2, 2, 5]))
    assert isinstance(expanded, np.ndarray)
    assert expanded.tolist() == [1, 1, 3, 3, 3]


def test_expand_of_sequences_has_one_entry_a_copy():
    x = batch([0, 2, 2, 3])
    expanded = lodcore.sequence_expand(x, LoD.from_offsets([0, 2, 5, 5]))
    assert expanded.offsets.tolist() == [0, 2, 4, 4, 4, 4]  # 0 copies drop a sequence, an empty one has empty copies
    assert expanded.values.tolist() == [1, 2, 1, 2]


def test_expand_counts_elements_of_the_reference_level():
    y = LoD.from_offsets([0, 1, 3], [0, 2, 2, 6])
    assert lodcore.sequence_expand(np.array([1, 2]), y, 0).tolist() == [1, 2, 2]
    assert lodcore.sequence_expand(np.array([1, 2, 3]), y, 1).tolist() == [1, 1, 3, 3, 3, 3]


def test_expand_as_has_the_lod_of_the_reference():
    y = LoD.from_offsets([0, 2, 2, 5])
    expanded = lodcore.sequence_expand_as(np.array([1, 2, 3]), y)
    assert expanded.lod is y
    assert expanded.tolist() == [[1, 1], [], [3, 3, 3]]


def test_concat_goes_sequence_by_sequence():
    joined = lodcore.sequence_concat([array([[1, 2], [3]]), array([[4], []])])
    assert (joined.tolist(), joined.offsets.tolist()) == ([[1, 2, 4], [3]], [0, 3, 4])
    assert lodcore.sequence_concat([array([[1, 2], [3]])]).tolist() == [[1, 2], [3]]  # one operand is enough


@pytest.mark.parametrize(
    ("length", "start", "windows"),
    [
        (3, None, [[0, 1, 2], [1, 2, 0], [0, 3, 0]]),  # begins length // 2 before its row
        (2, None, [[0, 1], [1, 2], [0, 3]]),
        (2, 0, [[1, 2], [2, 0], [3, 0]]),
        (2, 1, [[2, 0], [0, 0], [0, 0]]),
        (2, -2, [[0, 0], [0, 1], [0, 0]]),
    ],
)
def test_windows_of_a_convolution(length, start, windows):
    x = array([[1.0, 2.0], [], [3.0]])
    found = lodcore.sequence_conv(x, np.eye(length), length, start)  # the windows themselves
    assert found.lod is x.lod
    assert found.values.tolist() == windows


def test_filter_of_a_convolution():
    """Out is the sum of x[t + start + j] @ filter[j * width : (j + 1) * width]."""
    x = LoDTensor.from_lengths([[1.0, 2.0], [3.0, 4.0]], [2])
    weights = np.arange(8.0).reshape(4, 2)
    want = [[1, 2] @ weights[:2] + [3, 4] @ weights[2:], [3, 4] @ weights[:2]]
    assert lodcore.sequence_conv(x, weights, 2, 0).values.tolist() == np.array(want).tolist()


def test_rows_that_stand_beyond_the_edges():
    """The rows before the beginning come first, then those after the end; the nearest to the edge is last, or first."""
    x, edges = array([[1.0, 2.0], [3.0]]), [[-2.0], [-1.0], [9.0]]
    found = lodcore.sequence_conv(x, np.eye(4), 4, -2, edges)
    assert found.values.tolist() == [[-2, -1, 1, 2], [-1, 1, 2, 9], [-2, -1, 3, 9]]


def test_lookahead():
    """Out is the sum of x[t + j] * filter[j], column by column."""
    x = LoDTensor.from_lengths([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 1])
    assert lodcore.row_conv(x, [[1.0, 1.0], [10.0, 100.0]]).values.tolist() == [[31, 402], [3, 4], [5, 6]]


def test_windows_of_numbers():
    x = array([[1, 2, 3], [], [4]])
    assert lodcore.sequence_enumerate(x, 2, pad_value=7).tolist() == [[[1, 2], [2, 3], [3, 7]], [], [[4, 7]]]
    assert lodcore.sequence_enumerate(x, 1).tolist() == [[[1], [2], [3]], [], [[4]]]  # Paddle refused this


def test_erased_numbers():
    erased = lodcore.sequence_erase(array([[2, 2, 6, 1, 3, 9], [6, 1], [0, 1]]), [2, 3, 5])
    assert erased.tolist() == [[6, 1, 9], [6, 1], [0, 1]]


def test_scattered_updates_add_up():
    x, ids = np.ones((3, 4)), array([[0, 1, 1], [], [3]])
    updates = array([[1.0, 2.0, 3.0], [], [4.0]])
    found, pullback = vjp(lambda x, updates: lodcore.sequence_scatter(x, ids, updates), x, updates)
    assert found.tolist() == [[2, 6, 1, 1], [1, 1, 1, 1], [1, 1, 1, 5]]
    d_x, d_updates = pullback(np.arange(12.0).reshape(3, 4))
    assert d_x.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert d_updates.tolist() == [[0, 1, 1], [], [11]]


def test_pad_with_a_value_or_a_row():
    x = batch([0, 1, 1, 3], width=2)
    dense, lengths = lodcore.sequence_pad(x, np.array([8.0, 9.0]), maxlen=3)
    assert dense[0].tolist() == [[1, 1], [8, 9], [8, 9]]
    assert dense[1].tolist() == [[8, 9]] * 3
    assert (lengths.tolist(), lengths.dtype) == ([1, 0, 2], np.int64)
    assert lodcore.sequence_unpad(dense, lengths).tolist() == x.tolist()
    with pytest.raises(ValueError, match=r"maxlen: .*1.*2"):
        lodcore.sequence_pad(x, 0.0, maxlen=1)


def test_mask_saturates():
    assert lodcore.sequence_mask([1, 5, 0], 2, "int64").tolist() == [[1, 0], [1, 1], [0, 0]]
    assert lodcore.sequence_mask([[1], [3]]).shape == (2, 1, 3)


def test_reverse_and_slice_of_each_sequence():
    x = batch([0, 3, 3, 5])
    assert lodcore.sequence_reverse(x).tolist() == [[3, 2, 1], [], [5, 4]]
    assert lodcore.sequence_slice(x, [[1], [0], [0]], [[2], [0], [1]]).tolist() == [[2, 3], [], [4]]


def test_reshape_scales_lengths():
    reshaped = lodcore.sequence_reshape(batch([0, 2, 2, 6], width=2), 4)
    assert reshaped.offsets.tolist() == [0, 1, 1, 3]
    with pytest.raises(ShapeError, match="sequence 0 has 1 rows of 2"):
        lodcore.sequence_reshape(batch([0, 1, 4], width=2), 4)


def test_reset_takes_a_lod_or_offsets():
    x = batch([0, 2, 6])
    assert lodcore.lod_reset(x, target_lod=[0, 4, 6]).tolist() == [[1, 2, 3, 4], [5, 6]]
    assert lodcore.lod_reset(x, np.array([0, 4, 6])).offsets.tolist() == [0, 4, 6]  # the data are offsets, not lengths
    y = LoD.from_offsets([0, 1, 3], [0, 2, 2, 6])
    assert lodcore.lod_reset(x, y, target_lod=[0, 6]).lod is y  # y wins, with all levels
    _, pullback = vjp(lambda x: lodcore.lod_reset(x, y), x)
    assert pullback(np.ones(6))[0].lod is x.lod


def test_arrays_stack_and_concat():
    steps = TensorArray()
    for index, rows in enumerate(([[1, 2]], [[3, 4]])):
        steps.write(index, np.array(rows))
    assert steps.stack().shape == (2, 1, 2)
    assert steps.concat(axis=1).tolist() == [[1, 2, 3, 4]]
    assert steps.sizes(1).tolist() == [2, 2]
    steps.write(4, np.zeros((1, 2)))  # beyond the end: it grows, with holes
    assert steps.size() == 5


def test_lengths_are_no_offsets():
    """In Paddle, both were called `lod` at some time, and examples mixed them."""
    assert LoD.from_lengths([2, 3, 4]).offsets().tolist() == [0, 2, 5, 9]
    assert LoD.from_offsets([0, 2, 5, 9]).lengths().tolist() == [2, 3, 4]
    relative, absolute = LoD.from_offsets([0, 1, 3], [0, 2, 2, 6]), LoD.from_row_offsets([0, 2, 6], [0, 2, 2, 6])
    assert relative == absolute
    assert relative.row_offsets(0).tolist() == [0, 2, 6]


def test_nested_lists_of_any_depth():
    """In Paddle, one level only, always int64, and always a column."""
    x = array([[[1.5], []], [[2.5, 3.5]]])
    assert (x.num_levels, x.dtype, x.values.shape) == (2, np.float64, (3,))
