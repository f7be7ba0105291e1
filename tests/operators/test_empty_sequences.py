"""Empty sequences: their results are those of the page, and `empty=` sets them; at once and in a Program."""

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, Executor, LoDTensor, Program, data, grad_check, ops, vjp
from lodcore.operators.roles import spec_of
from lodcore.ops.networks.embedding import embedding_bag
from lodcore.ops.reduce.pool import POOL_TYPES
from lodcore.ops.reduce.reduce_values import INDEX, REDUCTIONS
from lodcore.testing.samples import bits
from tests.helpers.pages import code_of
from tests.helpers.tables import for_each
from tests.samples.common import batches, smooth_batches

PAGE = (Path(__file__).parents[2] / "docs/empty-sequences.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("| `")]
NAMES: dict = {}
exec(code_of("docs/empty-sequences.md")[0], NAMES)


def entry(text):
    """Compute the result of a call for the empty sequence, which is number 1; or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = eval(text, NAMES)[1]
    except (ValueError, IndexError) as error:
        return type(error).__name__
    return found.tolist() if isinstance(found, (np.ndarray, np.generic, LoDTensor)) else found


# -- the page ------------------------------------------------------------------------------------------------------


@for_each("row", ROWS)
def test_a_row_of_the_page_is_true(row):
    call, gives, why, choice = row
    assert str(entry(call.strip("`"))) == gives.strip("`")
    assert why
    if choice:
        chosen = entry(choice.split("`")[1])
        assert str(chosen) != gives.strip("`")
        assert not isinstance(chosen, str)


def test_page_of_empty_sequences_lists_every_reduction():
    calls = " ".join([row[0] for row in ROWS])
    for name in [*REDUCTIONS, *INDEX, "mean", "var", "std"]:
        assert f"x.{name}(" in calls
    for name in POOL_TYPES:
        assert f'x.pool("{name}")' in calls
    for name in ("sum", "mean", "max"):
        assert f'embedding_bag(table, ids, "{name}")' in calls
    assert embedding_bag.parameters[2] == "pool_type"
    for row in ROWS:
        if row[1] == "`ValueError`":
            assert "empty=" in row[3]


# -- empty= --------------------------------------------------------------------------------------------------------

TAKE = ["mean", "max", "min", "argmax", "argmin"]
SHAPES = [(), (2,)]


def per_sequence(x, name, level, empty):
    """Reduce the rows below each sequence of a level with NumPy."""
    bounds = x.lod.row_offsets(level)
    rows = [x.values[a:b] for a, b in itertools.pairwise(bounds)]
    found = [getattr(np, name)(r, axis=0) if len(r) else np.full(x.values.shape[1:], empty) for r in rows]
    return np.array(found).reshape(len(rows), *x.values.shape[1:])


@pytest.mark.parametrize("name", TAKE)
@given(batches(["f8", "i8"], SHAPES), st.data(), st.sampled_from([-1, 0, 100]))
def test_reductions_with_empty_give_it_for_empty_sequences(name, x, data_, empty):
    level = data_.draw(st.integers(0, x.num_levels - 1))
    keepdims = data_.draw(st.booleans())
    if level < x.num_levels - 1:
        x, level = x.flatten(0) if level else x, 0
    last = x.num_levels
    axis = last if level == last - 1 or name.startswith("arg") else tuple(range(level + 1, last + 1))
    call = getattr(lodcore.ops, name)
    with np.errstate(all="ignore"):
        found = call(x, axis, keepdims=keepdims, empty=empty)
        wanted = per_sequence(x, name, last - 1 if axis == last else level, empty)
    values = found.values if isinstance(found, LoDTensor) else found
    np.testing.assert_allclose(values.reshape(wanted.shape), wanted, rtol=1e-12)
    with Program() as program:
        y = call(data("x", spec_of(x)), axis, keepdims=keepdims, empty=empty)
    with np.errstate(all="ignore"):
        assert bits(Executor().run(program, {"x": x}, [y])[0]) == bits(found)
        assert bits(vjp(lambda x: call(x, axis, keepdims=keepdims, empty=empty), x)[0]) == bits(found)


@pytest.mark.parametrize("name", ["mean", "max", "min"])
@given(smooth_batches(SHAPES), st.booleans())
def test_gradients_of_reductions_with_empty(name, x, whole):
    axis = None if whole else x.num_levels
    grad_check(lambda x: getattr(x, name)(axis=axis, empty=5.0), x)
    d = vjp(lambda x: getattr(x, name)(axis=axis, empty=5.0), x[:0])[1](
        1.0 if whole else np.ones((0, *x.values.shape[1:])) if x.num_levels == 1 else None
    )[0]
    assert not d.values.size


def test_empty_fills_results_and_initial_takes_part_in_them():
    x = lodcore.array([[-3.0, -1.0], [], [-2.0]])
    assert x.max(axis=1, empty=0).tolist() == [-1, 0, -2]
    assert x.max(axis=1, initial=0).tolist() == [0, 0, 0]
    assert x.max(empty=0) == -1
    assert x[:0].max(empty=0) == 0
    assert x[1:2].mean(empty=7) == 7
    assert x[1:2].argmin(empty=-1) == -1
    assert x.mean(axis=1, where=x < -2, empty=9).tolist() == [-3, 9, 9]
    wide = LoDTensor.from_lengths(np.zeros((2, 0)), [2, 0])
    assert wide.max(axis=2, empty=4).tolist() == [[4, 4], []]
    assert wide.max(axis=(1, 2), empty=4).tolist() == [4, 4]
    assert np.array_equal(np.max(x, axis=1, initial=-9), [-1, -9, -2])


def test_a_variable_for_empty_has_a_gradient():
    x = lodcore.array([[3.0, 1.0], [], []])
    value, pullback = vjp(lambda x, e: x.max(axis=1, empty=e), x, np.float64(-1.0))
    assert value.tolist() == [3, -1, -1]
    d_x, d_e = pullback(np.array([1.0, 10.0, 100.0]))
    assert d_x.tolist() == [[1, 0], [], []]
    assert d_e == 110


def test_values_for_empty_that_the_dtype_cannot_hold_are_refused():
    x, ids = NAMES["x"], NAMES["ids"]
    for call, error, says in (
        (lambda: ids.max(axis=1, empty=-np.inf), DTypeError, "max: empty: is -inf; int64 cannot hold it"),
        *[
            (
                lambda name=name: getattr(x.astype("f4"), name)(axis=1, empty=1e300),
                DTypeError,
                rf"{name}: empty: is 1e\+300; float32 cannot hold it",
            )
            for name in ("max", "min", "mean")
        ],
        (lambda: x.argmax(axis=1, empty=0.5), DTypeError, "argmax: empty: is 0.5; int64 cannot hold it"),
        (lambda: x.mean(axis=1, empty=[1, 2]), DTypeError, r"mean: empty: has shape \(2,\); a number is needed"),
        (lambda: x.min(axis=1, empty="a"), DTypeError, "min: empty: has dtype <U1; float64 cannot hold it"),
        (lambda: x.max(axis=1, empty=0, initial=1), ValueError, "max: empty, initial: are 0, 1.*one of them"),
        (lambda: x.max(axis=1, where=x > 1, empty=0), ValueError, "max: where: needs an initial value"),
        (
            lambda: x.max(axis=1),
            ValueError,
            "max: sequence 1 of level 0 is empty; give empty= to x.max, or an initial value",
        ),
        (lambda: x.argmin(axis=1), ValueError, "argmin: sequence 1 of level 0 is empty; give empty="),
        (lambda: x[:0].argmax(), ValueError, "argmax: x: has no values to reduce, .*; give empty="),
    ):
        with pytest.raises(error, match=says):
            call()
        with pytest.raises(error, match=says), Program():
            call()
        with pytest.raises(error, match=says):
            vjp(lambda _, call=call: call(), x)


SHORT = lodcore.array([[1.0, 3.0, 2.0, 7.0], [4.0], [], [2.0, 2.0, 5.0], [6.0, 6.0]])

ROLLING = ["sum", "mean", "max", "min", "var", "std", "median"]

CALLS = {
    **{
        f"rolling {kind} of {size}, at least {least}": lambda x, kind=kind, size=size, least=least: (
            ops.sequence_rolling(x, size, kind, min_periods=least)
        )
        for kind in ROLLING
        for size, least in [(3, None), (2, 2), (4, 2), (3, 3), (2, 1)]
    },
    **{
        f"{name}, ddof {ddof}": lambda x, name=name, ddof=ddof: getattr(ops, name)(x, ddof=ddof)
        for name in ("sequence_std", "sequence_var")
        for ddof in (0, 1, 2, 3)
    },
    **{f"pool {kind}": lambda x, kind=kind: ops.sequence_pool(x, kind, pad_value=np.nan) for kind in ("mean", "max")},
    "quantile": lambda x: ops.sequence_quantile(x, 0.3),
    "logsumexp": ops.sequence_logsumexp,
    "difference": ops.sequence_diff,
    "shift": lambda x: ops.sequence_shift(x, 2, np.nan),
}


@for_each("name", CALLS)
@pytest.mark.parametrize("width", [0, 2])
def test_gradients_of_undefined_results_are_finite_and_do_not_contribute(name, width):
    call = CALLS[name]
    x = lodcore.LoDTensor(np.stack([SHORT.values, -SHORT.values], 1), SHORT.lod) if width else SHORT
    with np.errstate(all="ignore"):
        out, back = lodcore.vjp(call, x)
        rows = np.asarray(getattr(out, "values", out))
        all_ones, held = np.ones_like(rows), np.where(np.isfinite(rows), 1.0, 0.0)
        (found,), (wanted,) = back(all_ones), back(held)
    assert np.isfinite(found.values).all(), found
    np.testing.assert_array_equal(found.values, wanted.values)
