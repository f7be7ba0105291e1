"""What is no dtype of NumPy is refused alike everywhere; common dtypes of records have room for their fields."""

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, Program, data, nn
from lodcore.base.dtypes import as_dtype, native_dtype, promoted
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference
X = lodcore.array([[1, 2], [3]])
WRONG = ["08", "f4,08", "i4,(", ",", "f99", "", 8, [("a", "08")], ["a"], {"names": 1}, ("i4",)]


def declared(dtype):
    with Program():
        return data("x", (None, 2), dtype=dtype)


def declared_by_spec(dtype):
    with Program():
        return data("x", lodcore.Spec((None, 2), dtype))


CALLS = {
    "array": lambda dtype: lodcore.array([[1]], dtype=dtype),
    "astype": X.astype,
    "concatenate": lambda dtype: np.concatenate([X, X], dtype=dtype),
    "decode_utf8": lambda dtype: lodcore.decode_utf8(lodcore.encode_utf8(["a"]), dtype),
    "Vocabulary.decode": lambda dtype: lodcore.Vocabulary(["a"]).decode([[0]], dtype),
    "data": declared,
    "Spec": declared_by_spec,
    "parameters": lambda dtype: nn.LSTM(2, 2).init(np.random.default_rng(0), dtype=dtype),
    "of": lambda dtype: as_dtype("of", dtype),
}


@for_each(("name", "call"), CALLS.items())
def test_functions_with_a_dtype_refuse_other_objects(name, call):
    for dtype in WRONG:
        with pytest.raises(DTypeError):
            call(dtype)


@for_each(
    ("times", "dtype"),
    [
        (np.array(["2024-01-02T12:30", "1901-01-01T01:00", "NaT"], "M8[ns]"), "M8[D]"),
        (np.array(["2024-01-02", "1901-03-01", "NaT"], "M8[D]"), "M8[Y]"),
        (np.array([61, -61, 0], "m8[s]"), "m8[m]"),
        (np.array([61, -61, 0], "m8[10s]"), "m8[15s]"),
        (np.array(["2024-01-02"], "M8[D]"), "M8[ns]"),
    ],
)
def test_dates_are_rounded_down_to_a_coarser_unit_as_in_numpy(times, dtype):
    found = lodcore.LoDTensor.from_lengths(times, [len(times)]).astype(dtype)
    np.testing.assert_array_equal(found.values, times.astype(dtype))
    assert found.dtype == dtype


# -- records with arrays in them, for which NumPy's common dtype has too little room -----------------------------------


def same(one, other):
    """Return whether nested lists of records are equal, whose fields may be arrays."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


ROOM = 500  # records: with fewer, NumPy often writes beyond its buffers without any harm
RECORDS = {
    "numbers": (("v", "i1", (4,)), ("v", "f8", (4,)), [1, 2, 3, 4], [0.5] * 4),
    "wide first": (("v", "f8", (4,)), ("v", "i1", (4,)), [0.5] * 4, [1, 2, 3, 4]),
    "text": (("v", "S3", (2,)), ("v", "S20", (2,)), [b"abc", b"de"], [b"x" * 20, b"y" * 19]),
    "records within": (("v", [("w", "i1", (3,))]), ("v", [("w", "f8", (3,))]), ([1, 2, 3],), ([0.5] * 3,)),
}


@for_each("name", RECORDS)
def test_records_with_arrays_of_several_dtypes_are_joined_without_loss(name):
    first, second, one, other = RECORDS[name]
    a, b = (np.array([(x,)] * ROOM, [field]) for x, field in ((one, first), (other, second)))
    mask, lod = np.arange(ROOM) % 2 == 0, lodcore.LoD.from_lengths([ROOM // 2, ROOM - ROOM // 2])
    x, y, chosen = (lodcore.LoDTensor(values, lod) for values in (a, b, mask))
    mixed = [left if one else right for one, left, right in zip(mask, a.tolist(), b.tolist(), strict=True)]
    joined = a.tolist() + b.tolist()
    for found in (lodcore.where(chosen, x, y), np.where(chosen, x, y), lodcore.where(chosen, x, b[0])):
        assert same(found.values.tolist(), mixed)
    assert same(lodcore.ops.where(mask, a, b).tolist(), mixed)
    assert same(np.concatenate([x, y], axis=0).values.tolist(), joined)
    stacked = np.stack([x, y], axis=-1).values
    assert same(stacked[:, 0].tolist(), a.tolist())
    assert same(stacked[:, 1].tolist(), b.tolist())
    for rows in (lodcore.array([a, b]), lodcore.LoDTensor.from_arrays([a, b])):
        assert same(rows.values.tolist(), joined)
    steps = lodcore.TensorArray()
    steps.write(0, a)
    steps.write(1, b)
    assert same(steps.concat().tolist(), joined)
    assert same(steps.stack()[1].tolist(), b.tolist())
    assert np.result_type(x, y).itemsize == max(a.itemsize, b.itemsize)
    with Program() as program:
        u, v = data("u", (None,), a.dtype), data("v", (None,), b.dtype)
        results = [np.concatenate([u, v]), np.stack([u, v])[1], lodcore.where(mask, u, v)]
    found = lodcore.Executor().run(program, {"u": a, "v": b}, results)
    assert all(map(same, [values.tolist() for values in found], [joined, b.tolist(), mixed]))


def test_promoted_leaves_other_dtypes_as_numpy_has_them():
    for pair in (("i4", "f4"), ("S3", "S5"), ([("a", "i4"), ("b", "f8")], [("a", "i8"), ("b", "f4")])):
        assert promoted(*map(np.dtype, pair)) == np.result_type(*map(np.dtype, pair))
    aligned = np.dtype([("a", "i1"), ("b", "f8", (2,))], align=True)
    assert promoted(aligned, aligned) == aligned


@for_each("code", ["f4", "M8[s]", "S3", "U2", "i4,f8", "O"])
def test_native_dtype_is_the_same_object_for_a_dtype_in_the_order_of_the_machine(code):
    dtype = np.dtype(code)
    assert native_dtype(dtype) is dtype
    assert native_dtype(dtype.newbyteorder("S")) == dtype


def test_results_have_the_dtype_objects_of_numpy_which_are_quick_to_compare():
    x = lodcore.LoDTensor.from_lengths(np.ones((3, 2), "f4"), [1, 2])
    weight, state = np.ones((2, 2), "f4"), np.zeros((2, 2), "f4")
    run = lodcore.value_and_grad(
        lambda w: lodcore.ops.sum(nn.dynamic_rnn(lambda p, x, h: (np.tanh(x @ p + h),) * 2, w, x, state)[0])
    )
    for _ in range(3):
        value, gradient = run(weight)
    for found in (x.pool("sum"), x.pool("max"), lodcore.ops.sequence_cumsum(x).values, value, gradient):
        assert found.dtype is np.dtype("f4")
