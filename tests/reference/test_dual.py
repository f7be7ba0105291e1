"""Numbers that carry their derivatives, and the functions of real numbers that oracles use."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import reals
from reference.dtypes import wrapped
from reference.dual import Dual, derivatives, value

pytestmark = pytest.mark.not_on_reference  # no kernels

FUNCTIONS = {
    "sum": lambda x, y: x + y + 2,
    "radd": lambda x, y: 3 + x + sum([x, y]),
    "difference": lambda x, y: x - y - 1,
    "rsub": lambda x, y: 2 - x,
    "product": lambda x, y: x * y * 3,
    "rmul": lambda x, y: 2 * x,
    "quotient": lambda x, y: x / (y + 3),
    "rdiv": lambda x, y: 2 / (x + 3) - 4 / (3 + y * y),
    "half": lambda x, y: x / 2,
    "signs": lambda x, y: -x + abs(y) - (+x),
    "largest": lambda x, y: max(x, y) * 2 if x < y else min(x * x, y),
    "exp": lambda x, y: reals.exp(x * y),
    "log": lambda x, y: reals.log(x * x + 1),
    "sqrt": lambda x, y: reals.sqrt(y * y + 1),
    "tanh": lambda x, y: reals.tanh(x) * reals.exp(-y),
    "divide": lambda x, y: reals.divide(x, y * y + 1) + reals.divide(1, x * x + 1),
    "several": lambda x, y: math.prod([x, y, x]) + sum(x * y for _ in range(3)),
}
NUMBERS = st.floats(-2, 2).filter(lambda x: abs(x) > 1e-3)
STEP = 1e-6


@pytest.mark.parametrize("name", FUNCTIONS)
@given(NUMBERS, NUMBERS)
def test_derivatives_are_exact(name, x, y):
    if abs(x - y) < 1e-3 or abs(x * x - y) < 1e-3:  # near a kink
        return
    function = FUNCTIONS[name]
    made = function(Dual(x, {"x": 1.0}), Dual(y, {"y": 1.0}))
    assert value(made) == function(x, y)
    measured = {
        "x": (function(x + STEP, y) - function(x - STEP, y)) / (2 * STEP),
        "y": (function(x, y + STEP) - function(x, y - STEP)) / (2 * STEP),
    }
    for variable, derivative in measured.items():
        assert derivatives(made).get(variable, 0.0) == pytest.approx(derivative, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "tanh"])
@pytest.mark.parametrize("x", [0, 0.0, -0.0, 1, -1.5, 800.0, -800.0, math.inf, -math.inf, math.nan])
def test_functions_are_those_of_floats(name, x):
    with np.errstate(all="ignore"):
        want = float(getattr(np, name)(np.float64(x)))
    for given_number in (x, Dual(x, {})):
        assert value(getattr(reals, name)(given_number)) == pytest.approx(want, rel=1e-14, nan_ok=True)


@pytest.mark.parametrize("x", [0.0, 1, -1.5, math.inf, math.nan])
@pytest.mark.parametrize("y", [0.0, -0.0, 2, math.inf, math.nan])
def test_quotients_are_those_of_floats(x, y):
    with np.errstate(all="ignore"):
        want = float(np.divide(np.float64(x), np.float64(y)))
    for quotient in (reals.divide(x, y), Dual(x, {}) / y, x / Dual(y, {}), Dual(x, {}) / Dual(y, {})):
        assert repr(value(quotient)) == repr(want)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("number", [0, 255, 256, -1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 + 5, -(2**63) - 1])
def test_whole_numbers_wrap_around(number, dtype):
    assert wrapped(number, dtype) == np.array(number % 2**64, np.uint64).astype(dtype)
    assert wrapped(0.5, "float32") == 0.5


def test_comparisons_look_at_the_number():
    one, same, two = Dual(1.0, {"a": 5.0}), Dual(1.0, {}), Dual(2.0, {})
    assert one == same == 1.0
    assert hash(one) == hash(1.0)
    assert one != two
    assert one < two <= 2 < 3 * two
    assert two > one >= 1
    assert not Dual(0.0, {"a": 1.0})
    assert Dual(math.nan, {}) != math.nan
    assert sorted([two, one]) == [one, two]
    assert max([one, same]) is one


@pytest.mark.parametrize("convert", [float, int, math.exp, lambda x: [0, 1][x]])
def test_derivatives_are_not_lost_in_silence(convert):
    with pytest.raises(TypeError):
        convert(Dual(1.0, {"a": 1.0}))


#: Functions at their kinks, and beyond their domains: at, value, derivative.
KINKS = [
    (abs, -2.0, 2.0, -1.0),
    (abs, -0.0, 0.0, 0.0),
    (abs, 0.0, 0.0, 0.0),
    (abs, 3.0, 3.0, 1.0),
    (abs, -math.inf, math.inf, -1.0),
    (lambda x: max(x, 1.0), 1.0, 1.0, 1.0),  # the first of equal ones
    (lambda x: max(1.0, x), 1.0, 1.0, 0.0),
    (lambda x: min(x, 1.0), 1.0, 1.0, 1.0),
    (lambda x: min(1.0, x), 1.0, 1.0, 0.0),
    (lambda x: max(x, 0.0), -1.0, 0.0, 0.0),
    (reals.sqrt, 0.0, 0.0, math.inf),
    (reals.sqrt, -1.0, math.nan, math.nan),
    (reals.log, 0.0, -math.inf, math.inf),
    (reals.log, -0.0, -math.inf, -math.inf),
    (reals.log, -1.0, math.nan, -1.0),
    (reals.exp, -math.inf, 0.0, 0.0),
    (reals.exp, 1000.0, math.inf, math.inf),
    (reals.tanh, math.inf, 1.0, 0.0),
    (reals.tanh, 0.0, 0.0, 1.0),
    (lambda x: 1 / x, 0.0, math.inf, -math.inf),
    (lambda x: 1 / x, -2.0, -0.5, -0.25),
    (lambda x: x / 0.0, -1.0, -math.inf, math.inf),
    (lambda x: x * x * x, -2.0, -8.0, 12.0),
    (lambda x: x - x, math.inf, math.nan, 0.0),
    (lambda x: x * 0.0, math.inf, math.nan, 0.0),
    (lambda x: -x, -0.0, 0.0, -1.0),
    (lambda x: +x, 2.0, 2.0, 1.0),
    (reals.floating, 2.0, 2.0, 1.0),
    (lambda x: reals.times(x, math.inf), 0.0, 0.0, math.inf),
    (lambda x: reals.times(x, 3.0), 2.0, 6.0, 3.0),
    (lambda x: reals.times(math.inf, x), 0.0, math.nan, math.inf),
    (lambda x: reals.times(x, math.nan), 0.0, math.nan, math.nan),
    (lambda x: reals.add_up([x, x, 1.0]), 2.0, 5.0, 2.0),
    (lambda x: reals.add_up([x, x], x), 2.0, 6.0, 3.0),
]


@pytest.mark.parametrize(("function", "at", "result", "derivative"), KINKS)
def test_derivatives_at_kinks(function, at, result, derivative):
    made = function(Dual(at, {"x": 1.0}))
    assert value(made) == pytest.approx(result, nan_ok=True)
    assert math.copysign(1, value(made)) == math.copysign(1, result) or result != result
    assert derivatives(made).get("x", 0.0) == pytest.approx(derivative, nan_ok=True)


def test_add_up_adds_numbers_from_first_to_last():
    assert reals.add_up([0.1] * 10) == 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 != 1.0
    assert reals.add_up([1e16, 1.0, -1e16]) == 0.0
    assert reals.add_up([], 3) == 3
