"""Properties of moving operators beyond their oracles: memory, structures that are kept, gradients of the filling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, array, ops, vjp
from tests.helpers.agree import same, same_memory
from tests.helpers.draw import DTYPES, lod_tensors, read_only
from tests.helpers.tables import for_each

FLOATS = [np.dtype("f4"), np.dtype("f8")]


# -- memory and structure ------------------------------------------------------------------------------------------


@given(lod_tensors())
def test_the_default_filling_is_zero_bytes(x):
    dense, lengths = lodcore.sequence_pad(x, maxlen=int(x.lod.lengths(-1).max(initial=0)) + 1)
    filling = dense[~lodcore.sequence_mask(lengths, dense.shape[1])]
    assert filling.tobytes() == bytes(filling.nbytes)


@given(lod_tensors(row_shapes=[(6,)], dtypes=[d for d in DTYPES if d.names is None]), st.sampled_from([1, 2, 3, 6]))
def test_reshape_and_back_is_the_identity(x, new_dim):
    cut = lodcore.sequence_reshape(x, new_dim)
    assert cut.values.nbytes == 0 or np.shares_memory(cut.values, x.values)
    assert same(lodcore.sequence_reshape(cut, 6), x)


@given(lod_tensors())
def test_lod_reset_shares_rows(x):
    whole = lodcore.lod_reset(x, target_lod=[0, x.num_rows])
    assert same_memory(whole.values, x.values)
    assert same(lodcore.lod_reset(whole, x), x)
    assert lodcore.lod_reset(whole, x).lod is x.lod
    assert same_memory(lodcore.lod_reset(x, LoD.from_offsets(num_rows=x.num_rows)), x.values)
    for y in ([0, x.num_rows], np.array([0, x.num_rows]), (0, x.num_rows)):  # y without levels: its data are offsets
        assert same(lodcore.lod_reset(x, y), whole)


# -- gradients -----------------------------------------------------------------------------------------------------


@given(lod_tensors(dtypes=FLOATS, row_shapes=[(), (3,), (0,), (2, 2)]), st.booleans(), st.integers(0, 2))
def test_gradient_of_the_filling(x, a_row, more):
    filling = np.ones(x.values.shape[1:] if a_row else (), x.dtype)
    longest = int(x.lod.lengths(-1).max(initial=0)) + more
    (dense, lengths), pullback = vjp(lambda v: lodcore.sequence_pad(x, v, longest), filling)
    d = np.arange(dense.size, dtype=x.dtype).reshape(dense.shape)
    (d_filling,) = pullback(d, None)
    outside = d[~lodcore.sequence_mask(lengths, longest)]
    wanted = outside.sum(axis=0) if a_row else outside.sum()
    np.testing.assert_allclose(d_filling, wanted, rtol=1e-5)
    assert d_filling.shape == filling.shape


def test_arguments_changed_after_the_call_change_no_gradient():
    x = array([[1.0, 2.0], [3.0]])
    index, offset, length = np.array([1, 1]), np.array([0, 1]), np.array([1, 0])
    mask, sizes = np.array([True, False]), np.array([1, 2])
    dense = np.ones((2, 2))
    calls = [
        (lambda x: lodcore.gather_sequences(x, index), x, index),
        (lambda x: lodcore.sequence_slice(x, offset, length), x, offset),
        (lambda x: lodcore.split_by_mask(x, mask)[0], x, mask),
        (lambda x: lodcore.sequence_unpad(x, sizes), dense, sizes),
    ]
    for call, of, changed in calls:
        y, pullback = vjp(call, of)
        before = pullback(np.ones(y.num_rows))[0]
        changed[...] = 0
        after = pullback(np.ones(y.num_rows))[0]
        assert np.asarray(getattr(after, "values", after)).tolist() == getattr(before, "values", before).tolist()


# -- rows without levels, and rows of several axes ------------------------------------------------------------------


def test_moving_operators_on_rows_without_levels():
    rows = read_only(np.arange(6.0).reshape(3, 2))
    assert lodcore.sequence_expand(rows, LoD.from_lengths([0, 2, 1])).tolist() == [[2, 3], [2, 3], [4, 5]]
    true, false = lodcore.split_by_mask(rows, [True, False, True])
    assert type(true) is type(false) is np.ndarray
    assert lodcore.merge_by_mask(true, false, [True, False, True]).tolist() == rows.tolist()
    assert lodcore.lod_append(rows, lengths=[2, 1]).tolist() == [[[0, 1], [2, 3]], [[4, 5]]]
    none = LoDTensor(rows, LoD.from_offsets(num_rows=3))
    assert type(lodcore.sequence_expand(none, LoD.from_lengths([1, 1, 1]))) is np.ndarray


@pytest.mark.not_on_reference
@for_each("axis", [0, 1, -1])
def test_concat_values_gradient_is_split_for_parts_of_any_width(axis):
    sizes = [2, 0, 3, 1]
    xs = [np.ones((n, 2) if axis == 0 else (2, n)) for n in sizes]
    d = np.arange(12.0).reshape((6, 2) if axis == 0 else (2, 6))
    found = vjp(lambda *xs: ops.concat_values(xs, axis), *xs)[1](d)
    for one, wanted in zip(found, np.split(d, np.cumsum(sizes)[:-1], axis), strict=True):
        assert one.tolist() == wanted.tolist()


@pytest.mark.not_on_reference
@for_each("row_shape", [(), (3,), (2, 3), (3, 2), (3, 3), (1, 3, 2), (2, 2, 3)])
def test_sequence_reshape_of_rows_with_any_axes(row_shape):
    numbers = np.arange(4 * np.prod(row_shape, dtype=int))
    x = LoDTensor.from_lengths(numbers.reshape(4, *row_shape), [1, 3])
    wanted = np.split(numbers.reshape(-1, 1), [len(numbers) // 4])
    assert lodcore.sequence_reshape(x, 1).tolist() == [part.tolist() for part in wanted]
