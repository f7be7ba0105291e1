"""The result for a sequence does not depend on the number of other sequences, or on the width of rows.

Numbers of rows, sequences and widths are drawn from few numbers, so that they often coincide.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import Executor, LoDTensor, Program, data, ops, vjp
from lodcore.operators.roles import spec_of
from lodcore.testing.samples import bits
from tests.helpers.with_lists import aligned_lists

pytestmark = pytest.mark.not_on_reference  # other tests compare their results with those of the compiled kernels

FEW = st.integers(1, 3)


def numbers(*shape):
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape) / 4


@st.composite
def coinciding(draw, levels=(1, 2), empty=True):
    """Draw a batch (n, None, D) or (n, None, None, D) whose counts are often equal."""
    count, given_ = draw(FEW), []
    for _ in range(draw(st.sampled_from(levels))):
        given_.append(draw(st.lists(st.integers(0 if empty else 1, 3), min_size=count, max_size=count)))
        count = sum(given_[-1])
    return LoDTensor.from_lengths(numbers(count, draw(FEW)), *given_)


def written(x, key, v):
    y = x.copy()
    y[key] = v
    return y


def added(x, v):
    return np.add(x, v, out=x.copy())


#: Texts whose result for each sequence is separate, for any batch, with `x.shape == (n, None, D)`.
FLAT = {
    "centre": lambda x: x - x.mean(axis=1, keepdims=True),
    "share": lambda x: x / x.sum(axis=1, keepdims=True),
    "reflected": lambda x: x.max(axis=1, keepdims=True, empty=0) - x,
    "ufunc": lambda x: np.maximum(x.mean(axis=1, keepdims=True), x),
    "where": lambda x: np.where(x > x.mean(axis=1, keepdims=True), x, x.sum(axis=1, keepdims=True)),
    "clip": lambda x: np.clip(x, x.mean(axis=1, keepdims=True) - 0.5, x.mean(axis=(1, 2), keepdims=True) + 1),
    "rows": lambda x: x - x.mean(axis=2, keepdims=True),
    "all of a sequence": lambda x: x * x.sum(axis=(1, 2), keepdims=True),
    "width": lambda x: x * np.arange(1.0, 1 + x.shape[-1]),
    "width as a row": lambda x: x + np.arange(1.0, 1 + x.shape[-1]).reshape(1, -1),
    "width as a batch": lambda x: x + np.arange(1.0, 1 + x.shape[-1]).reshape(1, 1, -1),
    "one entry per row": lambda x: x * x.with_values(ops.sum(x.values, axis=1)),
    "one entry per sequence": lambda x: x * x.per_sequence(x.sum(axis=(1, 2))),
    "one row per sequence": lambda x: x - x.per_sequence(x.sum(axis=1)),
}
#: The same for two levels.
DEEP = {
    "centre the inner": lambda x: x - x.mean(axis=2, keepdims=True),
    "centre the outer": lambda x: x - x.mean(axis=(1, 2), keepdims=True),
    "both": lambda x: x - x.mean(axis=2, keepdims=True) * x.mean(axis=(1, 2), keepdims=True),
    "inner structure": lambda x: x.mean(axis=2, keepdims=True) + x,
    "where": lambda x: np.where(x > x.mean(axis=2, keepdims=True), x, x.mean(axis=(1, 2), keepdims=True)),
    "per sequence": lambda x: x - x.per_sequence(x.mean(axis=2), 1) + x.per_sequence(x.sum(axis=(1, 2)), 0),
    "row": lambda x: x / x.sum(axis=3, keepdims=True),
}
#: Texts that write, and are not recorded.
WRITTEN = {
    "assign a number per sequence": lambda x: written(x, slice(None), x.sum(axis=1, keepdims=True)),
    "assign by a mask": lambda x: written(x, x.sum(axis=2) > 3, -1.0),
    "assign to all": lambda x: written(x, ..., x.mean(axis=2, keepdims=True)),
    "out": lambda x: added(x, x.mean(axis=1, keepdims=True)),
}


def alone(function, x, at):
    """Compute the result of one sequence alone."""
    with np.errstate(all="ignore"):
        return function(x[at : at + 1])


def assert_each_gets_its_own(function, x):
    with np.errstate(all="ignore"):
        whole = function(x)
    assert whole.lod is x.lod or whole.lod == x.lod
    for at in range(len(x)):
        one = alone(function, x, at)
        found, wanted = (part.values if isinstance(part, LoDTensor) else part for part in (whole[at], one[0]))
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [*FLAT, *WRITTEN])
@given(coinciding((1,)))
def test_a_function_of_a_batch_equals_that_of_each_sequence_alone(name, x):
    assert_each_gets_its_own({**FLAT, **WRITTEN}[name], x)


@pytest.mark.parametrize("name", DEEP)
@given(coinciding((2,)))
def test_a_function_of_a_nested_batch_equals_that_of_each_sequence_alone(name, x):
    assert_each_gets_its_own(DEEP[name], x)


@pytest.mark.parametrize(("levels", "name"), [*((1, name) for name in FLAT), *((2, name) for name in DEEP)])
@given(st.data())
def test_functions_give_the_same_in_programs_and_under_vjp(levels, name, data_):
    x = data_.draw(coinciding((levels,), empty=False))
    function = {1: FLAT, 2: DEEP}[levels][name]
    with np.errstate(all="ignore"):
        eager = function(x)
        with Program() as program:
            y = function(data("x", spec_of(x)))
        assert bits(Executor().run(program, {"x": x}, [y])[0]) == bits(eager)
        found, pullback = vjp(function, x)
        assert bits(found) == bits(eager)
        (derivatives,) = pullback(np.ones(x.values.shape))
        assert derivatives.lod is x.lod
        for at in range(len(x)):  # no sequence has a derivative with respect to another one
            d = np.zeros(x.values.shape)
            first, last = x.lod.row_offsets(0)[at : at + 2]
            d[first:last] = 1
            one = vjp(function, x[at : at + 1])[1](np.ones((last - first, x.values.shape[1])))[0]
            mine = vjp(function, x)[1](d)[0]
            np.testing.assert_allclose(mine.values[first:last], one.values, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(derivatives.values[first:last], one.values, rtol=1e-10, atol=1e-10)
            assert not mine.values[:first].any()
            assert not mine.values[last:].any()


# -- any dense operand, any way to compute, compared with nested lists -------------------------------------------------

WAYS = {
    "operator": lambda x, v: x - v,
    "reflected": lambda x, v: v - x,
    "ufunc": lambda x, v: np.subtract(x, v),
    "ufunc, reflected": lambda x, v: np.subtract(v, x),
    "where": lambda x, v: np.where(x > 0, x, v) * 0 + x - v,
    "clip": lambda x, v: np.clip(x, v, None),
    "comparison": lambda x, v: x < v,
    "dtype": lambda x, v: np.subtract(x, v, dtype=np.float64),
}
MEANINGS = {
    "reflected": lambda a, b: b - a,
    "ufunc, reflected": lambda a, b: b - a,
    "clip": max,
    "comparison": lambda a, b: a < b,
}


@pytest.mark.parametrize("way", WAYS)
@given(coinciding(), st.data())
def test_dense_operands_align_as_on_nested_lists(way, x, data_):
    sizes = sorted({1, len(x), x.num_rows, x.values.shape[1], x.lod.num_sequences(-1)})
    v = numbers(*data_.draw(st.lists(st.sampled_from(sizes), min_size=1, max_size=x.ndim + 1)))
    meaning = MEANINGS.get(way, lambda a, b: a - b)
    wanted = aligned_lists(meaning, x.tolist(), x.num_levels, x.values.shape[1], v)
    function = WAYS[way]
    with Program() as program:
        place = data("v", (None,) * v.ndim, "float64")
        try:
            y = function(data("x", spec_of(x)), place) if way != "dtype" else None
        except ValueError as error:
            y = error
    if wanted is None:
        with pytest.raises(lodcore.ShapeError, match=r"with_values\(v\).*per_sequence\(v\)"):
            function(x, v)
        if way != "dtype" and not isinstance(y, ValueError):
            with pytest.raises(lodcore.ShapeError):
                Executor().run(program, {"x": x, "v": v}, [y])
        return
    found = function(x, v)
    assert found.lod is x.lod
    lodcore.testing.assert_equal(found, wanted)
    if way != "dtype":
        assert bits(Executor().run(program, {"x": x, "v": v}, [y])[0]) == bits(found)
    if way in ("operator", "reflected", "ufunc"):  # the derivative of v accumulates the uses of its entries
        d = numbers(*found.values.shape)
        d_x, d_v = vjp(function, x, v)[1](d)
        sign = -1 if way == "reflected" else 1
        each = [
            vjp(function, x, v)[1](np.where(np.arange(len(d)) == row, 1.0, 0).reshape(-1, 1) * d)[1]
            for row in range(len(d))
        ]
        assert d_x.lod is x.lod
        np.testing.assert_allclose(d_v, sum(each, np.zeros(v.shape)), rtol=1e-12)
        np.testing.assert_allclose(d_v.sum(), -sign * d.sum(), rtol=1e-12)
