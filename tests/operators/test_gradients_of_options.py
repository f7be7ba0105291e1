"""The gradient at every option of an operator, against differences of results; that of float32 against float64."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops, vjp
from lodcore.ops.reduce.quantiles import METHODS
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # kernels are compared with their twins elsewhere

LENGTHS = [2, 0, 3], [3, 0, 4, 1, 2]
RANDOM = np.random.default_rng(3)


def rows(*shape, lengths=LENGTHS):
    """Make rows without ties, far from each other and from 0."""
    shape = (int(np.sum(lengths[-1])), *shape)
    values = (1 + RANDOM.permutation(int(np.prod(shape)))) / np.prod(shape) + 0.3
    return LoDTensor.from_lengths(values.reshape(shape), *lengths)


X, FLAT, Y = rows(2), rows(), rows(2)
HOLES = FLAT.with_values(np.where(np.arange(10) % 4 == 2, np.nan, FLAT.values))
FULL = rows(lengths=[[3] * 3, [3] * 9])
FULL_HOLES = FULL.with_values(np.where(np.arange(27) % 4 == 2, np.nan, FULL.values))
LONG = rows(lengths=[[2, 1], [150, 0, 70]])
DENSE = RANDOM.permutation(24).reshape(2, 3, 4) / 8 - 1.3
MASKS = np.array([True, False, True, True, False]), np.array([False, True, True])
SHORT = rows(2, lengths=[[3, 0, 2]])
TABLE = lodcore.TensorArray.unpack(rows(lengths=[[1, 3, 0, 2]]), 0, sort_by_length=False)[1]
FALLING = lodcore.TensorArray.unpack(rows(lengths=[[1, 3, 0, 2]]), 0)[1]
LEVELS, KINDS = (0, -1), ("sum", "mean", "max", "min", "var", "std")
POOLS = ("sum", "mean", "sqrt", "max", "min", "first", "last")


def steps_of(x, level, **options):
    """Unpack sequences, and pack them again."""
    steps, rank = lodcore.tensor_array_unpack(x, level, **options)
    return lodcore.tensor_array_pack(steps, level, rank)


def last_of(x, boot):
    """Return the last entry of each sequence, or that of the boot."""
    steps, rank = lodcore.tensor_array_unpack(x, 0)
    return ops.last_of_steps(steps, boot, rank)


def calls():
    """Yield names, functions and their operands."""
    for alpha, adjust, level, x in itertools.product((0.03, 0.4, 1), (True, False), LEVELS, (X, LONG)):
        yield (
            f"average {alpha} {adjust} {level}",
            lambda x, *o: ops.sequence_moving_average(x, *o),
            x,
            alpha,
            adjust,
            level,
        )
    for kind, least, ddof, level in itertools.product(KINDS, (None, 0, 1, 2, 4), (0, 1, 0.5), LEVELS):
        yield f"rolling {kind}", lambda x, *o: ops.sequence_rolling(x, 3, *o), X, kind, least, ddof, level
    for ufunc, level, x in itertools.product((np.add, np.multiply, np.maximum, np.minimum), LEVELS, (X, LONG)):
        yield f"{ufunc.__name__} {level}", ops.sequence_accumulate, x, ufunc, level
    for method, q, level, skip in itertools.product(METHODS, (0.37, [0.0, 0.6, 1.0]), LEVELS, (True, False)):
        yield f"quantile {method} {q}", ops.sequence_quantile, X if skip else HOLES, q, method, level, skip
    for kind, level, x in itertools.product(POOLS, LEVELS, (X, LONG)):
        yield f"pool {kind}", ops.sequence_pool, x, kind, 0.5, level
        if x is X:
            of_pad = lambda pad, x, *o: ops.sequence_pool(x, o[0], pad, o[1])  # noqa: E731
            yield f"pad of pool {kind}", of_pad, np.array(0.7), x, kind, level
            yield f"row of pool {kind}", of_pad, np.array([0.7, 1.9]), x, kind, level
    for n in (0, 1, 2, 3, 4, 9):
        yield f"diff {n}", ops.sequence_diff, X, n
    for n, level in itertools.product((-3, -1, 0, 1, 2, 9), LEVELS):
        yield f"shift {n}", lambda x, n, level: ops.sequence_shift(x, n, 0.25, level), X, n, level
    for kind, size in itertools.product(KINDS, (1, 2, 4, 5, 8, 70)):
        yield (
            f"rolling {kind} of {size}",
            lambda x, size, kind: ops.sequence_rolling(x, size, kind, 1),
            LONG,
            size,
            kind,
        )
    for size, step in itertools.product((1, 2, 3, 5), (1, 2, 3)):
        yield f"window {size} {step}", ops.sliding_window, X, size, step
    for level, turned in itertools.product(LEVELS, (True, False)):
        yield f"sort {turned}", ops.sequence_sort, X, level, turned
        yield "topk", lambda x, *o: ops.sequence_topk(x, *o)[0], X, 2, level
        yield "steps", lambda x, level, turned: steps_of(x, level, sort_by_length=turned), X, level, turned
    for function, level in itertools.product(
        (ops.sequence_softmax, ops.sequence_logsumexp, ops.sequence_cumsum, ops.sequence_prod), LEVELS
    ):
        yield f"{function.__name__} {level}", function, X, level
    axes = [chosen for count in (1, 2, 3) for chosen in itertools.permutations(range(3), count)]
    for name, axis in itertools.product(("sum", "mean", "prod", "max", "min"), [None, (-1,), *axes]):
        yield f"{name} {axis}", ops.reduce_values, DENSE, name, axis, axis is not None and len(axis) == 2
    for axis in (0, 1):
        yield f"by position {axis}", ops.by_position, X, axis
    for kind in ("sum", "mean", "max", "min"):
        yield f"positions {kind}", ops.pool_positions, X, kind
    for length, start, level, padded in itertools.product((1, 2, 3), (None, -2, 0, 1), LEVELS, (True, False)):
        before = length // 2 if start is None else max(0, -start)
        after = max(0, (-before if start is None else start) + length - 1)
        edges = RANDOM.normal(size=(before + after, 2)) if padded else None
        filter = RANDOM.normal(size=(2 * length, 3))
        conv = lambda filter, x, edges, *o: ops.sequence_conv(x, filter, *o[:2], edges, o[2])  # noqa: E731
        yield "conv", lambda x, *o, conv=conv: conv(o[0], x, *o[1:]), X, filter, edges, length, start, level
        yield "filter of conv", conv, filter, X, edges, length, start, level
        if padded and len(edges):
            of_edges = lambda e, x, f, *o: ops.sequence_conv(x, f, *o[:2], e, o[2])  # noqa: E731
            yield "edges of conv", of_edges, edges, X, filter, length, start, level
    for length, level in itertools.product((1, 3, 5), LEVELS):
        taps = RANDOM.normal(size=(length, 2))
        yield "row conv", lambda x, taps, level: ops.row_conv(x, taps, level), X, taps, level
        yield "taps", lambda taps, x, level: ops.row_conv(x, taps, level), taps, X, level
    for level in LEVELS:
        yield "products", lambda x, level: ops.sequence_matmul(x, Y, True, level), X, level
        yield "products of y", lambda x, level: ops.sequence_matmul(Y, x, True, level), X, level
    scores = ops.sequence_matmul(X, Y, True)
    yield "weights", lambda x: ops.sequence_matmul(x, Y), scores
    yield "weighted", lambda x: ops.sequence_matmul(scores, x), Y
    for pad, maxlen in itertools.product((0.5, [0.5, 2.0]), (None, 6)):
        yield "pad", lambda x, pad, maxlen: ops.sequence_pad(x, pad, maxlen)[0], X, pad, maxlen
        yield "padding", lambda pad, maxlen: ops.sequence_pad(X, pad, maxlen)[0], np.array(pad), maxlen
    many = rows(2, lengths=[np.arange(40) * 7 % 5])
    for pad in (0.5, [0.5, 2.0]):
        yield "many paddings", lambda pad: ops.sequence_pad(many, pad, 6)[0], np.array(pad)
        yield "many empty", lambda pad: ops.sequence_pool(many, "sum", pad), np.array(pad)
    for call, kinds in ((ops.sequence_pool, POOLS), (ops.pool_positions, KINDS[:4])):
        for kind in kinds:
            yield f"many of {kind}", call, many, kind
    yield "many products", lambda x: ops.sequence_matmul(x, many, True), many
    yield "products of many", lambda x: ops.sequence_matmul(many, x, True), many
    yield "steps of many", steps_of, many, 0
    yield "many in order", ops.reorder_by_rank, many, lodcore.lod_rank_table(many)
    yield "split many", lambda x: ops.split_by_mask(x, np.arange(40) % 3 > 0)[1], many
    yield "runs of many", lambda x: ops.repeat_runs(x, many.with_values(np.arange(many.num_rows) % 3)), many
    for (k, mask), side in itertools.product([(0, MASKS[1]), (1, MASKS[0])], (0, 1)):
        yield f"split {k}", lambda x, mask, k, side: ops.split_by_mask(x, mask, k)[side], X, mask, k, side
        two = ops.split_by_mask(X, mask, k)
        merge = lambda x, mask, k, s, y: ops.merge_by_mask(*[x, ops.cast(y, x.dtype)][:: 1 - 2 * s], mask, k)  # noqa: E731
        yield f"merge {k}", merge, two[side], mask, k, side, two[1 - side]
    for index in ([2, 0, 2, -1], [[1, 2], [], [0, 0]], [5, 0, 5], [5, 7], []):
        default = [] if 5 in index else None
        whole = np.array(index, int) if not index or not isinstance(index[0], list) else lodcore.array(index)
        yield f"gather {index}", lambda x, index, default: ops.gather_nested(x, index, default), X, whole, default
        row = 0.5 if 5 in index else None
        yield f"gather rows {index}", lambda x, *o: ops.gather_nested(x, *o), DENSE[0], whole, row
    for step, of in itertools.product((0, 1, 2, 3), (TABLE, FALLING)):
        for x in (rows(2, lengths=[of.rank.lengths]), RANDOM.normal(size=(4, 2))):
            yield f"shrink {step}", lambda x, *o: ops.shrink_memory(x, *o), x, step, of
    for boot, x in (
        (RANDOM.normal(size=(3, 2)), SHORT),
        (rows(2, lengths=[[2, 3, 1]]), rows(2, lengths=[[2, 0, 1], [1, 2, 2]])),
    ):
        yield "last of steps", lambda x, boot: last_of(x, ops.cast(boot, x.dtype)), x, boot
        yield "boot of steps", lambda boot, x: last_of(ops.cast(x, boot.dtype), boot), boot, x
    yield "reorder", ops.reorder_by_rank, rows(2, lengths=[[1, 3, 0, 2]]), FALLING
    yield "reordered rows", ops.reorder_by_rank, DENSE[0], lodcore.lod_rank_table([[1], [], [2, 3]])
    runs = SHORT.with_values(np.array([[1.0, 2.0], [1.0, 2.0], [1.5, 2.0], [3.0, 3.0], [4.0, 3.0]]))
    for counts in ([[2, 0, 1], [], [3, 1]], [[1, 1, 1], [], [1, 1]]):
        yield "repeat", lambda x, counts: ops.repeat_runs(x, lodcore.array(counts)), runs, counts
    for name, axis, kept in itertools.product(
        ("sum", "mean", "max", "min", "prod", "var", "std"), (0, 1, 2, (1, 2), None), (True, False)
    ):
        if kept and axis is None:
            continue
        of_nan = getattr(ops, f"nan{name}")
        if not (kept and axis == 0):
            x = FULL_HOLES if name in ("max", "min") else HOLES
            yield f"nan{name} {axis}", lambda x, f, a, k: f(x, axis=a, keepdims=k), x, of_nan, axis, kept
    some = FLAT.with_values(np.arange(10) % 3 > 0)
    for name in ("sum", "mean", "var", "std"):
        of_nan = getattr(ops, f"nan{name}")
        yield f"nan{name} where", lambda x, f: f(x, axis=2, where=some), HOLES, of_nan
    for name, start in itertools.product(("max", "min", "sum"), (-9.0, 0.72, 9.0)):
        yield f"nan{name} {start}", lambda x, f, s: f(x, axis=2, initial=s), HOLES, getattr(ops, f"nan{name}"), start
    weights = FULL.with_values(RANDOM.uniform(0.5, 2, 27))
    for axis in (0, 1, 2, (0, 2), None):
        pairs = {
            "average": lambda x, y, w, a: ops.average(x, a, w),
            "moment": lambda x, y, w, a: ops.moment(x, 3, a, w),
            "cov": lambda x, y, w, a: ops.cov(x, y, a, w, 0.5),
            "corr": lambda x, y, w, a: ops.corr(x, y, a, w),
            "fit": lambda x, y, w, a: ops.linear_fit(x, y, a, w)[1],
        }
        given = FULL, FULL.with_values(RANDOM.normal(size=27)), weights
        for (name, function), at in itertools.product(pairs.items(), range(3)):
            if at == 1 and name in ("average", "moment"):
                continue
            one = lambda x, f, at, g, a: f(*[x if j == at else other for j, other in enumerate(g)], a)  # noqa: E731
            yield f"{name} {axis} of {'xyw'[at]}", one, given[at], function, at, given, axis
    points = rows(lengths=[[3, 2, 1]]), SHORT
    known = LoDTensor.from_lengths([0.1, 0.5, 0.9, 0.2, 0.7, 0.4], [3, 2, 1])
    wanted = LoDTensor.from_lengths([0.3, 0.6, 0.95, 0.05, 0.33, 0.6, 0.8], [4, 2, 1])
    given = wanted, known, points[0]
    for at in range(3):
        one = lambda x, at, g: ops.sequence_interp(*[x if j == at else other for j, other in enumerate(g)])  # noqa: E731
        yield f"interp {at}", one, given[at], at, given
    ids = lodcore.array([[0, 2, 2], [], [1, 0]])
    yield "scatter", lambda x: ops.sequence_scatter(x, ids, SHORT.values[:, 0]), DENSE[0]
    yield "updates", lambda x: ops.sequence_scatter(DENSE[0], ids, x), SHORT[:, :, 0]


def moved(x, values):
    """Return the same structure with other values."""
    return LoDTensor(values, x.lod) if isinstance(x, LoDTensor) else values


@for_each(("name", "call", "x", "options"), [(name, call, x, options) for name, call, x, *options in calls()])
def test_gradients_at_every_option_equal_differences_of_results(name, call, x, options):
    values = values_of(x)
    way = np.cos(3 * np.arange(values.size)).reshape(values.shape)
    with np.errstate(all="ignore"):
        y, back = vjp(lambda x: call(x, *options), x)
        wave = 1 + 0.5 * np.sin(1 + np.arange(values_of(y).size)).reshape(values_of(y).shape)
        wave = np.where(np.isfinite(values_of(y)), wave, 0.0)
        above, below = (values_of(call(moved(x, values + step * way), *options)) for step in (1e-5, -1e-5))
        slope = np.nansum(np.where(wave == 0, 0, (above - below) / 2e-5 * wave))
        (found,) = back(wave)
        narrow = np.asarray(values, np.float32)
        y32, back32 = vjp(lambda x: call(x, *options), moved(x, narrow))
        (found32,) = back32(np.asarray(wave, values_of(y32).dtype))
    assert values_of(found).shape == values.shape
    assert np.isfinite(values_of(found)).all()
    near = 1e-6 if name.startswith(("corr", "fit")) else 3e-8
    assert np.nansum(values_of(found) * way) == pytest.approx(slope, rel=near, abs=near)
    assert values_of(y).dtype == values_of(found).dtype == np.float64
    assert (values_of(found) != values_of(found).astype(np.float32)).any() or not values_of(found).any()  # all digits
    assert values_of(found32).dtype == np.float32
    np.testing.assert_allclose(values_of(found32), values_of(found), rtol=1e-4, atol=2e-5)
