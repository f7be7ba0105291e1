"""Properties of moving operators beyond their oracles: laws, structures that are kept, gradients."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoD, LoDTensor, array, ops, vjp
from tests.helpers.agree import same, same_memory
from tests.helpers.draw import DTYPES, at_most, composite, integers, lod_tensors, read_only, whole_numbers
from tests.helpers.tables import for_each

FLOATS = [np.dtype("f4"), np.dtype("f8")]


@composite
def tensors_with_level(draw, **options):
    """Draw a LoDTensor and a level of it."""
    x = draw(lod_tensors(**options))
    return x, draw(integers(-x.num_levels, x.num_levels - 1))


# -- laws ----------------------------------------------------------------------------------------------------------


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

LINEAR = {  # of x, its LoD and a level: operators that only move, repeat or remove rows
    "gather_sequences": lambda x, lod, k: lodcore.gather_sequences(x, twice(lod.num_sequences(k)), k),
    "concat_batches": lambda x, lod, k: lodcore.concat_batches([x, x]),
    "sequence_concat": lambda x, lod, k: lodcore.sequence_concat([x, x], k),
    "sequence_expand": lambda x, lod, k: lodcore.sequence_expand(x, LoD.from_lengths(counts(lod.num_sequences(0)))),
    "sequence_pad": lambda x, lod, k: lodcore.sequence_pad(x)[0],
    "sequence_reverse": lambda x, lod, k: lodcore.sequence_reverse(x, k),
    "sequence_slice": lambda x, lod, k: lodcore.sequence_slice(x, lod.lengths(k) // 3, lod.lengths(k) // 2, k),
    "split_by_mask": lambda x, lod, k: lodcore.split_by_mask(x, counts(lod.num_sequences(k)) == 1, k)[0],
    "reorder_by_rank": lambda x, lod, k: lodcore.reorder_by_rank(x, lodcore.lod_rank_table(lod)),
}


def twice(count):
    """Return every number twice, the greatest first."""
    return np.arange(count).repeat(2)[::-1]


def counts(count):
    """Return 0, 1, 2 in turn."""
    return np.arange(count) % 3


@pytest.mark.twins
@pytest.mark.parametrize("name", LINEAR)
@at_most(30)
@given(data=st.data())
def test_gradients_of_moving_operators_are_adjoints(name, data):
    drawn, level = data.draw(tensors_with_level(dtypes=[np.dtype("f8")], row_shapes=[(2,)], most=5, max_levels=3))
    numbers = data.draw(whole_numbers(drawn.num_rows, np.float64, 2))
    for dtype in ("f4", "f8", "c8", "c16", "f2"):
        check_adjoint(name, LoDTensor(read_only(numbers.astype(dtype)), drawn.lod), level)


def check_adjoint(name, x, level):
    """Check that the gradient of a linear function is its adjoint."""
    lod, dtype = x.lod, x.dtype
    y, pullback = vjp(lambda variable: LINEAR[name](variable, lod, level), x)
    rows = y.values if isinstance(y, LoDTensor) else y
    d = np.random.default_rng(0).integers(-8, 9, rows.shape).astype(dtype)
    (d_x,) = pullback(d)
    assert d_x.lod is lod
    assert d_x.dtype == x.dtype
    assert (rows.astype("c16") * d).sum() == (x.values.astype("c16") * d_x.values).sum()
    out = np.full_like(x.values, 77)
    assert same_memory(pullback(d, out=(out,))[0].values, out)
    assert out.tobytes() == d_x.values.tobytes()


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
