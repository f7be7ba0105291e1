"""Second elements, other forms of arguments, many rows, and rare dtypes, compared with NumPy or plain Python."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins elsewhere

LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    """Split rows into those of each sequence."""
    return np.split(values, np.cumsum(lengths)[:-1])


def of(x):
    """Return the values of a tensor."""
    return np.asarray(getattr(x, "values", x))


# -- second elements, other forms, many ----------------------------------------------------------------------------


def steps_with(at, element):
    """Return steps of two sequences, of which one is replaced."""
    array = lodcore.TensorArray()
    for t in range(3):
        array.write(t, element if t == at else np.ones(2, np.float32))
    return array, lodcore.tensor_array_unpack(lodcore.array([[1, 2, 3], [4, 5, 6]]), 0)[1]


@for_each("at", range(3))
def test_steps_that_do_not_fit_are_named(at):
    boot = np.zeros(2, np.float32)
    for element, error, says in (
        (np.ones(3, np.float32), lodcore.LoDError, f"element {at}: has shape .3,.; 2 sequences"),
        (np.ones((2, 1), np.float32), lodcore.ShapeError, f"element {at}: has rows of shape .1,."),
        (np.ones(2), lodcore.DTypeError, f"element {at}: has dtype float64; that of boot is float32"),
        (np.float32(1), (lodcore.LoDError, IndexError), f"element {at}: has (shape|no axis)"),
    ):
        steps, of = steps_with(at, element)
        with pytest.raises(error, match=says):
            ops.last_of_steps(steps, boot, of)
    with pytest.raises(IndexError, match=f"element {at}: has no axis"):
        lodcore.tensor_array_pack(steps_with(at, np.float32(1))[0], 0, of)
    steps, of = steps_with(at, np.ones(2, np.float32))
    with pytest.raises(ValueError, match="out: overlaps an input"):
        lodcore.tensor_array_pack(steps_with(at, out := np.ones(6, np.float32)[:2])[0], 0, of, out=out.base)


@for_each(("dtype", "read"), list(itertools.product(["f4", "f8"], ([0], [1], [2], [0, 2]))))
def test_steps_that_are_not_read_have_no_gradient(dtype, read):
    for lengths in ([[1, 3, 0, 2]], [[1, 3], [1, 0, 2, 1]]):
        x = LoDTensor.from_lengths(np.arange(1, 1 + sum(lengths[-1])).astype(dtype), *lengths)

        def chosen(x):
            steps, _ = lodcore.tensor_array_unpack(x, 0)
            return tuple(steps.read(t) for t in read)

        outs, back = vjp(chosen, x)
        (found,) = back(*[np.ones_like(getattr(one, "values", one)) for one in outs])
        assert found.dtype == dtype
        wanted = [[float(t in read) for t in range(n)] for n in lengths[0]]
        nested = found.tolist() if len(lengths) == 1 else [[set(one) for one in part] for part in found.tolist()]
        if len(lengths) == 1:
            assert nested == wanted
        else:
            assert all(one <= {float(t in read)} for part in nested for t, one in enumerate(part))


def test_recorded_steps_have_their_levels():
    with lodcore.Program():
        x = lodcore.data("x", (None,), num_levels=3)
        for level in range(3):
            steps, of = lodcore.tensor_array_unpack(x, level)
            assert lodcore.tensor_array_pack(steps, level, of).num_levels == 3


@for_each("size", [0, 1, 9, 10, 11, 100, 2**40])
def test_no_more_is_drawn_than_there_is(size):
    lengths = [0, 1, 9, 10, 11, 12]
    x = LoDTensor.from_lengths(np.arange(43), lengths)
    for part, whole in zip(lodcore.sequence_sample(x, size, 0).tolist(), x.tolist(), strict=True):
        assert len(part) == len(set(part)) == min(size, len(whole))
        assert set(part) <= set(whole)


@for_each("name", ["sequence_shuffle", "shuffle_sequences"])
def test_a_seed_is_a_generator_and_every_seed_another(name):
    x = (
        lodcore.array([[[j], [j + 50]] for j in range(50)])
        if name == "shuffle_sequences"
        else lodcore.array([list(range(50))])
    )
    found = [getattr(lodcore, name)(x, seed).tolist() for seed in (0, 1, 2, np.int8(3))]
    assert all(one != other for one, other in itertools.combinations([*found, x.tolist()], 2))
    for seed in range(4):
        assert getattr(lodcore, name)(x, np.random.default_rng(seed)).tolist() == found[seed]
        assert sorted(np.ravel(found[seed])) == sorted(x.values)


@for_each("more", [-1, 1])
def test_a_generator_draws_as_many_numbers_as_it_is_asked(more):
    class Generator(np.random.Generator):
        def random(self, count):
            return np.zeros(count + more)

    with pytest.raises(lodcore.DTypeError, match=f"rng: drew {3 + more} numbers; 3 are needed"):
        lodcore.sequence_shuffle([[1, 2], [3]], Generator(np.random.PCG64(0)))


@for_each(("name", "axis"), list(itertools.product(("and", "or", "xor"), (None, 0, 1, 2, 3, 4))))
def test_bits_of_rows_with_axes(name, axis):
    dense = np.random.default_rng(1).integers(0, 1 << 40, (2, 3, 2, 3, 4))
    x = LoDTensor.from_lengths(dense.reshape(6, 2, 3, 4), [3, 3])
    found = ops.bitwise_reduce(x, name, axis)
    found = found.to_regular() if isinstance(found, LoDTensor) else found
    np.testing.assert_array_equal(found, getattr(np, f"bitwise_{name}").reduce(dense, axis))


@for_each("dtype", ["i1", "u2", "f4", "f8", "c8", "c16"])
def test_dot_products_of_dense_and_nested(dtype):
    x = (np.arange(6) + (2j if dtype[0] == "c" else 0)).astype(dtype)
    wanted = (
        np.vecdot(x.reshape(2, 3), x[::-1].reshape(2, 3))
        if hasattr(np, "vecdot")
        else ((np.conj(x) * x[::-1]).reshape(2, 3).sum(1, dtype=dtype))
    )
    for one, other in (
        (x.reshape(2, 3), x[::-1].reshape(2, 3)),
        (LoDTensor.from_lengths(y, [3, 3]) for y in (x, x[::-1])),
    ):
        found = ops.vecdot(one, other)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted)


@for_each("order", "CFK")
def test_scattering_into_arrays_in_any_order(order):
    lines = np.arange(24.0).reshape(2, 3, 4)
    given = {"C": lines, "F": np.asfortranarray(lines), "K": np.ascontiguousarray(lines.T).T}[order]
    for dtype in ("f8", "f4"):
        updates = LoDTensor.from_lengths(np.ones((3, 4), dtype), [2, 1])
        found = lodcore.sequence_scatter(given, [[0, 2], [1]], updates)
        wanted = lines.copy()
        wanted[[0, 0, 1], [0, 2, 1]] += 1
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(given, lines)


@for_each("dtype", ["i1", "i8", "u8"])
def test_tokens_beyond_the_dtype_are_ignored(dtype):
    ends = [np.iinfo(dtype).min, 0, 1, np.iinfo(dtype).max]
    x = LoDTensor(np.array(ends, dtype), LoD.from_lengths([2, 2]))
    for count in range(5):
        for tokens in itertools.combinations(ends, count):
            for beyond in ([], [2**70], [-(2**70)], [2**64], [-(2**63) - 1], [-1] if dtype == "u8" else []):
                found = lodcore.sequence_erase(x, [*tokens, *beyond])
                assert found.tolist() == [[v for v in part if v not in tokens] for part in (ends[:2], ends[2:])]


def test_offsets_in_any_form():
    x, one, two = np.arange(5), [0, 2, 5], [[0, 1, 2], [0, 2, 5]]
    forms = [one, tuple(one), np.array(one), np.array(one)[:, None], LoD.from_offsets(one)]
    forms += [[one], (one,), [tuple(one)], [np.array(one)], np.array([one])]
    for form in forms:
        assert lodcore.lod_reset(x, target_lod=form).tolist() == [[0, 1], [2, 3, 4]]
    for form in (two, tuple(two), [tuple(level) for level in two], [np.array(level) for level in two], np.array(two)):
        assert lodcore.lod_reset(x, target_lod=form).tolist() == [[[0, 1]], [[2, 3, 4]]]


def test_operands_in_any_form():
    for form in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0])):
        assert ops.elementwise([form, (3.0, 4.0)], np.add).tolist() == [4.0, 6.0]
        assert ops.elementwise((form, 3), np.multiply).tolist() == [3.0, 6.0]


@for_each(("of_x", "of_weights"), list(itertools.product(["f4", "f8", "i8"], repeat=2)))
def test_weights_of_other_dtypes(of_x, of_weights):
    x, w = (np.array(one, dtype) for one, dtype in (([1, 2, 4], of_x), ([1, 2, 1], of_weights)))
    nested = [LoDTensor.from_lengths(one, [3]) for one in (x, w)]
    for keep in (False, True):
        found, mass = ops.average(nested[0], 1, nested[1], True, keepdims=keep)
        wanted = np.average(x.astype("f8"), weights=w)
        wide = np.result_type(*["f8" if one == "i8" else one for one in (of_x, of_weights)])
        assert of(found).dtype == of(mass).dtype == wide
        assert (of(found).ravel().tolist(), of(mass).ravel().tolist()) == ([wanted], [4.0])
    for ddof in (0, 1, 0.5):
        found = ops.cov(nested[0], nested[0] * 2, 1, nested[1], ddof)
        assert found == pytest.approx([2 * ((x - wanted) ** 2 * w).sum() / (4 - ddof)], rel=1e-5)


@for_each(("alpha", "adjust"), list(itertools.product((0.02, 0.5, 1), (True, False))))
def test_a_long_moving_average(alpha, adjust):
    values, wanted, above, below = np.cos(np.arange(100.0)), [], 0.0, 0.0
    for j, v in enumerate(values):
        above, below = v + (1 - alpha) * above, 1 + (1 - alpha) * below
        before = wanted[-1] if j else v
        wanted.append(above / below if adjust else alpha * v + (1 - alpha) * before)
    x = LoDTensor.from_lengths(np.concatenate([values, values[:3], values]), [100, 3, 0, 100])
    found = lodcore.sequence_moving_average(x, alpha, adjust).values
    np.testing.assert_allclose(found, wanted + wanted[:3] + wanted, rtol=1e-12, atol=1e-12)


def test_text_is_padded_with_text():
    x = lodcore.array([["a"], []])
    for kind in ("first", "last"):
        assert [lodcore.sequence_pool(x, kind, pad).tolist() for pad in (0, "b", 0.0)] == [
            ["a", ""],
            ["a", "b"],
            ["a", ""],
        ]
        assert lodcore.sequence_pool(x, kind, 1).tolist() == ["a", "1"]


def test_what_is_held_is_a_copy():
    counts, words = np.array([5, 6]), np.array(["a", "b"])
    vocabulary = lodcore.Vocabulary(words, counts=counts)
    counts[0], words[0] = 9, "c"
    assert (vocabulary.counts.tolist(), vocabulary.tokens) == ([5, 6], ["a", "b"])


# -- complex numbers, halves and tuples ----------------------------------------------------------------------------


AXES = (0, 1, 2, (0, 1), (1, 2), None)


@for_each(
    ("name", "dtype", "axis"),
    [
        *itertools.product(("sum", "prod", "mean", "var", "std"), ("f4", "f8"), AXES),
        *itertools.product(("sum", "mean"), ("c8", "c16"), AXES),
        *itertools.product(("prod",), ("c8", "c16"), (2,)),  # along axes of levels, real numbers are needed
    ],
)
def test_nan_among_numbers_of_any_dtype(name, dtype, axis):
    dense = np.random.default_rng(4).normal(size=(2, 3, 2)).astype(dtype)
    if dtype[0] == "c":
        dense.imag = dense[::-1].real
        dense[0, 1, 0] = complex(1, np.nan)
    dense[1, 0, 1] = np.nan
    x = LoDTensor.from_lengths(dense.reshape(6, 2), [3, 3])
    for where in (True, np.arange(12).reshape(2, 3, 2) % 5 > 0):
        chosen = where if where is True else x.with_values(where.reshape(6, 2))
        found, wanted = (
            getattr(ops, f"nan{name}")(x, axis, where=chosen),
            getattr(np, f"nan{name}")(dense, axis, where=where),
        )
        found = found.to_regular() if isinstance(found, LoDTensor) else found
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@for_each("dtype", ["M8[D]", "m8[s]"])
def test_one_lost_date_of_two(dtype):
    for lost, column, n in itertools.product(range(8), (0, 1), (1, 2, 3)):
        values = (np.arange(16) ** 2 % 11).astype(dtype).reshape(8, 2)
        values[lost, column] = "NaT"
        found = lodcore.sequence_diff(LoDTensor.from_lengths(values, LENGTHS), n)
        for one, part in zip(found.to_arrays(), cut(values), strict=True):
            np.testing.assert_array_equal(one, np.diff(part, n=min(n, len(part)), axis=0) if len(part) > n else one[:0])


LINEAR = {
    "diff": lambda x: lodcore.sequence_diff(x, 2),
    "shift": lambda x: lodcore.sequence_shift(x, -1),
    "cumsum": lodcore.sequence_cumsum,
    "accumulate": lambda x: lodcore.sequence_accumulate(x, np.add),
    "sum": lambda x: lodcore.sequence_pool(x, "sum"),
    "mean": lambda x: lodcore.sequence_pool(x, "mean"),
    "sqrt": lambda x: lodcore.sequence_pool(x, "sqrt"),
    "first": lambda x: lodcore.sequence_pool(x, "first"),
    "last": lambda x: lodcore.sequence_pool(x, "last"),
    "windows": lambda x: lodcore.sliding_window(x, 2),
    "pad": lambda x: lodcore.sequence_pad(x, 1j)[0],
    "positions": lambda x: ops.pool_positions(x, "mean"),
    "by position": ops.by_position,
    "reverse": lodcore.sequence_reverse,
    "gather": lambda x: lodcore.gather_nested(x, [3, 0, 3]),
    "split": lambda x: lodcore.split_by_mask(x, [True, False, True, True])[0],
    "sort": lodcore.sequence_sort,
    "rows": lambda x: ops.reduce_values(x, "mean", (0,)),
    "reshape": lambda x: lodcore.sequence_reshape(x, 1),
    "steps": lambda x: lodcore.tensor_array_pack(*(lambda s, m: (s, 0, m))(*lodcore.tensor_array_unpack(x, 0))),
    "repeat": lambda x: lodcore.repeat_runs(x, x.with_values(np.arange(x.num_rows) % 3)),
}


@for_each(("name", "dtype"), list(itertools.product(LINEAR, ("c8", "c16"))))
def test_gradients_of_complex_numbers_are_those_of_their_parts(name, dtype):
    values = np.arange(1.0, 9) + 1j * np.cos(np.arange(8))
    x = LoDTensor.from_lengths(values.astype(dtype), LENGTHS)
    out, back = vjp(LINEAR[name], x)
    wave = np.sin(1 + np.arange(of(out).size)).reshape(of(out).shape)
    real, imag, both = (back((wave * w).astype(dtype))[0].values for w in (1, 1j, 1 + 2j))
    assert np.abs(real).max() > 0.1
    np.testing.assert_allclose(real.imag, 0, atol=1e-6)
    np.testing.assert_allclose(imag, 1j * real, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(both, (1 + 2j) * real, rtol=1e-5, atol=1e-6)


@for_each("name", [*LINEAR, "average", "rolling", "softmax", "logsumexp", "max"])
def test_halves_are_rounded_once(name):
    """Results of float16 are those of float32, rounded."""
    call = (
        LINEAR.get(name)
        or {
            "average": lambda x: lodcore.sequence_moving_average(x, 0.25),
            "rolling": lambda x: lodcore.sequence_rolling(x, 2),
            "softmax": lodcore.sequence_softmax,
            "logsumexp": lodcore.sequence_logsumexp,
            "max": lambda x: lodcore.sequence_pool(x, "max"),
        }[name]
    )
    if name == "pad":
        call = lambda x: lodcore.sequence_pad(x, 0.5)[0]  # noqa: E731
    half = np.cos(np.arange(8)).astype(np.float16)
    found, wanted = (of(call(LoDTensor.from_lengths(half.astype(dtype), LENGTHS))) for dtype in ("f2", "f4"))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype("f4"), wanted, rtol=1.5e-3, atol=1e-6)


@for_each("name", ["gather", "reset", "append", "split", "merge", "reorder", "shrink", "pool", "concat", "scatter"])
def test_tuples_are_lists(name):
    table = lodcore.lod_rank_table([[1, 2], [3]])
    call = {
        "gather": lambda x: lodcore.gather_nested(x, [1, 0]),
        "reset": lambda x: lodcore.lod_reset(x, target_lod=[0, 1, 3]),
        "append": lambda x: lodcore.lod_append(x, lengths=[2, 0, 1]),
        "split": lambda x: lodcore.split_by_mask(x, [True, False])[0],
        "merge": lambda x: lodcore.merge_by_mask(x, x, [True, False, False, True]),
        "reorder": lambda x: lodcore.reorder_by_rank(x, table),
        "shrink": lambda x: lodcore.shrink_memory(x, 1, table),
        "pool": lambda x: lodcore.sequence_pool(x, "sum"),
        "concat": lambda x: lodcore.concat_batches((x, x)),
        "scatter": lambda x: lodcore.sequence_scatter(np.zeros((2, 4)), x, x),
    }[name]
    wanted = call([[1, 2], [3]])
    for form in (((1, 2), (3,)), [(1, 2), (3,)], ([1, 2], [3])):
        found = call(form)
        assert type(found) is type(wanted)
        assert found.tolist() == wanted.tolist()


@for_each("dtype", ["f8", "i2", "c8", "U2"])
def test_rows_may_lie_in_any_order(dtype):
    dense = np.arange(24).astype(dtype).reshape(6, 4)
    table = lodcore.lod_rank_table([[1]] * 2 + [[1, 2]] + [[]])
    for x in (
        np.asfortranarray(dense),
        dense[::-1],
        dense[:, ::2],
        dense[::2],
        dense.T,
        dense.T[::-1, 1:3],
        dense[:, 0],
    ):
        wanted = np.ascontiguousarray(x)
        assert lodcore.gather_nested(x, [2, 0, -1]).tolist() == wanted[[2, 0, -1]].tolist()
        assert lodcore.gather_nested(x, [[2], [0, 1]]).tolist() == [wanted[[2]].tolist(), wanted[[0, 1]].tolist()]
        assert lodcore.gather_nested(x, [2, 0, 2], default=wanted[1]).tolist() == wanted[[2, 0, 2]].tolist()
        mask = np.arange(len(x)) % 3 == 0
        assert lodcore.split_by_mask(x, mask)[0].tolist() == wanted[mask].tolist()
        assert lodcore.lod_reset(x, target_lod=[0, len(x)]).tolist() == [wanted.tolist()]
        if len(x) > 3:
            assert lodcore.reorder_by_rank(x[:4], table).tolist() == wanted[table.indices].tolist()


def test_gradients_of_filters_have_all_digits():
    values, d = np.cos(np.arange(16.0)).reshape(8, 2), np.sin(1 + np.arange(16.0)).reshape(8, 2)
    x, taps = LoDTensor.from_lengths(values, LENGTHS), np.ones((3, 2))
    wanted = [sum((a[j:] * b[: len(b) - j]).sum(0) for a, b in zip(cut(values), cut(d), strict=True)) for j in range(3)]
    for dtype in ("f8", "f4"):
        (found,) = vjp(lambda taps: lodcore.row_conv(x, taps), taps.astype(dtype))[1](d)
        np.testing.assert_allclose(found, wanted, rtol=1e-13 if dtype == "f8" else 1e-6)
    (found,) = vjp(lambda filter: lodcore.sequence_conv(x, filter, 3, 0), np.ones((6, 2)))[1](d)
    wanted = [sum(a[j:].T @ b[: len(b) - j] for a, b in zip(cut(values), cut(d), strict=True)) for j in range(3)]
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=1e-13, atol=1e-14)


def test_positions_among_many_sequences():
    lengths = np.arange(300) % 3
    values = np.arange(lengths.sum()) % 4 // 3
    x = LoDTensor.from_lengths(values, np.full(100, 3), lengths)
    wanted = [
        [j // 3, j % 3, t] for j, part in enumerate(cut(values, lengths)) for t, value in enumerate(part) if value
    ]
    assert ops.argwhere(x).tolist() == wanted


@for_each("start", [-(2**70), -(2**40), -5, 5, 2**40, 2**62, 2**70])
def test_windows_far_away_are_empty(start):
    for lengths in ([], [0], [2], [0, 2, 0], [70, 0, 3]):
        x = LoDTensor.from_lengths(np.ones(sum(lengths)), np.array(lengths, int))
        for length in (1, 2):
            found = lodcore.sequence_conv(x, np.ones((length, 1)), length, start).values
            near = [sum(0 <= t + start + j < n for j in range(length)) for n in lengths for t in range(n)]
            assert found.ravel().tolist() == near


@for_each("dtype", [">f4", ">i2", None, "f2", bool])
def test_first_states_are_native(dtype):
    found = ops.zero_states(2, 3, dtype)
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.dtype.isnative
    assert found.tolist() == [[0, 0, 0]] * 2


@for_each(("level", "size"), [(level, size) for level in (0, 1, 2, -1, -2, -3) for size in (1, 2)])
def test_samples_of_every_level(level, size):
    """Whole elements of the sequences of a level, as many of each as there are, at most `size`."""
    nested = [[[[1, 2, 3], [4]], [[5, 6]]], [[[7, 8, 9], [], [10, 11]]]]
    x = lodcore.array(nested)
    found = lodcore.sequence_sample(x, size, 0, level=level)

    def check(drawn, given, depth):
        if depth == 0:
            assert len(drawn) == min(size, len(given))
            assert all(one in given for one in drawn)
            return
        assert len(drawn) == len(given)
        for one, other in zip(drawn, given, strict=True):
            check(one, other, depth - 1)

    check(found.tolist(), nested, level % 3 + 1)
