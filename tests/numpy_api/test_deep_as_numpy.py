"""Functions along each of many axes, of rows that have several, compared with NumPy on sequences of equal lengths."""

import re

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoDError, LoDTensor, Program, ShapeError, data
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # choices are made above the kernels

SHAPE = (3, 4, 3, 2, 4)
DENSE = np.random.default_rng(3).permutation(288).reshape(SHAPE) / 4.0


def with_levels(dense, levels):
    """Return an array of which the axes after the first are levels."""
    lengths = [np.full(int(np.prod(dense.shape[: k + 1])), dense.shape[k + 1]) for k in range(levels)]
    return LoDTensor.from_lengths(dense.reshape(-1, *dense.shape[levels + 1 :]).copy(), *lengths)


def regular(found):
    """Return a result as an array, or a tuple of them."""
    if isinstance(found, (tuple, list)):
        return [regular(one) for one in found]
    return found.to_regular() if isinstance(found, LoDTensor) and found.num_levels else np.asarray(found)


#: Calls along axis k; `b` has many equal values.
ALONG = [
    *[
        "np.sort(a, axis=k)",
        "np.argsort(a, axis=k)",
        "np.flip(a, k)",
        "np.roll(a, -1, k)",
        "np.roll(a, (1, -1), (k, 1))",
    ],
    *["np.repeat(a, 2, k)", "np.take(a, [1, 0, -1], k)", "np.concatenate([a, a * 2], k)", "np.stack([a, -a], k)"],
    *["np.diff(a, axis=k)", "np.diff(a, 2, axis=k)", "np.diff(a, 3, k)", "np.diff(b, axis=k)", "np.ptp(a, k)"],
    *["np.add.accumulate(a, k)", "np.maximum.accumulate(a, k)", "np.add.accumulate(b, k)", "np.cumsum(b, k)"],
    *["np.cumsum(a, k, 'f4')", "np.cumprod(a / 64, k, 'f4')", "np.nancumsum(a, k, 'f4')", "np.nancumprod(b, k, 'i2')"],
    *["np.expand_dims(a, k)", "np.expand_dims(a, (0, k))", "np.squeeze(np.expand_dims(a, (0, k)), (0, k))"],
    *["np.swapaxes(a, k, 1)", "np.swapaxes(a, -1, k)", "np.moveaxis(a, 0, k)", "np.moveaxis(a, (k, 2), (1, 0))"],
    *["np.max(a, k)", "np.argmin(a, k)", "np.squeeze(np.max(a, k, keepdims=True), k)", "np.add.reduce(a, k)"],
    "np.transpose(a, [(k + j) % 5 - 5 for j in range(5)])",
]


@for_each(("levels", "axis"), [(levels, axis) for levels in (1, 2, 3) for axis in (0, 1, 2, -2, 4)])
def test_functions_along_each_axis(levels, axis):
    a, b = with_levels(DENSE, levels), with_levels(DENSE > 30, levels)
    for text in ALONG:
        try:
            wanted = eval(text, {"np": np, "a": DENSE, "b": DENSE > 30, "k": axis})
        except ValueError:  # the same axis twice
            continue
        found = regular(eval(text, {"np": np, "a": a, "b": b, "k": axis}))
        assert found.dtype == wanted.dtype, text
        if wanted.size or found.size:  # without sequences, coarser axes have no length
            np.testing.assert_allclose(found, wanted, 1e-6, err_msg=text)


WIDE = np.arange(120) * 7 % 3.0  # more equal values than an insertion sort is used for
F4 = DENSE.astype("f4") + 1
#: Calls with `a` (float64, five axes), `w` (three axes, the last of 40 entries), `f` (float32), `i` (int64).
CALLS = [
    *["np.argsort(w, axis=2)", "np.argsort(w)", "w.argsort(-1)", "np.tile(w, np.array([1, 2]))", "np.tile(w, (2, 0))"],
    *["np.dot(2.0, w)", "np.dot(w, 2.0)", "w.transpose([0, 2, 1])", "w.transpose(0, -1, 1)", "w.transpose((0, 2, 1))"],
    *[
        "a[..., [0, 2, 1], 1, :]",
        "a[:, 1, ..., 0]",
        "a[np.array(-1)]",
        "a[:, np.array(-1)]",
        "a[0, np.int8(-2)]",
        "a[..., np.array(-1)]",
        "a[..., M]",
        "a[:, :, 1, M]",
        "a[[0, 2], ..., [1, 0], 0, 1, 2]",
        "a[[0, 2], [1, 0], ..., 0, 1, 2]",
        "a[0, [1, 0], 2, ..., 1, 2]",
    ],
    *["np.squeeze(a[:1, :, :1], (0, 2))", "np.squeeze(a[:1, :1, :1], (-5, 1, 2))", "np.squeeze(a[:, :1, :, :1], 1)"],
    *["np.squeeze(a[:1, :1], (0, 1))", "a[..., None]", "a[:, None]", "a[None]", "a[:, :, None, 0]", "a[:, ::-1, ::-1]"],
    *["np.zeros_like(i, 'U3')", "np.ones_like(i, 'f2')", "np.zeros_like(f)", "np.empty_like(f, 'i2') * 0"],
    *["np.copy(f)", "np.round(i, -1)", "np.round(f, -1)"],
    *["1 // i", "2 >> i", "7 | i", "2 ** i", "7 ^ i", "6 & i", "1 << i", "7 % i", "divmod(7, i)[1]", "divmod(i, 3)[0]"],
    *["a[np.array(-1)]", "a[:, np.array(-1)]", "a[0, np.int8(-2)]", "a[..., np.array(-1)]"],
    *[f"f {op} np.float64(2)" for op in ("+", "-", "*", "/", "//", "%")],
    *[
        "np.power(f, np.float64(2))",
        "np.power(f, np.int64(2))",
        "f * np.int64(2)",
    ],  # NumPy 2.0 and 2.1 take ** for a square, in the dtype of f
    *[f"f {op} {y}" for op in ("*", "**") for y in ("2", "0.5", "-1", "2.0", "np.float32(2)", "True")],
    *["np.isin(i // 5 / 2, np.arange(50.0) + 0.25)", "np.isin(i // 5 / 2, np.arange(50.0) % 2, invert=True)"],
    *[f"np.result_type(f, {y})" for y in ("1.0", "2", "1j", "'i8'", "np.float64(1)", "True")],
]


def compared(levels):
    """Return the names in calls: arrays, and the same with levels."""
    dense = {"a": DENSE, "w": WIDE.reshape(1, 3, 40), "f": F4[..., 0], "i": np.arange(1, 13).reshape(2, 3, 2)}
    return dense, {name: with_levels(one, min(levels, one.ndim - 1)) for name, one in dense.items()}


@for_each("levels", [1, 2, 3])
def test_expressions_on_many_axes_equal_numpy(levels):
    dense, nested = compared(levels)
    rest = {"np": np, "M": np.arange(8).reshape(2, 4) % 3 == 0}
    for text in CALLS:
        if levels == 3 and "M" in text:  # a mask of axes of which one is a level is refused
            continue
        found = eval(text, {**nested, **rest})
        wanted = eval(re.sub(r"(argsort\(.*)\)", r"\1, kind='stable')", text), {**dense, **rest})
        if isinstance(wanted, np.dtype):
            assert found == wanted, text
            continue
        found = regular(found)
        assert found.dtype == wanted.dtype, text
        np.testing.assert_array_equal(found, wanted, f"{text} of {levels} levels")
    for axis in (0, -5, *range(levels + 1, 5), *range(levels - 4, 0)):
        assert np.size(nested["a"], axis) == SHAPE[axis]


X = with_levels(np.arange(12.0).reshape(2, 3, 2), 1)  # two sequences of three rows of two numbers
ROWS = with_levels(np.arange(6).reshape(2, 3), 1)
TWO = with_levels(np.arange(8).reshape(2, 2, 2), 2)
EIGHTS = with_levels(np.arange(64).reshape(2, 4, 8), 1)
UNEVEN = lodcore.array([[[1], [2]], [[3, 4], [5, 6]]])
HOLLOW = lodcore.array([[[], []], [[], []]], float)
#: Calls, and the errors that they raise.
WRONG = [
    ("X[0, :, np.array(False)]", TypeError, r"index: is array\(False\); a vector is needed for a mask"),
    ("X[np.True_]", TypeError, "a vector is needed for a mask"),
    ("X[:, :, np.ones((2, 2), bool)]", IndexError, "there are 3 axes, but 4 were indexed"),
    ("X[:, :, ROWS > 2]", (TypeError, IndexError), "must be the first key|there are 3 axes"),
    ("TWO[:, TWO > 2]", (TypeError, IndexError), "must be the first key"),
    ("X[[0, 1], :, np.array([[0], [1]])]", TypeError, "index: has several axes; together with other vectors, one axis"),
    ("with_levels(DENSE, 3)[:, [0, 1], :, [0, 1]]", TypeError, "index: vectors and integers are separated by a slice"),
    ("with_levels(DENSE, 3)[:, 0, :, [0, 1]]", TypeError, "index: vectors and integers are separated by a slice"),
    ("with_levels(DENSE, 1)[:, [0, 1], :, [0, 1]]", TypeError, "index: vectors and integers are separated by a slice"),
    ("np.partition(ROWS, True, axis=1)", TypeError, "numpy.partition: kth: is True; integers are needed"),
    ("np.argpartition(ROWS, np.False_, axis=1)", TypeError, "numpy.argpartition: kth: is .*; integers are needed"),
    ("np.take_along_axis(X, ROWS, axis=1)", TypeError, "numpy.take_along_axis: rows of one number"),
    ("np.diff(ROWS, prepend=[0])", TypeError, r"numpy.diff: prepend or append has shape \(1,\)"),
    ("np.diff(X, axis=1, append=[0])", TypeError, r"numpy.diff: prepend or append has shape \(1,\)"),
    ("np.add(TWO, 1, out=ROWS.copy())", LoDError, "numpy.add: operand 0: has 2 levels; out has 1"),
    ("np.add(1, TWO, out=ROWS.copy())", LoDError, "numpy.add: operand 1: has 2 levels; out has 1"),
    ("np.add(X, 1, out=ROWS.astype(float))", ShapeError, "numpy.add"),
    ("np.add(ROWS, X, out=ROWS.astype(float))", ShapeError, "numpy.add"),
    ("ROWS.clip(a_min=0, min=0)", ValueError, "numpy.clip: min: is given twice, as a_min too"),
    ("ROWS.clip(a_max=3, max=3)", ValueError, "numpy.clip: max: is given twice, as a_max too"),
    ("np.round(X, 301)", DTypeError, "round: decimals: is 301; an integer of -300 .. 300 is needed"),
    ("np.round(X, -301)", DTypeError, "round: decimals: is -301; an integer of -300 .. 300 is needed"),
    ("np.squeeze(lodcore.array([[1], [], [2]]), 1)", ShapeError, "along which sequence 1 has length 0; 1 is needed"),
    ("np.squeeze(UNEVEN, 2)", ShapeError, "along which sequence 2 has length 2; 1 is needed"),
    ("np.squeeze(lodcore.array([[1]])[:0], 0)", ShapeError, "along which sequence 0 has length 0; 1 is needed"),
    ("EIGHTS[:, [0, 1, 2, 3], np.arange(8) == 5]", IndexError, r"shape mismatch: .* with shapes \(4,\) \(8,\)"),
    ("EIGHTS[[0, 1], :, np.arange(8) < 2]", IndexError, r"shape mismatch: .* with shapes \(2,\) \(8,\)"),
    ("np.squeeze(lodcore.array([[1, 2], []]), 1)", ShapeError, "along which sequence 0 has length 2; 1 is needed"),
    ("np.squeeze(lodcore.array([[[1], []], [[2, 3]]]), 2)", ShapeError, "sequence 1 has length 0; 1 is needed"),
    ("np.squeeze(lodcore.array([[[1]], [], [[1], [2]]]), 1)", ShapeError, "sequence 1 has length 0; 1 is needed"),
    ("np.add(X[:, :, :1], 1, out=ROWS.copy())", ShapeError, r"add: out: has rows of shape \(\); the result has wider"),
    ("np.size(X, 1)", TypeError, "numpy.size: axis: is 1, along which sequences differ"),
    ("np.squeeze(X, (0, 2))", ShapeError, "squeeze: axis: is 2, of length 2; length 1 is needed"),
    ("np.swapaxes(HOLLOW, 1, 2)", LoDError, "sequence 0 of level 1 has length 0; axes 1 and 2 can be exchanged only"),
    ("np.swapaxes(UNEVEN, 0, 2)", LoDError, "swapaxes: axes: sequence 1 of level 0 has length 2; axes 0 and 1"),
    ("np.swapaxes(lodcore.array([[1], [2, 3]]), 0, 1)", LoDError, "sequence 1 of level 0 has length 2; axes 0 and 1"),
    ("np.swapaxes(lodcore.array([[[1]], []]), 1, 2)", LoDError, "sequence 1 of level 0 has no element; axes 1 and 2"),
    ("np.broadcast_to(X, (1, None, 2))", ShapeError, "broadcast_to: shape: .*; x has 2 sequences"),
    ("np.broadcast_to(TWO, (2, None, 2))", ShapeError, r"broadcast_to: shape: .* whose axes of levels stay"),
    ("np.moveaxis(X, (0, 1), (1, 1))", ShapeError, "moveaxis: .*; as many different axes are needed"),
    ("np.moveaxis(X, (1, 1), (0, 1))", ShapeError, "moveaxis: .*; as many different axes are needed"),
    ("np.average(X, weights=X, axis=1, keepdims=True)[0, 0, 5]", IndexError, "5"),
]
#: Assignments to copies that are refused, and leave them unchanged.
WRONG_ASSIGNMENTS = [
    ("X", "with_levels(np.ones((2, 3, 2), bool), 1)", "0.0", ShapeError, r"mask: has rows of shape \(2,\); one entry"),
    ("X", "with_levels(np.ones((2, 3, 4), bool), 1)", "0.0", ShapeError, r"mask: has rows of shape \(4,\); one entry"),
    ("X", "0, 0", "X", LoDError, "value: has levels; the indexed rows have none"),
    ("ROWS", "lodcore.array([[True, False, False], [False, False, True]])", "[[7], [8], [9]]", ShapeError, "value"),
    ("UNEVEN", "UNEVEN > 3", "[7, 8, 9]", (LoDError, ShapeError), "value"),
    ("UNEVEN", "UNEVEN > 3", "np.array([7, 8, 9])", (LoDError, ShapeError), "value"),
]


@for_each(("call", "error", "says"), WRONG)
def test_wrong_expressions_on_many_axes_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        eval(call, globals())


@for_each(("to", "key", "value", "error", "says"), WRONG_ASSIGNMENTS)
def test_assignments_that_are_refused(to, key, value, error, says):
    target = eval(to).copy()
    with pytest.raises(error, match=says):
        target[eval(key)] = eval(value)
    assert target.equals(eval(to))


def test_a_mask_selects_rows_of_several_axes():
    """As in NumPy, for a number and for a row."""
    mask = np.array([[True, False, True], [False, False, True]])
    for value in (-1.0, np.arange(8.0).reshape(2, 4), np.zeros((1, 2, 4))):
        dense = DENSE[:2, :3, 0].copy()
        x = with_levels(dense, 1).copy()
        x[with_levels(mask, 1)] = value
        dense[mask] = value
        np.testing.assert_array_equal(x.to_regular(), dense)


def test_results_of_rounding_and_bounds_are_copies():
    for call in (
        "np.round(ROWS)",
        "ROWS.round(2)",
        "np.clip(ROWS, None, None)",
        "ROWS.clip()",
        "np.copy(ROWS)",
        "ROWS.astype(int)",
        "ROWS.astype('i8')",
    ):
        found = eval(call)
        assert found.equals(ROWS), call
        assert not np.shares_memory(found.values, ROWS.values), call


def test_a_narrow_operand_is_broadcast_to_out():
    out, column = X.copy(), LoDTensor(np.arange(6.0)[:, None], X.lod)
    assert np.add(column, 1.0, out=out) is out
    np.testing.assert_array_equal(out.to_regular()[..., 1], np.arange(1.0, 7).reshape(2, 3))
    np.multiply(2.0, 3.0, out=out, where=ROWS > 1)
    assert out.values[:, 0].tolist() == [1, 2, 6, 6, 6, 6]


def test_axes_change_places_where_each_sequence_has_its_own_length():
    assert np.swapaxes(UNEVEN, 1, 2).tolist() == [[[1, 2]], [[3, 5], [4, 6]]]


def test_tuples_are_compared_as_lists():
    nested = (((0, 1), (2, 3)), ((4, 5), (6, 7)))
    for x, lists in ((TWO, nested), (X, tuple(map(tuple, X.tolist())))):
        for every in (x == lists, lists == x, np.equal(x, lists), np.equal(lists, x), ~np.not_equal(lists, x)):
            assert every.lod is x.lod
            assert every.values.all()
    assert TWO.equals(nested)
    assert np.array_equal(TWO, nested)


def test_variables_with_a_level_of_their_own():
    target = X.copy()
    with Program():
        n = data("n", (2,), "int64")
        for key in ((0, n), (slice(None), slice(None), n[0]), n):
            with pytest.raises(TypeError, match="assignment: a Variable is recorded"):
                target[key] = 0.0
    found, _ = lodcore.vjp(lambda v: v.flatten(level=1), lodcore.array([[[1.0], [], [2.0]], [[3.0]]]))
    assert found.tolist() == [[1.0, 2.0], [3.0]]


@for_each("operator", ["+", "-", "*", "/", "//", "%", "**", "@"])
def test_lists_to_the_left_of_an_array_that_is_recorded(operator):
    given, dense = [[5.0, 1.0], [2.0, 6.0]], np.array([[1.0, 2.0], [3.0, 4.0]])
    found, _ = lodcore.vjp(lambda v: eval(f"given {operator} v", {"given": given, "v": v}), dense)
    np.testing.assert_array_equal(found, eval(f"given {operator} dense", {"given": given, "dense": dense}))


def test_differences_with_numbers_beside_deep_sequences():
    deep = lodcore.array([[[1.0, 4.0], []], [[2.0]]])
    assert np.diff(deep, prepend=0.0, append=1.0).tolist() == [[[1.0, 3.0, -3.0], [1.0]], [[2.0, -1.0]]]
    assert np.diff(deep, 2, prepend=0.0).tolist() == [[[2.0], []], [[]]]


def test_a_mask_of_one_entry_beside_a_vector_is_not_stretched():
    x = with_levels(np.arange(6.0).reshape(3, 2, 1), 1)
    with pytest.raises(IndexError, match=r"shape mismatch"):
        x[[0, 2, 1], :, [True]]


def test_options_may_be_given_as_other_true_values():
    x = lodcore.array([[3.0, 1.0, 1.0], [2.0]])
    for true in (True, np.True_, 1):
        for call in (np.median, np.nanmedian, lambda x, **options: np.quantile(x, 0.5, **options)):
            assert call(x, axis=1, keepdims=true).tolist() == [[1.0], [2.0]]
        for call in (np.sum, np.max, np.ptp, np.mean, np.nanmax, np.average):
            assert np.shape(call(x, axis=1, keepdims=true)) == (2, 1)
        values, first, inverse, counts = np.unique(x, true, true, true, axis=1)
        assert values.tolist() == [[1.0, 3.0], [2.0]]
        assert first.tolist() == [[1, 0], [0]]
        assert inverse.tolist() == [[1, 0, 0], [0]]
        assert counts.tolist() == [[2, 1], [1]]
        assert np.unique(x, return_counts=true, axis=1)[1].tolist() == [[2, 1], [1]]


def test_an_index_of_each_sequence_is_followed_by_others():
    index = lodcore.array([[2, 0], [1]])
    assert X[index].values.tolist() == [[4.0, 5.0], [0.0, 1.0], [8.0, 9.0]]
    assert X[index, 1].tolist() == [[5.0, 1.0], [9.0]]
    assert X[index, ::-1].tolist() == [[[5.0, 4.0], [1.0, 0.0]], [[9.0, 8.0]]]
    changed = X.copy()
    changed[index, 1] = lodcore.array([[-1.0, -2.0], [-3.0]])
    assert changed.values[:, 1].tolist() == [-2.0, 3.0, -1.0, 7.0, -3.0, 11.0]
    assert changed.values[:, 0].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    wide = with_levels(DENSE[:2], 1)
    assert np.array_equal(wide[index, :, 1].values, DENSE[[0, 0, 1], [2, 0, 1]][:, :, 1])
    assert np.array_equal(wide[wide[..., 0, 0, 0] > 30, 1].values, wide.values[wide.values[:, 0, 0, 0] > 30][:, 1])


def test_a_mask_of_axes_of_rows_is_written_to():
    mask = np.arange(8).reshape(2, 4) % 3 == 0
    for value in (-1.0, np.arange(3.0)):
        dense, x = DENSE.copy(), with_levels(DENSE, 2).copy()
        dense[..., mask] = value
        x[..., mask] = value
        np.testing.assert_array_equal(x.to_regular(), dense)


def test_iteration_over_a_variable_has_every_sequence():
    x = lodcore.array([[1.0], [], [2.0, 3.0], [4.0], [5.0]])
    found, pullback = lodcore.vjp(lambda v: [one for one in v][-1] * sum(one.sum() for one in v), x)
    assert found.tolist() == [75.0]
    assert pullback(np.ones(1))[0].tolist() == [[5.0], [], [5.0, 5.0], [5.0], [20.0]]


@for_each(("num_levels", "axis", "n"), [(k, axis, n) for k in (1, 2, 3) for axis in range(-4, 4) for n in range(6)])
def test_differences_of_any_order(num_levels, axis, n):
    """Of fewer outer sequences than differences, too."""
    array = np.random.default_rng(0).integers(-9, 9, (1, 4, 5, 3))
    sizes, rows = [[4], [5] * 4, [3] * 20][:num_levels], array.reshape(-1, *array.shape[num_levels + 1 :])
    x = LoDTensor.from_lengths(rows, *sizes)
    assert np.diff(x, n, axis).tolist() == np.diff(array, n, axis).tolist()


def test_concatenate_of_a_number_along_the_last_of_three_levels():
    joined = np.concatenate([lodcore.array([[[[1, 2], [3]], []], [[[4]]]]), 7], axis=3)
    assert joined.tolist() == [[[[1, 2, 7], [3, 7]], []], [[[4, 7]]]]
