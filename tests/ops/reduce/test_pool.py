"""Pooling beyond the table of samples: dtypes, nan, ties, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import LoDTensor, embedding_bag, lookup_table, ops, sequence_pool, vjp
from tests.helpers.draw import lods, read_only


def pooled(values, pool_type, lengths=(2, 0, 1), **options):
    return sequence_pool(LoDTensor.from_lengths(np.asarray(values), list(lengths)), pool_type, **options)


@pytest.mark.parametrize("name", ["M8[s]", "m8[ns]", "S3", "U2", "V5", "i2, (2,)f4", "f2", "c16", "?"])
def test_first_and_last_take_any_dtype(name):
    rows = np.frombuffer(b"abcdefgh" * 20, np.uint8)[: 3 * np.dtype(name).itemsize] % 2
    rows = rows.view(name)
    first, last = pooled(rows, "first"), pooled(rows, "last")
    assert first.dtype == last.dtype == rows.dtype
    assert first.tobytes() == rows[:1].tobytes() + bytes(rows.itemsize) + rows[2:].tobytes()
    assert last.tobytes() == rows[1:2].tobytes() + bytes(rows.itemsize) + rows[2:].tobytes()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_pool_max_and_min_propagate_nan(dtype):
    rows = np.array([1, np.nan, 2], dtype)
    for pool_type in ("sum", "mean", "sqrt", "max", "min"):
        assert np.isnan(pooled(rows, pool_type, [3])).all()
    x = LoDTensor.from_lengths(np.array([1, np.nan, np.nan, 2], dtype), [4])
    for pool_type in ("max", "min"):
        _, pullback = vjp(lambda x, kind=pool_type: sequence_pool(x, kind), x)
        assert pullback(np.ones(1))[0].tolist() == [[0, 1, 0, 0]]


def test_sequence_pool_gradients_of_half_precision_and_complex_numbers():
    half = LoDTensor.from_lengths(np.array([1, 2, 3], "f2"), [2, 1])
    for pool_type, want in (("mean", [0.5, 0.5, 2]), ("max", [0, 1, 2]), ("first", [1, 0, 2])):
        _, pullback = vjp(lambda x, kind=pool_type: sequence_pool(x, kind), half)
        (gradient,) = pullback(np.array([1.0, 2.0]))
        assert (gradient.dtype, gradient.values.tolist()) == (np.float16, want)
    _, pullback = vjp(lambda x: sequence_pool(x, "sum"), LoDTensor.from_lengths(np.ones(3, "c8"), [2, 1]))
    assert pullback(np.array([1j, 2], "c8"))[0].values.tolist() == [1j, 1j, 2]


@given(lods(1, 3), st.sampled_from(["sum", "mean", "sqrt", "max", "min", "first", "last"]), st.sampled_from([1, 3, 64]))
def test_embedding_bag_equals_lookup_and_pool(lod, pool_type, width):
    random = np.random.default_rng(lod.num_rows)
    table = read_only(random.standard_normal((7, width)).astype("f4"))
    ids = LoDTensor(random.integers(0, 7, lod.num_rows, np.uint16), lod)
    apart, pullback = vjp(lambda t: sequence_pool(lookup_table(t, ids), pool_type), table)
    at_once, bag_pullback = vjp(lambda t: embedding_bag(t, ids, pool_type), table)
    one, other = (getattr(x, "values", x) for x in (apart, at_once))
    assert one.tobytes() == other.tobytes()
    assert getattr(apart, "lod", None) == getattr(at_once, "lod", None)
    (one,), (other,) = pullback(np.ones(one.shape)), bag_pullback(np.ones(one.shape))
    assert type(one) is type(other) is lodcore.SparseTensor
    assert one.indices.tolist() == other.indices.tolist()
    assert one.values.tobytes() == other.values.tobytes()


@pytest.mark.twins
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("pool_type", ["sum", "mean", "sqrt", "max", "min", "first", "last"])
def test_long_bags_between_short_ones(pool_type, width, dtype):
    random = np.random.default_rng(width)
    table = random.integers(-8, 9, (11, width)).astype(dtype)
    lengths = [3, 4095, 1, 4096, 4097, 2, 5000, 9000]
    ids = random.integers(0, 11, sum(lengths))
    reduced = {
        "sum": lambda rows: rows.sum(0),
        "mean": lambda rows: rows.sum(0) / len(rows),
        "sqrt": lambda rows: rows.sum(0) / np.sqrt(len(rows)),
        "max": lambda rows: rows.max(0),
        "min": lambda rows: rows.min(0),
        "first": lambda rows: rows[0],
        "last": lambda rows: rows[-1],
    }[pool_type]
    bags = np.split(table[ids].astype(float), np.cumsum(lengths)[:-1])
    found = embedding_bag(table, LoDTensor.from_lengths(ids, lengths), pool_type)
    pooled = sequence_pool(LoDTensor.from_lengths(table[ids], lengths), pool_type)
    for one in (found, pooled):
        assert (one.dtype, one.shape) == (np.dtype(dtype), (len(lengths), width))
        tolerance = 4 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(one, [reduced(rows) for rows in bags], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("padding", [None, *range(-4, 4)])
def test_embedding_padding_row_may_be_any_row(padding):
    """Of a lookup by nested, dense and single ids, each of which also occurs twice."""
    table, ids = np.arange(1.0, 9.0).reshape(4, 2), np.array([3, 0, 1, 3, 2, 0, 1, 2])
    weights = np.arange(1.0, 17.0).reshape(8, 2)
    is_padding = np.zeros(8, bool) if padding is None else ids == padding % 4
    wanted, gradient = np.where(is_padding[:, None], 0, table[ids]), np.zeros((4, 2))
    np.add.at(gradient, ids[~is_padding], weights[~is_padding])
    for form in (ids, ids.reshape(2, 4), ids.astype("u1"), LoDTensor.from_lengths(ids, [3, 0, 5])):
        result, pullback = vjp(lambda t, form=form: lookup_table(t, form, padding_idx=padding), table)
        rows = result.values if isinstance(result, LoDTensor) else result
        np.testing.assert_array_equal(rows.reshape(8, 2), wanted)
        np.testing.assert_array_equal(pullback(weights.reshape(rows.shape))[0].to_dense(), gradient)
    for at, number in enumerate(ids):
        result, pullback = vjp(lambda t, number=number: lookup_table(t, number, padding_idx=padding), table)
        assert result.tolist() == wanted[at].tolist()
        assert pullback(np.ones(2))[0].to_dense().any() != is_padding[at]


def test_ids_changed_after_the_call_do_not_change_the_gradient():
    ids = np.array([0, 1])
    shared = LoDTensor(ids, lodcore.LoD.from_lengths([2]), share=True)
    for operator in (lookup_table, embedding_bag):
        result, pullback = vjp(lambda t, f=operator: f(t, shared), np.ones((3, 2)))
        (gradient,) = pullback(np.ones(getattr(result, "values", result).shape))
        ids[:] = 2
        assert gradient.indices.tolist() == [0, 1]
        ids[:] = [0, 1]


def test_pool_error_leaves_out_untouched():
    out = np.full((2, 2), 7.0)
    with pytest.raises(IndexError):
        embedding_bag(np.ones((3, 2)), [[0, 1], [2, 3]], out=out)
    with pytest.raises(IndexError):
        lookup_table(np.ones((3, 2)), [0, 3], out=out)
    with pytest.raises(TypeError):
        sequence_pool([[1], [2]], "sum", 0.5, out=np.zeros(2, int))
    assert (out == 7).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_gradient_of_extremes_of_bags(sign):
    """Each column has its own row; the first of equal ones, and the first nan, has the gradient."""
    nan = np.nan
    table = sign * np.array([[1.0, 5.0, nan], [4.0, 2.0, 0.0], [4.0, 5.0, 1.0]])
    ids = lodcore.array([[1, 2, 0], [], [0, 2], [2]])
    for least in (-1, 0, 9):  # what memory that is not written may hold
        held = np.full((4, 3), least)
        del held
        out, pullback = lodcore.vjp(lambda t: embedding_bag(t, ids, "max" if sign > 0 else "min"), table)
        (d,) = pullback(np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0], [8.0, 16.0, 32.0], [64.0, 128.0, 256.0]]))
        np.testing.assert_array_equal(sign * out, [[4, 5, nan], [0, 0, 0], [4, 5, nan], [4, 5, 1]])
        assert d.to_dense().tolist() == [[0.0, 16.0, 36.0], [1.0, 0.0, 0.0], [72.0, 130.0, 256.0]]


@pytest.mark.not_on_reference
def test_gradient_of_pad_value_is_a_sum_in_double_precision():
    x = LoDTensor.from_lengths(np.empty((0, 3)), [0, 0])
    for call in (lambda pad: ops.sequence_pool(x, "sum", pad), lambda pad: ops.sequence_pad(x, pad, 1)[0]):
        for pad in (np.array(0.5), np.zeros(3), np.zeros(1)):
            try:
                out, back = vjp(call, pad)
            except lodcore.ShapeError:
                continue
            d = np.full(out.shape, 1 + 2.0**-40)
            (found,) = back(d)
            assert found.shape == pad.shape
            assert found.sum() == d.sum()


@pytest.mark.not_on_reference
def test_pool_of_text_pads_empty_sequences_with_text():
    x = lodcore.array([["a"], []])
    for kind in ("first", "last"):
        assert [lodcore.sequence_pool(x, kind, pad).tolist() for pad in (0, "b", 0.0)] == [
            ["a", ""],
            ["a", "b"],
            ["a", ""],
        ]
        assert lodcore.sequence_pool(x, kind, 1).tolist() == ["a", "1"]


@pytest.mark.parametrize("dtype", ["S2", "U2", "V2"])
def test_zero_as_the_value_of_an_empty_sequence_is_empty_text(dtype):
    x = lodcore.LoDTensor.from_lengths(np.array([b"ab", b"cd"]).astype(dtype), [2, 0])
    found = lodcore.sequence_pool(x, "last", 0)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array([x.values[1], np.zeros((), dtype)[()]], dtype))


@pytest.mark.parametrize("dtype", ["i8", "u8", "m8[s]"])
def test_sums_wrap_around_on_overflow(dtype):
    x = LoDTensor.from_lengths(np.array([2**63 - 1, 2**62, 2**62, 5]).astype(dtype), [4, 0])
    wanted = np.array([4, 0]).astype(dtype).tolist()  # 2 ** 64 + 4 and 0
    assert sequence_pool(x, "sum").tolist() == ops.sum(x, axis=1).tolist() == wanted
    if dtype != "m8[s]":  # NumPy adds these up, and raises from 2.5 on
        assert ops.sum(x) == 4
