"""The oracles and their helpers on small batches: closed forms, NumPy's functions, and known results."""

import math

import numpy as np
import pytest

from reference import dtypes, indexing
from reference.ops import (
    attention,
    axes,
    columns,
    deviation,
    group,
    levels,
    matmul,
    neighbours,
    norm,
    pool,
    quantiles,
    recurrent,
    recurrent_layers,
    reduce_values,
    rolling,
    search,
    softmax,
    sort,
    window,
)
from reference.ops import math as elementwise

pytestmark = pytest.mark.not_on_reference  # no kernels

INF, NAN = math.inf, math.nan
RANDOM = np.random.default_rng(5)
COLUMNS = [
    [1.0],
    [3.0, -1.0, 2.0],
    [-2.0, -0.5, -7.0, -0.5],
    [0.0, -0.0, 0.0],
    [1.0, NAN, 2.0],
    [-INF, 1.0],
    [-1000.0, -1001.0],
    [1000.0, 999.0],
    RANDOM.standard_normal(9).tolist(),
]
FINITE = [column for column in COLUMNS if np.isfinite(column).all()]


def close(found, wanted):
    np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=1e-12, atol=1e-12)


# -- one column against NumPy --------------------------------------------------------------------------------------


@np.errstate(all="ignore")
@pytest.mark.parametrize("column", COLUMNS)
def test_pools_softmax_and_sums(column):
    x = np.array(column)
    for kind, wanted in {
        "sum": x.sum(),
        "mean": x.mean(),
        "sqrt": x.sum() / np.sqrt(len(x)),
        "max": x.max(),
        "min": x.min(),
        "first": x[0],
        "last": x[-1],
    }.items():
        close(pool.pooled(column, kind), wanted)
        close(pool.sequence_pool([column, []], kind, 9.0, 0, 1), [wanted, 9.0])
        close(pool.pooled([[one, 2 * one] for one in column], kind), [wanted, 2 * wanted])
    powers = np.exp(x - x.max())
    close(softmax.softmax(column), powers / powers.sum())
    close(matmul.softmax(column), powers / powers.sum())
    close(softmax.logsumexp(column), np.logaddexp.reduce(x))
    close(softmax.cumsum(column), np.cumsum(x))
    for name in ("sum", "prod", "mean", "max", "min", "any", "all"):
        close(axes.reduction(name)(column), getattr(np, name)(x))
    for name in ("argmax", "argmin"):
        assert reduce_values.REDUCTIONS[name](column, None) == getattr(np, name)(x)
    assert sort.order_of(column, False) == np.argsort(x, kind="stable").tolist()
    close([column[k] for k in sort.order_of(column, True)], np.sort(x)[::-1])


@pytest.mark.parametrize("column", FINITE)
@pytest.mark.parametrize("ddof", [0, 1, 0.5])
def test_oracles_of_variance_and_deviation_equal_numpy(column, ddof):
    wanted = np.var(column, ddof=ddof) if len(column) > ddof else NAN
    close(deviation.variance(column, ddof), wanted)
    close(deviation.deviation(column, ddof), np.sqrt(wanted))


def quantile(column, q, method):
    """Compute a quantile by NumPy, or one by its definition: NumPy 2.0 counts its positions from 0."""
    if method != "closest_observation":
        return np.quantile(column, q, method=method)
    return sorted(column)[max(round(len(column) * q), 1) - 1]  # of two that are as close, the even one


@pytest.mark.parametrize("method", sorted(quantiles.METHODS))
@pytest.mark.parametrize("column", FINITE)
def test_oracles_of_quantiles_equal_numpy(column, method):
    for q in (0.0, 0.1, 0.25, 0.5, 2 / 3, 0.9, 1.0):
        wanted = quantile(column, q, method)
        close(quantiles.quantile(column, q, method, False), wanted)
        close(quantiles.quantile([*column, NAN], q, method, True), wanted)
    assert math.isnan(quantiles.quantile([*column, NAN], 0.5, method, False))
    assert math.isnan(quantiles.quantile([], 0.5, method, False))


@pytest.mark.parametrize("column", FINITE)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_windows_and_neighbours(column, size):
    x = np.array(column)
    for kind in ("sum", "mean", "max", "min", "var", "std"):
        wanted = [getattr(np, kind)(x[max(0, k + 1 - size) : k + 1]) for k in range(len(x))]
        close(rolling.sequence_rolling([column], size, kind, 1, 0, 0, 1, ())[0], wanted)
        wanted[: min(size - 1, len(x))] = [NAN] * min(size - 1, len(x))
        close(rolling.sequence_rolling([column], size, kind, None, 0, 0, 1, ())[0], wanted)
    close(
        neighbours.sequence_diff([column], size, lambda a, b: a - b, 1, ())[0],
        np.diff(x, size) if len(x) > size else [],
    )
    close(neighbours.sequence_shift([column], size, 9.0, 0, 1)[0], [*[9.0] * min(size, len(x)), *x[:-size]])
    close(neighbours.sequence_shift([column], -size, 9.0, 0, 1)[0], [*x[size:], *[9.0] * min(size, len(x))])
    close(neighbours.sequence_accumulate([column], neighbours.greatest, 0, 1, ())[0], np.maximum.accumulate(x))
    close(neighbours.sequence_accumulate([column], neighbours.least, 0, 1, ())[0], np.minimum.accumulate(x))
    windows = np.lib.stride_tricks.sliding_window_view(x, size).tolist() if len(x) >= size else []
    assert neighbours.sliding_window([column], size, 1, 1) == [windows]
    assert neighbours.sliding_window([column], size, 2, 1) == [windows[::2]]
    for alpha in (0.5, 1.0):
        weights = [(1 - alpha) ** np.arange(k, -1, -1) for k in range(len(x))]
        wanted = [(w * x[: k + 1]).sum() / w.sum() for k, w in enumerate(weights)]
        close(neighbours.sequence_moving_average([column], alpha, True, 0, 1, ())[0], wanted)
        wanted = [x[0]]
        for one in x[1:]:
            wanted.append(alpha * one + (1 - alpha) * wanted[-1])
        close(neighbours.sequence_moving_average([column], alpha, False, 0, 1, ())[0], wanted)


def test_places_and_lines_between_points():
    xp, fp, x = [1.0, 2.0, 4.0], [3.0, -1.0, 5.0], [0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0]
    close(search.sequence_interp([x], [xp], [fp], 1)[0], np.interp(x, xp, fp))
    assert math.isnan(search.interpolated(NAN, xp, fp))
    assert math.isnan(search.interpolated(1.0, [], []))
    for side in ("left", "right"):
        assert search.sequence_searchsorted([xp], [x], side, 1)[0] == np.searchsorted(xp, x, side).tolist()
        assert search.sequence_searchsorted([[1.0, NAN]], [[NAN]], side, 1) == [[1 if side == "left" else 2]]
    keys = [2, 1, 2, 3, 1]
    assert group.group_rows(keys, "sorted") == ([1, 2, 3], [[1, 4], [0, 2], [3]])
    assert group.group_rows(keys, "first") == ([2, 1, 3], [[0, 2], [1, 4], [3]])
    assert group.group_rows([1, 1, 2, 1], "runs") == ([1, 2, 1], [[0, 1], [2], [3]])
    assert group.match_keys([1, 2], [2, 2, 3], "inner") == ([2, 2], [1, 1], [0, 1])
    assert group.match_keys([1, 2], [2, 3], "outer") == ([1, 2, 3], [0, 1, -1], [-1, 0, 1])


# -- matrices against NumPy ----------------------------------------------------------------------------------------

X, Y = RANDOM.standard_normal((4, 3)), RANDOM.standard_normal((3, 2))


def test_products_norms_and_losses():
    close([matmul.product(row, Y.tolist()) for row in X.tolist()], X @ Y)
    close([matmul.product(row, Y[:, 0].tolist()) for row in X.tolist()], X @ Y[:, 0])
    powers = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    for label, row, shares in zip([0, 2, 1, 2], X.tolist(), powers, strict=True):
        close(matmul.cross_entropy(row, label), -np.log(shares[label]))
        close(matmul.cross_entropy(row, label, 0.25), -0.75 * np.log(shares[label]) - 0.25 * np.log(shares).mean())
    scale, shift = [1.0, -2.0, 0.5], [0.0, 1.0, -1.0]
    for row in X:
        wanted = (row - row.mean()) / np.sqrt(row.var() + 0.25) * scale + shift
        close(norm.layer_norm(row.tolist(), scale, shift, 0.25), wanted)
    weights = np.exp(X @ X[0] * 0.5)
    weights /= weights.sum()
    context, found = attention.attend(X[0].tolist(), X.tolist(), X[:, :2].tolist(), 2, 0.5)
    close(found, weights)
    close(context, weights @ X[:, :2])


def test_windows_of_rows():
    filters = RANDOM.standard_normal((6, 2))
    padded = np.vstack([np.zeros((1, 3)), X])
    wanted = [np.concatenate([padded[t], padded[t + 1]]) @ filters for t in range(4)]
    close(window.sequence_conv([X.tolist()], filters.tolist(), 2, 2, -1, None, 0, 1)[0], wanted)
    taps = RANDOM.standard_normal((2, 3))
    wanted = [X[t] * taps[0] + (X[t + 1] * taps[1] if t < 3 else 0) for t in range(4)]
    close(window.row_conv([X.tolist()], taps.tolist(), 0, 1)[0], wanted)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_one_step_of_each_cell():
    row, h, c = RANDOM.standard_normal(3), RANDOM.standard_normal(2), RANDOM.standard_normal(2)
    w, u, b = RANDOM.standard_normal((3, 8)), RANDOM.standard_normal((2, 8)), RANDOM.standard_normal(8)
    candidate, into, forget, out = np.split(row @ w + h @ u + b, 4)
    cell = sigmoid(forget) * c + sigmoid(into) * np.tanh(candidate)
    named = {"weight_x": w.tolist(), "weight_h": u.tolist(), "bias": b.tolist()}
    found, (_, kept) = recurrent_layers.lstm_cell(named, row.tolist(), (h.tolist(), c.tolist()))
    close(kept, cell)
    close(found, sigmoid(out) * np.tanh(cell))
    _, (_, clipped) = recurrent_layers.lstm_cell(named, row.tolist(), (h.tolist(), (c * 100).tolist()), clip=0.5)
    assert max(map(abs, clipped)) == 0.5
    named = {"weight_x": w[:, :2].tolist(), "weight_h": u[:, :2].tolist(), "bias": b[:2].tolist()}
    close(
        recurrent_layers.simple_cell(named, row.tolist(), h.tolist())[0], np.tanh(row @ w[:, :2] + h @ u[:, :2] + b[:2])
    )
    flat = RANDOM.standard_normal(12)
    gates, last = flat[:8].reshape(2, 4), flat[8:].reshape(2, 2)
    named = {"weight_x": w[:, :6].tolist(), "weight_h": flat.reshape(2, 6).tolist(), "bias": b[:6].tolist()}
    given = row @ w[:, :6] + b[:6]
    update, reset = sigmoid(given[:2] + h @ gates[:, :2]), sigmoid(given[2:4] + h @ gates[:, 2:])
    new = np.tanh(given[4:] + (reset * h) @ last)
    close(recurrent_layers.gru_cell(named, row.tolist(), h.tolist())[0], (1 - update) * h + update * new)
    close(recurrent_layers.gru_cell(named, row.tolist(), h.tolist(), True)[0], update * h + (1 - update) * new)
    assert recurrent_layers.run_cell(lambda x, state: (x + state, x + state), [1, 2, 3], 10, False) == (
        [11, 13, 16],
        16,
    )
    assert recurrent_layers.run_cell(lambda x, state: (x + state, x + state), [1, 2, 3], 10, True) == ([16, 15, 13], 16)
    assert recurrent.plus([1, 2], [10, 20], [5, 5]) == [16, 27]
    assert recurrent.times([1.0, 2.0], [[9.0, 1.0, 2.0], [9.0, 3.0, 4.0]], 1, 2) == [7.0, 10.0]


def test_oracles_of_elementwise_functions_equal_numpy():
    for name, function in elementwise.UNARY.items():
        wanted = {"sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0)}.get(name) or getattr(np, name)
        for x in (-2.0, -0.5, 0.0, 0.5, 3.0, INF, -INF, NAN):
            with np.errstate(all="ignore"):
                close(function(x), wanted(np.float64(x)))
    assert elementwise.relu(-3) == 0
    assert isinstance(elementwise.relu(-3), int)
    nested = elementwise.elementwise(lambda a, b: a + b, (1, 1, [[[1, 2], [3, 4]], []]), (None, 1, [10, 20]))
    assert nested == [[[11, 22], [13, 24]], []]
    assert elementwise.elementwise(lambda a, b: a * b, (1, 0, [[2], [3]]), (1, 1, [[[1, 2]], [[5, 7]]])) == [
        [[2, 4]],
        [[15, 21]],
    ]


# -- helpers -------------------------------------------------------------------------------------------------------

NESTED = [[[1, 2], []], [], [[3]]]


def test_oracles_of_levels_walk_to_each_level():
    assert levels.sequences(NESTED, 0) == NESTED
    assert levels.sequences(NESTED, 1) == [[1, 2], [], [3]]
    assert levels.sequences(NESTED, 2) == [1, 2, 3]
    assert levels.at_level(len, NESTED, 0) == [2, 0, 1]
    assert levels.at_level(len, NESTED, 1) == [[2, 0], [], [1]]
    assert levels.each_at_level("abc", NESTED, 1) == [["a", "b"], [], ["c"]]
    assert levels.drop(NESTED, 0) == [[1, 2], [], [3]]
    assert levels.drop(NESTED, 1) == [[1, 2], [], [3]]
    assert levels.drop([NESTED], 1) == [[[1, 2], [], [3]]]
    assert levels.segment_ids(NESTED, 0, 2) == [0, 0, 2]
    assert levels.segment_ids(NESTED, 1, 2) == [0, 0, 2]
    assert levels.positions([[[1], [2, 3]], [[4]]], 0, 2) == [0, 1, 2, 0]
    assert levels.positions([[[1], [2, 3]], [[4]]], 1, 2) == [0, 0, 1, 0]


def test_oracles_of_columns_go_column_by_column():
    rows = [[1, 2], [3, 4], [5, 6]]
    assert columns.each_column(sum, rows, (2,)) == [9, 12]
    assert columns.each_column(lambda column: column[::-1], rows, (2,)) == rows[::-1]
    assert columns.each_column(lambda column: column[:1], rows, (2,)) == [[1, 2]]
    assert columns.each_column(sum, [[[1, 2]], [[3, 4]]], (1, 2)) == [[4, 6]]
    assert columns.within(lambda column: column[::-1], [[[1, 2], [3]], [[4]]], 0, 2, ()) == [[[3, 2], [1]], [[4]]]
    assert columns.within(lambda column: column[::-1], [[[1, 2], [3]], [[4]]], 1, 2, ()) == [[[2, 1], [3]], [[4]]]


def test_oracles_of_axes_reduce_along_each_axis():
    assert axes.reduce_axis(sum, [[1, 2], [], [3]], 1, 2, ()) == [3, 0, 3]
    assert axes.reduce_axis(sum, [[1, 2], [], [3]], 0, 2, ()) == [4, 2]
    assert axes.reduce_axis(sum, [[[1, 2], [3, 4]]], 1, 3, (2,)) == [[4, 6]]
    assert axes.reduce_below(sum, [[[1, 2], [3]], []], 0, 2, ()) == [6, 0]
    assert axes.insert_axis([[1], [2, 3]], 0) == [[[1], [2, 3]]]
    assert axes.insert_axis([[1], [2, 3]], 1) == [[[1]], [[2, 3]]]
    parts = RANDOM.standard_normal((2, 3, 4))
    for chosen in ((0,), (1,), (0, 1), (1, 2), (0, 1, 2)):
        found = reduce_values.reduce_axes(lambda numbers: sum(numbers), [parts.tolist()], parts.shape, chosen)
        close(found, parts.sum(chosen))
        found = reduce_values.reduce_axes(lambda numbers: sum(numbers), [parts.tolist()], parts.shape, chosen, True)
        close(found, parts.sum(chosen, keepdims=True))


def test_oracles_of_indices_index_as_python_and_numpy():
    nested = [[1, 2, 3], [], [4, 5]]
    assert indexing.getitem(nested, [-1, 0]) == 4
    assert indexing.getitem(nested, [slice(None), slice(1, None)]) == [[2, 3], [], [5]]
    assert indexing.getitem(nested, [[2, 0], 0]) == [4, 1]
    assert indexing.getitem(nested, [[True, False, True], slice(0, 1)]) == [[1], [4]]
    assert indexing.getitem(nested, [[0, 2], [2, 1]]) == [3, 5]
    assert indexing.getitem(nested, [indexing.Nested([[1, 1], [], [0]], 1)]) == [[2, 2], [], [4]]
    assert indexing.spread([[1, [2]], [], 3]) == [1, 2, 3]


@pytest.mark.parametrize("one", dtypes.ORDER)
@pytest.mark.parametrize("other", dtypes.ORDER)
def test_oracles_of_dtypes_promote_as_numpy(one, other):
    whole = {one, other} & {"int32", "int64"}
    if {"uint8", "float32"} != {one, other} or whole:
        assert dtypes.promoted(one, other) == np.result_type(one, other).name
    assert dtypes.float_of(one) == (np.mean(np.ones(1, one))).dtype.name
