"""Extremes: one column, row or step, none at all, long shifts and texts, compared with NumPy or plain Python."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins elsewhere


def of(x):
    """Return the values of a tensor."""
    return np.asarray(getattr(x, "values", x))


@for_each("width", [1, 2, 4])
def test_scores_are_divided_by_the_root_of_the_width(width):
    weights = np.exp([2 * np.sqrt(width), 0]) / (np.exp(2 * np.sqrt(width)) + 1)
    query, memory = np.full((1, width), 2.0), LoDTensor.from_lengths(np.outer([1.0, 0.0], [1] * width), [2])
    for asked in (query, LoDTensor.from_lengths(query, [1])):
        context, found = ops.dot_attention(asked, memory)
        np.testing.assert_allclose(of(found), weights, rtol=1e-14)
        np.testing.assert_allclose(of(context), [[weights[0]] * width], rtol=1e-14)


def test_gradients_of_a_memory_that_is_also_the_values():
    query, rows = np.cos(np.arange(6.0)).reshape(3, 2), np.sin(np.arange(8.0)).reshape(4, 2)
    d, d_weights = np.cos(1 + np.arange(6.0)).reshape(3, 2), np.sin(2 + np.arange(12.0)).reshape(3, 4)

    def loss(rows, scale):
        weights = np.exp(query @ rows.T * scale)
        weights /= weights.sum(1, keepdims=True)
        return (d * (weights @ rows)).sum() + (d_weights * weights).sum()

    for scale in (1 / np.sqrt(2), 3.0):
        steps = np.eye(8).reshape(8, 4, 2) * 1e-6
        wanted = [(loss(rows + step, scale) - loss(rows - step, scale)) / 2e-6 for step in steps]
        asked, memory = LoDTensor.from_lengths(query, [3]), LoDTensor.from_lengths(rows, [4])
        _, back = vjp(lambda m, asked=asked, scale=scale: ops.dot_attention(asked, m, scale=scale), memory)
        (found,) = back(d, d_weights.ravel())
        np.testing.assert_allclose(of(found).ravel(), wanted, rtol=1e-6, atol=1e-8)


def test_last_of_one_step_or_none():
    for lengths in ([1, 1, 1], [1, 0, 1], [1, 0, 0], [0, 0, 0]):
        x = LoDTensor.from_lengths(10.0 + np.arange(sum(lengths)), lengths)
        steps, order = lodcore.tensor_array_unpack(x, 0)
        boot = np.arange(3.0)
        wanted = [part[-1] if len(part) else boot[j] for j, part in enumerate(x.tolist())]
        found = ops.last_of_steps(steps, boot, order)
        assert found.tolist() == wanted
        assert not np.shares_memory(found, boot)


def test_lists_of_arrays_are_sequences_of_numbers():
    table = np.arange(8.0).reshape(4, 2)
    for ids in ([[0, 3], [1]], [[0, 3], [1, 2]], [[2]]):
        given = [np.array(one) for one in ids]
        for found in (lodcore.lookup_table(table, given), lodcore.gather_nested(table, given)):
            assert found.tolist() == [table[one].tolist() for one in ids]
        wanted = [table[one].sum(0).tolist() for one in ids]
        assert ops.embedding_bag(table, given).tolist() == wanted


@for_each("method", ["lower", "higher", "nearest", "inverted_cdf", "closest_observation"])
def test_quantiles_of_great_integers_are_exact(method):
    for dtype, most in (("u8", 2**64 - 1), ("i8", 2**63 - 1), ("i8", -(2**63) + 2)):
        values = np.array([most - 2, most, most - 1], dtype)
        found = lodcore.sequence_quantile(lodcore.array([values, values[:1]]), [0.0, 1.0], method)
        assert found.dtype == dtype
        assert found.tolist() == [[most - 2, most], [most - 2, most - 2]]


@for_each("n", [1, 2, 3])
def test_gradients_of_sorted_complex_numbers_keep_both_parts(n):
    values, d = np.arange(n, 0, -1) + 1j, np.arange(1, n + 1) * (2 - 3j)
    for x, wanted in ((values, d[::-1]), (values[::-1], d)):
        (found,) = vjp(lodcore.sequence_sort, lodcore.array([x.copy()]))[1](d)
        assert of(found).tolist() == wanted.tolist()


@for_each("flag", [True, np.True_, False, np.False_])
def test_recorded_products_have_their_levels(flag):
    with lodcore.Program():
        x, y = lodcore.data("x", (None, 2), num_levels=1), lodcore.data("y", (None,), num_levels=2)
        assert lodcore.sequence_matmul(x if flag else y, x, flag).num_levels == (2 if flag else 1)


@for_each("axis", [0, 1, -1])
def test_gradients_of_joined_values_of_any_widths(axis):
    sizes = [2, 0, 3, 1]
    xs = [np.ones((n, 2) if axis == 0 else (2, n)) for n in sizes]
    d = np.arange(12.0).reshape((6, 2) if axis == 0 else (2, 6))
    found = vjp(lambda *xs: ops.concat_values(xs, axis), *xs)[1](d)
    for one, wanted in zip(found, np.split(d, np.cumsum(sizes)[:-1], axis), strict=True):
        assert one.tolist() == wanted.tolist()


@for_each(("dtype", "numbers"), [("i4", [1, -2]), ("?", [True, False]), ("u1", [3, 200]), ("f4", [1, 2]), (">i2", [5])])
def test_what_has_no_nan_is_copied(dtype, numbers):
    values = np.array(numbers, dtype)
    for x in (values, LoDTensor.from_lengths(values, [len(values)]), values.reshape(-1, 1)):
        found = ops.fill_nan(x, 7)
        assert of(found).ravel().tolist() == numbers
        assert not np.shares_memory(of(found), values)


@for_each("ddof", [0.5, np.float32(1.5), np.int8(1), 2])
def test_degrees_of_freedom_need_not_be_whole(ddof):
    numbers = [[1.0, 2.0, 4.0, 9.0], [3.0, 5.0, 7.0]]
    wanted = [sum((np.array(one) - np.mean(one)) ** 2) / (len(one) - float(ddof)) for one in numbers]
    x, holes = lodcore.array(numbers), lodcore.array([[np.nan, *one, np.nan] for one in numbers])
    for axis in (1, -1, (1,)):
        for given, var, std in ((x, ops.var, ops.std), (x, ops.nanvar, ops.nanstd), (holes, ops.nanvar, ops.nanstd)):
            np.testing.assert_allclose(of(var(given, axis, ddof=ddof)), wanted, rtol=1e-12)
            np.testing.assert_allclose(of(std(given, axis, ddof=ddof)), np.sqrt(wanted), rtol=1e-12)


@for_each("number", [np.int8(2), np.int64(2), np.uint8(2), np.float16(2), np.float64(2), 2])
def test_numbers_of_numpy_are_numbers(number):
    x = LoDTensor.from_lengths(np.eye(2), [2])
    weights = of(ops.dot_attention(np.array([[1.0, 0.0]]), x, scale=number)[1])
    np.testing.assert_allclose(weights, np.exp([2, 0]) / (np.exp(2) + 1), rtol=1e-14)
    np.testing.assert_allclose(of(ops.layer_norm(x, [1.0] * 2, [0.0] * 2, eps=number)), (np.eye(2) - 0.5) / 1.5)
    assert of(ops.dropout(x, type(number)(1), np.random.default_rng(0))).tolist() == [[0, 0], [0, 0]]


def test_numbers_joined_on_the_last_of_three_levels():
    joined = np.concatenate([lodcore.array([[[[1, 2], [3]], []], [[[4]]]]), 7], axis=3)
    assert joined.tolist() == [[[[1, 2, 7], [3, 7]], []], [[[4, 7]]]]


@for_each("dtype", [">f4", ">i2", "<f8", "f2", ">c8"])
def test_what_is_full_has_the_dtype_that_is_asked_for(dtype):
    x = lodcore.array([[1, 2], [3]])
    with lodcore.Program():
        declared = ops.full_like(lodcore.data("x", (None,), num_levels=1), 5, dtype).dtype
    for given in (x, x.values, np.ones((2, 0))):
        made = ops.full_like(given, 5, dtype)
        assert of(made).dtype == made.dtype == declared == np.dtype(dtype)
        assert (of(made) == 5).all()


@for_each("n", [-3000, -2999, -1001, -999, -1, 0, 1, 999, 1001, 2999, 3000, -(2**70), 2**70])
def test_shifts_of_any_length(n):
    numbers = list(range(3000))
    wanted = (
        [0] * n + numbers[: 3000 - n] if 0 <= n <= 3000 else (numbers[-n:] + [0] * -n) if -3000 <= n < 0 else [0] * 3000
    )
    assert lodcore.sequence_shift(lodcore.array([numbers, [7]]), n).tolist() == [wanted, [0] if n else [7]]


def test_complex_numbers_of_which_one_part_is_nan_are_one():
    for one, other in itertools.permutations([complex(1, np.nan), complex(2, np.nan), complex(np.nan, 1)], 2):
        x = lodcore.array([[one, 1j, other], [1j, one]])
        assert lodcore.sequence_n_unique(x).tolist() == [2, 2]
        assert [len(part) for part in lodcore.sequence_unique(x).tolist()] == [2, 2]
        assert ops.sequence_rank(x, "dense").tolist() == [[2, 1, 2], [1, 2]]
        assert np.isnan(lodcore.sequence_mode(x).tolist()[0])


@for_each("method", ["ordinal", "min", "max", "dense", "average"])
def test_falling_ranks(method):
    wanted = {"ordinal": [3, 1, 4, 2], "min": [3, 1, 3, 2], "max": [4, 1, 4, 2], "dense": [3, 1, 3, 2]}
    found = ops.sequence_rank(lodcore.array([[1, 9, 1, 5], [2, 3]]), method, descending=True)
    assert found.tolist() == [wanted.get(method, [3.5, 1, 3.5, 2]), [2, 1]]


@for_each("size", [1, 7, 8, 9, 16, 17, 40])
def test_places_of_long_text(size):
    words = [letter * size for letter in "aceg"]
    for kind in ("S", "U"):
        x, v = (lodcore.array([np.array(given, kind)]) for given in (words, ["b" * size, "c" * size, "h"]))
        assert ops.sequence_searchsorted(x, v).tolist() == [[1, 1, 4]]
        assert ops.sequence_searchsorted(x, v, "right").tolist() == [[1, 2, 4]]


def test_gradients_where_nothing_is_known_have_the_dtypes_of_the_inputs():
    x = lodcore.array([[1.0], [2.0]])
    given = [x.astype("f4"), x[:, :0].astype("f2"), x[:, :0].astype("f8")]
    found = vjp(ops.sequence_interp, *given)[1](np.ones(2))
    assert [of(one).dtype for one in found] == ["f4", "f2", "f8"]
    assert [of(one).tolist() for one in found] == [[0, 0], [], []]


@for_each("row_shape", [(), (3,), (2, 3), (3, 2), (3, 3), (1, 3, 2), (2, 2, 3)])
def test_rows_of_any_axes_are_reshaped(row_shape):
    numbers = np.arange(4 * np.prod(row_shape, dtype=int))
    x = LoDTensor.from_lengths(numbers.reshape(4, *row_shape), [1, 3])
    wanted = np.split(numbers.reshape(-1, 1), [len(numbers) // 4])
    assert lodcore.sequence_reshape(x, 1).tolist() == [part.tolist() for part in wanted]


def test_a_recorded_structure_without_levels_leaves_none():
    with lodcore.Program():
        x = lodcore.data("x", (None,), num_levels=1)
        levels = [lodcore.lod_reset(x, y).num_levels for y in (LoD.from_offsets(num_rows=3), LoD.from_lengths([1, 2]))]
    assert levels == [0, 1]


@for_each("n", range(9))
def test_moments_of_any_order(n):
    numbers = [[1.0, 2.0, -3.0], [2.0]]
    wanted = [sum(x**n for x in part) / len(part) for part in numbers]
    assert ops.moment(lodcore.array(numbers), n, axis=1).tolist() == wanted


@for_each("lengths", [[1], [2], [1, 1], [3], [1, 0, 1]])
def test_small_convolutions(lengths):
    values = 1.0 + np.arange(2.0 * sum(lengths)).reshape(-1, 2)
    for width, new_width, size in itertools.product((1, 2), (1, 2, 3), (1, 2)):
        x, weights = values[:, :width], np.cos(np.arange(size * width * new_width)).reshape(size * width, new_width)
        for start in range(-2, 3):
            wanted = []
            for part in np.split(x, np.cumsum(lengths)[:-1]):
                places = np.arange(len(part))[:, None] + start + np.arange(size)
                there = (places >= 0) & (places < len(part))
                windows = np.where(there[..., None], part[np.where(there, places, 0)], 0) if len(part) else part
                wanted.extend(windows.reshape(len(part), -1) @ weights if len(part) else [])
            found = lodcore.sequence_conv(LoDTensor.from_lengths(x, lengths), weights, size, start)
            np.testing.assert_allclose(found.values, wanted, rtol=1e-12, atol=1e-13)


def test_windows_in_threads_where_there_are_as_many_rows_as_bounds():
    n = 50_000
    lengths = np.ones(n, int)
    lengths[: n // 2 : 2], lengths[1 : n // 2 : 2], lengths[0] = 2, 0, 3
    values = np.arange(lengths.sum())
    before = lodcore.get_num_threads()
    lodcore.set_num_threads(2)
    try:
        found = lodcore.sequence_enumerate(LoDTensor.from_lengths(values, lengths), 2, -1).values
    finally:
        lodcore.set_num_threads(before)
    last = np.cumsum(lengths)[lengths > 0] - 1
    wanted = np.stack([values, values + 1], axis=1)
    wanted[last, 1] = -1
    assert len(values) == n + 1
    assert (found == wanted).all()


def test_gradients_of_long_complex_numbers_keep_both_parts():
    x = LoDTensor.from_lengths(np.array([1, 2j, 3 + 1j], "G"), [1, 2])
    d = np.array([1j, 2 + 3j, 4, 5, 6j, 7], "G")
    (found,) = vjp(lambda x: lodcore.gather_sequences(x, [1, 0, 1, 0]), x)[1](d)
    assert of(found).tolist() == [4 + 7, 5 + 1j, 2 + 9j]


def test_no_steps_are_stacked_along_any_axis():
    steps = lodcore.TensorArray.unstack(np.zeros((0, 3, 2), "f4"))
    for axis, shape in ((0, (0, 3, 2)), (1, (3, 0, 2)), (2, (3, 2, 0)), (-1, (3, 2, 0)), (-3, (0, 3, 2))):
        assert steps.stack(axis).shape == shape
        assert steps.stack(axis).dtype == "f4"


def test_recorded_bags_take_weights_that_are_known():
    with lodcore.Program() as program:
        ids = lodcore.data("ids", (None,), "i8", num_levels=1)
        bags = ops.embedding_bag(np.eye(3), ids, per_sample_weights=np.array([1.0, 2.0, 3.0]))
    assert bags.shape[1:] == (3,)
    (found,) = lodcore.Executor().run(program, {"ids": lodcore.array([[0, 2], [2]])}, [bags])
    assert of(found).tolist() == [[1, 0, 2], [0, 0, 3]]
