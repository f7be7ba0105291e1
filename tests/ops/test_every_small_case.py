"""Small cases one by one, of options, dtypes and levels that are rarely drawn together, compared with NumPy."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDTensor, ops, vjp
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins elsewhere

LENGTHS = [3, 0, 1, 4]


def cut(values, lengths=LENGTHS):
    return np.split(values, np.cumsum(lengths)[:-1])


# -- dates ---------------------------------------------------------------------------------------------------------


@for_each(("dtype", "width"), list(itertools.product(["M8[D]", "m8[s]", "i8", "u1", "?", "f2", "f8", "c8"], (0, 2))))
def test_differences_are_those_of_numpy(dtype, width):
    kind = np.dtype(dtype).kind
    for lost, n in itertools.product(range(-1, 8) if kind in "Mm" else [-1], range(5)):
        values = (np.arange(8 * (width or 1)) ** 2 % 11).astype(dtype).reshape(8, *[width] * bool(width))
        if lost >= 0:
            values[lost] = "NaT"
        found = lodcore.sequence_diff(LoDTensor.from_lengths(values, LENGTHS), n)
        for one, part in zip(found.to_arrays(), cut(values), strict=True):
            wanted = np.diff(part, n=min(n, len(part)), axis=0)
            assert one.dtype == np.diff(values[:2], n=min(n, 1), axis=0).dtype
            np.testing.assert_array_equal(one, wanted)


@for_each(
    ("dtype", "n"), list(itertools.product(["M8[D]", "m8[s]", "U3", "S2", "f4", "i2", "?", "c8"], (-5, -1, 0, 2)))
)
def test_what_is_shifted_in_is_nothing(dtype, n):
    values = np.arange(1, 9).astype(dtype)
    nothing = np.zeros(abs(n), dtype)
    if nothing.dtype.kind in "Mm":
        nothing[...] = "NaT"
    found = lodcore.sequence_shift(LoDTensor.from_lengths(values, LENGTHS), n)
    for one, part in zip(found.to_arrays(), cut(values), strict=True):
        both = np.concatenate([nothing, part] if n >= 0 else [part, nothing])
        np.testing.assert_array_equal(one, both[: len(part)] if n >= 0 else both[len(both) - len(part) :])


@for_each(("of_x", "of_v"), list(itertools.product(["D", "h", "s"], repeat=2)))
def test_dates_of_two_units_are_compared_exactly(of_x, of_v):
    for kind in "Mm":
        x = np.array([0, 86400, 172800], f"{kind}8[s]").astype(f"{kind}8[{of_x}]")
        v = np.array([0, 1, 3600, 86400, 90000, 172799, 172800, 172801], f"{kind}8[s]").astype(f"{kind}8[{of_v}]")
        for side in ("left", "right"):
            found = lodcore.sequence_searchsorted(
                LoDTensor(x, LoD.from_lengths([3])), LoDTensor(v, LoD.from_lengths([8])), side
            )
            assert found.values.tolist() == np.searchsorted(x, v, side).tolist()


# -- several batches, and several levels ---------------------------------------------------------------------------

BATCHES = [
    [[[1, 2], [3]], []],
    [[[4], [], [5, 6]], [[7]]],
    [[], [[8, 9]]],
    [[[10], [11, 12]], [[13], []]],
]


@for_each("count", range(1, 5))
def test_several_batches_are_joined(count):
    for some in itertools.permutations(BATCHES, count):
        xs = [lodcore.array(one, dtype=int, num_levels=2) for one in some]
        joined = [[*itertools.chain(*[one[j] for one in some])] for j in range(2)]
        assert lodcore.sequence_concat(xs, 0).tolist() == joined
        assert lodcore.concat_batches(xs).tolist() == [*itertools.chain(*some)]


def wrapped(x, times=1):
    """Put the whole batch into one sequence, several times."""
    for _ in range(times):
        x = ops.insert_level(x, 0, whole=True)
    return x


TWO = lodcore.array([[[1.5, 2.5], []], [[3.0, 7.0, 2.0]], [[4.0], [5.0]]])
MASKS = [True, False, True], [True, False, True, False, True]
INSIDE = {  # of a tensor and a level: operators whose result is the same inside of coarser levels
    "sort": lambda x, k: lodcore.sequence_sort(x, k),
    "topk": lambda x, k: lodcore.sequence_topk(x, 1, k)[0],
    "places of topk": lambda x, k: lodcore.sequence_topk(x, 1, k)[1],
    "argsort": lambda x, k: lodcore.sequence_argsort(x, k),
    "rank": lambda x, k: lodcore.sequence_rank(x, "dense", k),
    "unique": lambda x, k: lodcore.sequence_unique(x, k),
    "inverse": lambda x, k: lodcore.sequence_unique_all(x, k)[2],
    "cumsum": lambda x, k: lodcore.sequence_cumsum(x, k),
    "softmax": lambda x, k: lodcore.sequence_softmax(x, k),
    "rolling": lambda x, k: lodcore.sequence_rolling(x, 2, level=k),
    "shift": lambda x, k: lodcore.sequence_shift(x, 1, level=k),
    "average": lambda x, k: lodcore.sequence_moving_average(x, 0.5, level=k),
    "accumulate": lambda x, k: lodcore.sequence_accumulate(x, np.maximum, k),
    "reverse": lambda x, k: lodcore.sequence_reverse(x, k),
    "slice": lambda x, k: lodcore.sequence_slice(x, 0, 0, k),
    "drawn": lambda x, k: ops.sample_places(x, 0, 1, k),
    "shuffled": lambda x, k: lodcore.sequence_shuffle(x, 0, k),
    "positions": lambda x, k: lodcore.lod_positions(x, k),
    "windows": lambda x, k: lodcore.sliding_window(x, 2),
    "runs": lambda x, k: lodcore.run_lengths(x)[1],
    "differences": lambda x, k: lodcore.sequence_diff(x),
    "erased": lambda x, k: lodcore.sequence_erase(x.astype(int), [2]),
    "reshaped": lambda x, k: lodcore.sequence_reshape(x, 1),
    "repeated": lambda x, k: lodcore.repeat_runs(x, x.astype(int)),
    "by position": lambda x, k: ops.by_position(x, k % x.num_levels),
    "pooled positions": lambda x, k: ops.pool_positions(x, "sum"),
    "matmul": lambda x, k: lodcore.sequence_matmul(
        x.with_values(x.values[:, None]), x.with_values(x.values[:, None]), True, k
    ),
    "searched": lambda x, k: lodcore.sequence_searchsorted(lodcore.sequence_sort(x), x),
    "interpolated": lambda x, k: lodcore.sequence_interp(x, lodcore.sequence_sort(x), x),
    "lengths": lambda x, k: lodcore.lod_num(x, -1),
    "of a LoD": lambda x, k: lodcore.lod_reset(x.values, x.lod),
    "appended": lambda x, k: lodcore.lod_append(x, lengths=np.ones(x.num_rows, int)),
    "concat": lambda x, k: lodcore.sequence_concat([x, x, x], k),
    "quantile": lambda x, k: lodcore.sequence_quantile(x, 0.5, level=-1),
    "true side": lambda x, k: lodcore.split_by_mask(x, MASKS[k % x.num_levels - x.num_levels + 2], k)[0],
    "false side": lambda x, k: lodcore.split_by_mask(x, MASKS[k % x.num_levels - x.num_levels + 2], k)[1],
}
#: Operators with a result of fewer levels, and the outermost level, which stands for the batch itself.
OUTER = {"by position", "true side", "false side", "concat"}


@for_each(("name", "level"), [(name, level) for name in INSIDE for level in (-1, -2)])
def test_coarser_levels_are_kept(name, level):
    """With one and with two levels more, of two sequences each: four and five in all."""
    call = INSIDE[name]
    wanted = wrapped(call(wrapped(TWO), level)) if name in OUTER and level == -2 else wrapped(call(TWO, level), 2)
    if name not in OUTER or level == -1:
        assert call(wrapped(TWO, 2), level).equals(wanted)
        assert call(wrapped(TWO, 2), level + TWO.num_levels + 2).equals(wanted)
        wanted = wrapped(wanted)
    else:
        wanted = wrapped(call(wrapped(TWO), level), 2)
    assert call(wrapped(TWO, 3), level).equals(wanted)
    assert call(wrapped(TWO, 3), level + TWO.num_levels + 3).equals(wanted)


def test_merging_keeps_coarser_levels():
    for level, times in itertools.product((-1, -2), (2, 3)):
        x, mask = wrapped(TWO, times), MASKS[level + 2]
        assert lodcore.merge_by_mask(*lodcore.split_by_mask(x, mask, level), mask, level).equals(x)


# -- reductions of options -----------------------------------------------------------------------------------------


@for_each(
    ("kind", "least", "ddof"),
    list(itertools.product(("sum", "mean", "max", "min", "var", "std"), (None, 0, 1, 2, 3, 4), (0, 1, 2.5))),
)
def test_rolling_is_what_numpy_says_of_each_window(kind, least, ddof):
    values = np.cos(np.arange(8.0))
    found = lodcore.sequence_rolling(LoDTensor.from_lengths(values, LENGTHS), 3, kind, least, ddof).to_arrays()
    options = {"ddof": ddof} if kind in ("var", "std") else {}
    for one, part in zip(found, cut(values), strict=True):
        windows = [part[max(0, j - 2) : j + 1] for j in range(len(part))]
        with np.errstate(all="ignore"):
            wanted = [
                getattr(np, kind)(w, **options)
                if len(w) >= (3 if least is None else least) and len(w) > options.get("ddof", 0)
                else np.nan
                for w in windows
            ]
        np.testing.assert_allclose(one, wanted, rtol=1e-12, atol=1e-12)


@for_each("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i2"])
def test_a_mask_is_of_any_dtype(dtype):
    for lengths, maxlen in (
        ([2, 0, 3], None),
        ([[1, 0], [2, 2]], 1),
        (2, None),
        (3, 2),
        ([], None),
        (np.zeros((0, 2), int), 2),
    ):
        counts = np.array(lengths, int)
        most = counts.max(initial=0) if maxlen is None else maxlen
        found = lodcore.sequence_mask(lengths, maxlen, dtype)
        wanted = (np.arange(most) < counts[..., None]).astype(dtype)
        assert found.dtype == wanted.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, wanted)


@for_each(
    ("name", "dtype"), list(itertools.product(("sum", "prod", "max", "min"), ("i1", "u1", "i2", "i8", "f4", "f8", "?")))
)
def test_an_initial_value_is_one_of_the_result(name, dtype):
    values = np.array([[1, 0], [1, 1], [0, 1]], dtype)
    x = LoDTensor.from_lengths(values, [2, 0, 1])
    for initial in (0, 1, 300, -3, 2**40, 0.5):
        try:
            held = np.array(initial, getattr(np, name)(values).dtype)
        except OverflowError:
            held = np.array(-1)
        if held != initial:
            with pytest.raises(lodcore.DTypeError, match=f"{name}: initial: "):
                getattr(ops, name)(x, initial=initial)
            continue
        wanted = [getattr(np, name)(part, axis=0, initial=initial) for part in cut(values, [2, 0, 1])]
        assert getattr(ops, name)(x, axis=1, initial=initial).tolist() == np.array(wanted).tolist()
        assert getattr(ops, name)(x, initial=initial) == getattr(np, name)(values, initial=initial)


def test_nothing_else_than_an_empty_result_stands_for_no_values():
    none = np.empty((2, 0))
    for name, initial in itertools.product(("sum", "max", "min", "prod"), (None, 9.0)):
        assert ops.reduce_values(none, name, (1,), False, initial, 5.0).tolist() == [5.0, 5.0]


@for_each("dtype", ["f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[h]"])
def test_the_mode_of_nothing_is_nan(dtype):
    found = lodcore.sequence_mode(LoDTensor.from_lengths(np.array([1, 2, 2]).astype(dtype), [0, 3, 0]))
    assert (found != found).tolist() == [True, False, True]
    assert found[1] == np.array(2).astype(dtype)


@for_each(("q", "axis"), list(itertools.product((0.3, [0.2, 0.7], []), (1, (0, 1), (1, 2), (0, 1, 2)))))
def test_quantiles_of_rows_with_axes(q, axis):
    dense = np.random.default_rng(0).normal(size=(2, 4, 3))
    x = LoDTensor.from_lengths(dense.reshape(8, 3), [4, 4])
    np.testing.assert_allclose(ops.quantile(x, q, axis), np.quantile(dense, q, axis))


# -- memory and gradients ------------------------------------------------------------------------------------------

IDENTITIES = {
    "diff": lambda x: lodcore.sequence_diff(x, 0),
    "shift": lambda x: lodcore.sequence_shift(x, 0),
    "conv": lambda x: lodcore.sequence_conv(x, [[1.0]], 1),
    "row conv": lambda x: lodcore.row_conv(x, [1.0]),
    "gather": lambda x: lodcore.gather_sequences(x, range(len(x))),
    "sort": lambda x: lodcore.sequence_sort(x),
    "rolling": lambda x: lodcore.sequence_rolling(x, 1, "sum"),
    "fill": lambda x: ops.fill_nan(x),
    "spread": lambda x: ops.spread(x, 0),
    "windows": lambda x: lodcore.sliding_window(x, 1),
    "runs": lambda x: lodcore.run_lengths(x)[0],
    "repeat": lambda x: lodcore.repeat_runs(x, x.with_values(np.ones(x.num_rows, int))),
    "average": lambda x: lodcore.sequence_moving_average(x, 1),
    "unique": lambda x: lodcore.sequence_unique(x),
    "split": lambda x: lodcore.split_by_mask(x, True)[0],
    "merge": lambda x: lodcore.merge_by_mask(x, x[:0], [True] * len(x)),
    "scatter": lambda x: lodcore.sequence_scatter(x.values[:, None], [[]] * x.num_rows, 1.0),
    "steps": lambda x: lodcore.tensor_array_pack(*(lambda s, m: (s, 0, m))(*lodcore.tensor_array_unpack(x, 0))),
    "positions": lambda x: ops.by_position(x, 0),
    "elementwise": lambda x: ops.elementwise((x,), np.positive),
}


@for_each("name", IDENTITIES)
def test_a_copy_is_a_copy(name):
    x = lodcore.array([[1.0, 2.0], [3.0]])
    found = IDENTITIES[name](x)
    np.asarray(getattr(found, "values", found))[...] = 9
    assert x.tolist() == [[1.0, 2.0], [3.0]]


def test_last_states_do_not_change_the_boot():
    steps, of = lodcore.tensor_array_unpack(lodcore.array([[1.0, 2.0], [], [3.0]]), 0)
    boot = np.array([7.0, 8.0, 9.0])
    assert ops.last_of_steps(steps, boot, of).tolist() == [2.0, 8.0, 3.0]
    assert boot.tolist() == [7.0, 8.0, 9.0]
    d = np.ones(3)
    back = vjp(lambda boot: ops.last_of_steps(steps, boot, of), boot)[1]
    assert [back(d)[0].tolist(), d.tolist()] == [[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]


def test_the_gradient_of_padding_keeps_all_digits():
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


def test_points_for_nothing_have_gradients():
    nothing = LoDTensor.from_lengths(np.empty(0), [0, 0])
    x = LoDTensor.from_lengths(np.array([1.0, 2.0, 3.0]), [2, 1])
    found = vjp(lodcore.sequence_interp, x, nothing, nothing)[1](np.ones(3))
    assert [one.values.tolist() for one in found] == [[0.0, 0.0, 0.0], [], []]


def test_results_are_the_arrays_they_are_written_to():
    x, dense = lodcore.array([[1.0, 2.0], [3.0]]), np.ones((2, 2))
    out = np.empty(2)
    assert ops.sequence_pool(x, "sum", 0.5, out=out) is out
    assert ops.sequence_pool(x, "first", out=out) is out
    out = np.empty((2, 2))
    assert lodcore.sequence_pad(x, out=out)[0] is out
    assert ops.layer_norm(dense, [1.0, 1.0], [0.0, 0.0], out=out) is out
    pad = np.ones(2)
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        ops.sequence_pool(LoDTensor.from_lengths(dense, [2]), "sum", pad, out=pad.reshape(1, 2))
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        lodcore.row_conv(LoDTensor.from_lengths(dense, [2]), out, out=out)
    padding = np.zeros((2, 2))
    with pytest.raises(ValueError, match=r"out: .*overlaps"):
        lodcore.sequence_conv(LoDTensor.from_lengths(dense, [2]), np.ones((6, 2)), 3, -1, padding, out=padding)
