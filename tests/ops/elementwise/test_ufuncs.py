"""The gradient of every ufunc at negative numbers, zeros of both signs, ties, infinities and nan: stated by hand."""

import itertools
import math

import numpy as np
import pytest

import lodcore
from lodcore import ops
from lodcore.ops.elementwise.ufuncs import UFUNC_RULES

pytestmark = pytest.mark.not_on_reference  # no kernels

INF, NAN = math.inf, math.nan
POINTS = [-INF, -2.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.5, INF, NAN]
D = 3.0  # the cotangent
F = np.float64  # divides by 0, and computes roots of negative numbers, as NumPy does


def sign(x):
    """Return the sign of a number; 0 at 0, nan for nan."""
    return x if x != x else (x > 0) - (x < 0)


def root(x):
    return np.sqrt(F(x))


#: The derivative of a function of one number.
UNARY = {
    "exp": np.exp,
    "log": lambda x: 1 / F(x),
    "sqrt": lambda x: 0.5 / root(x),
    "tanh": lambda x: 1 / np.cosh(x) ** 2,
    "negative": lambda x: -1.0,
    "positive": lambda x: 1.0,
    "conjugate": lambda x: 1.0,
    "absolute": sign,
    "fabs": sign,
    "square": lambda x: 2 * x,
    "reciprocal": lambda x: -1 / F(x) ** 2,
    "cbrt": lambda x: 1 / (3 * np.cbrt(F(x)) ** 2),
    "exp2": lambda x: np.exp2(x) * math.log(2),
    "expm1": np.exp,
    "log2": lambda x: 1 / F(x) / math.log(2),
    "log10": lambda x: 1 / F(x) / math.log(10),
    "log1p": lambda x: 1 / (F(x) + 1),
    "sin": np.cos,
    "cos": lambda x: -np.sin(x),
    "tan": lambda x: 1 / np.cos(x) ** 2,
    "arcsin": lambda x: 1 / root(1 - x**2),
    "arccos": lambda x: -1 / root(1 - x**2),
    "arctan": lambda x: 1 / (F(x) ** 2 + 1),
    "sinh": np.cosh,
    "cosh": np.sinh,
    "arcsinh": lambda x: 1 / root(x**2 + 1),
    "arccosh": lambda x: 1 / (root(x - 1) * root(x + 1)),
    "arctanh": lambda x: 1 / (1 - F(x) ** 2),
    "deg2rad": lambda x: math.pi / 180,
    "radians": lambda x: math.pi / 180,
    "rad2deg": lambda x: 180 / math.pi,
    "degrees": lambda x: 180 / math.pi,
    **dict.fromkeys(["floor", "ceil", "rint", "trunc", "sign"], lambda x: 0.0),
}
OPERATORS = {"sigmoid": lambda x: 1 / (2 + np.exp(x) + np.exp(-x)), "relu": lambda x: float(x > 0)}


def to_first(first):
    """Make the derivatives of a selection: 1 and 0 where the first operand is selected."""
    return (1.0, 0.0) if first else (0.0, 1.0)


def ratio(one, other):
    """Divide; 0 by 0 is 0."""
    return 0.0 if other == 0 else F(one) / other


def direction(x, y):
    """Return x / hypot(x, y); beside infinities finite numbers are 0, and infinities are as equal numbers."""
    if math.inf in (abs(x), abs(y)):
        x, y = (one if one != one else sign(one) * (abs(one) == math.inf) for one in (x, y))
    return NAN if y != y else ratio(x, np.hypot(x, y))


def power(x, y):
    """Return the derivatives of x**y; that with respect to y is 0 unless x is positive, or 0 and its power infinite."""
    lower, made = np.power([x, x], [y - 1.0, y])  # of arrays, since NumPy takes the root of a number for 0.5
    if made and (x > 0 or (x == 0 and math.isinf(made))):
        by_exponent = made * np.log(F(x))
    else:
        by_exponent = made if made != made else 0.0
    return (y * lower if y and lower else 0.0), by_exponent


def share(one, other, power):
    """Return the share of one of two powers in their sum: half, also of infinities, if they are equal."""
    return 0.5 if one == other else 1 / (1 + power(F(other) - one))


#: The derivatives of a function of two numbers.
BINARY = {
    "add": lambda x, y: (1.0, 1.0),
    "subtract": lambda x, y: (1.0, -1.0),
    "multiply": lambda x, y: (y, x),
    "divide": lambda x, y: (1 / F(y), -(F(x) / F(y)) / F(y)),
    "maximum": lambda x, y: to_first(x != x or (y == y and x >= y)),
    "minimum": lambda x, y: to_first(x != x or (y == y and x <= y)),
    "fmax": lambda x, y: to_first(y != y or x >= y),
    "fmin": lambda x, y: to_first(y != y or x <= y),
    "power": power,
    "float_power": power,
    "remainder": lambda x, y: (1.0, -np.floor_divide(F(x), y)),
    "fmod": lambda x, y: (1.0, -np.trunc(F(x) / y)),
    "arctan2": lambda x, y: (direction(y, x) / (np.hypot(x, y) or 1), -direction(x, y) / (np.hypot(x, y) or 1)),
    "hypot": lambda x, y: (direction(x, y), direction(y, x)),
    "logaddexp": lambda x, y: (share(x, y, np.exp), share(y, x, np.exp)),
    "logaddexp2": lambda x, y: (share(x, y, np.exp2), share(y, x, np.exp2)),
    "copysign": lambda x, y: (sign(x) * math.copysign(1, y), 0.0),
    "floor_divide": lambda x, y: (0.0, 0.0),
    "heaviside": lambda x, y: (0.0, 0.0),
}


def test_table_states_the_gradient_of_every_ufunc():
    assert UFUNC_RULES.keys() == UNARY.keys() | BINARY.keys()


def derivatives_of(function, *columns):
    """Compute gradients of a batch of one row per case."""
    given = [lodcore.LoDTensor.from_lengths(np.array(column), [len(column)]) for column in columns]
    found, pullback = lodcore.vjp(function, *given)
    assert found.shape == given[0].shape
    return [x.values for x in pullback(np.full(len(columns[0]), D))]


def assert_derivatives(cases, found, wanted):
    for case, one, other in zip(cases, found, wanted, strict=True):
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True), case


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", [*UNARY, *OPERATORS])
def test_derivatives_of_one_operand(name):
    operator = getattr(lodcore.ops, name, None) if name in OPERATORS else getattr(np, name)
    (found,) = derivatives_of(operator, POINTS)
    derivative = UNARY[name] if name in UNARY else OPERATORS[name]
    assert_derivatives(POINTS, found, [D * derivative(x) for x in POINTS])


@np.errstate(all="ignore")
@pytest.mark.parametrize("name", BINARY)
def test_derivatives_of_two_operands(name):
    pairs = list(itertools.product(POINTS, POINTS))
    found = derivatives_of(getattr(np, name), *zip(*pairs, strict=True))
    for side in (0, 1):
        assert_derivatives(pairs, found[side], [D * BINARY[name](*pair)[side] for pair in pairs])


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", [name for name in BINARY if name != "heaviside"])
def test_gradients_beside_an_operand_of_another_dtype_are_those_beside_float64(name, place):
    """Neither wrap where the dtype of the partner cannot hold a square, nor are computed in half precision."""
    function, x = getattr(np, name), np.array([2.0, 0.5, 3.0])
    for partner in (np.int8([3, 100, 7]), np.uint8([3, 200, 7]), np.int64([3, 2**33, 7]), np.float16([3, 300, 7])):
        values = np.minimum(partner, 9).astype(partner.dtype) if "power" in name else partner

        def gradient(values, place=place):
            given = [values, values]
            given[place] = x
            found, pullback = lodcore.vjp(lambda x: function(*[x if one is given[place] else one for one in given]), x)
            return pullback(np.ones_like(found))[0]

        np.testing.assert_allclose(gradient(values), gradient(values.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_of_logaddexp_at_large_numbers_have_the_sum_1(name, dtype):
    """The result is rounded to the greater operand, whose share is not 1 for that."""
    large = np.finfo(dtype).max / 4
    x, y = np.array([large, -large, large, large, 0, -12], dtype), np.array([large, -large, -large, 1, 12, 0], dtype)
    found = lodcore.vjp(getattr(np, name), x, y)[1](np.ones(6, dtype))
    assert [one.dtype for one in found] == [dtype, dtype]
    np.testing.assert_allclose(found[0] + found[1], np.ones(6), rtol=np.finfo(dtype).eps)
    assert found[0][:4].tolist() == [0.5, 0.5, 1, 1]
    assert (found[0][4:] > 0).all()


def test_gradients_of_arctan2_at_large_numbers_and_of_the_sign_of_a_truth():
    assert lodcore.value_and_grad(lambda x: np.arctan2(x, 1e200))(np.float64(2.0))[1] == 1e-200
    assert lodcore.value_and_grad(lambda x: np.copysign(True, x))(np.float64(-2.0))[1] == 0


@np.errstate(over="ignore")
@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_arctan2_at_the_least_numbers_along_an_axis_are_not_nan(axis):
    x = [np.float64(5e-324), np.float64(0)]
    found = lodcore.vjp(np.arctan2, *(x if axis == 0 else x[::-1]))[1](np.float64(1))
    assert found[axis] == 0


@np.errstate(over="ignore")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_of_a_length_that_overflows_are_those_of_its_direction(dtype):
    large = np.array([np.finfo(dtype).max, 1], dtype)
    found, pullback = lodcore.vjp(np.hypot, large, -large)
    assert found[0] == INF
    for one, wanted in zip(pullback(np.ones(2, dtype)), (math.sqrt(0.5), -math.sqrt(0.5)), strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one, [wanted] * 2, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_of_the_least_lengths_are_those_of_their_direction(dtype):
    """Such a length has no digits of its own: hypot(least, least) is least."""
    least = np.array([np.finfo(dtype).smallest_subnormal, 1], dtype)
    for one, wanted in zip(lodcore.vjp(np.hypot, least, -3 * least)[1](np.ones(2, dtype)), (1, -3), strict=True):
        np.testing.assert_allclose(one, [wanted / math.sqrt(10)] * 2, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_gradients_of_a_length_have_the_same_bits_beside_lengths_without_a_limit_and_in_a_cell(dtype):
    rng = np.random.default_rng(0)
    x, y, d = rng.normal(size=(3, 50)).astype(dtype)
    limits = np.array([[0, 0], [INF, 1], [NAN, 1], [np.finfo(dtype).smallest_subnormal, 0]], dtype).T
    wanted = [part.tobytes() for part in lodcore.vjp(np.hypot, x, y)[1](d)]
    beside = [np.concatenate([one, limit]) for one, limit in zip((x, y), limits, strict=True)]
    cotangent = np.concatenate([d, np.ones(4, dtype)])
    found = lodcore.vjp(np.hypot, *beside)[1](cotangent)
    assert [part[:50].tobytes() for part in found] == wanted
    rows = [lodcore.LoDTensor.from_lengths(part[:, None], [54]) for part in beside]
    state = np.zeros((1, 1), dtype)
    outputs, pullback = lodcore.vjp(
        lambda *rows: lodcore.nn.dynamic_rnn(lambda _, row, state: (np.hypot(*row), state), None, rows, state)[0], *rows
    )
    gradients = pullback(outputs.with_values(cotangent[:, None]))
    assert [part.values.tobytes() for part in gradients] == [part.tobytes() for part in found]


@pytest.mark.parametrize("name", ["power", "float_power"])
def test_gradients_of_complex_exponents_of_real_numbers(name):
    x, y = np.array([-1.5, 2.0, 0.0]), np.array([1 + 1j, 1 + 1j, 2 - 1j])
    found, pullback = lodcore.vjp(getattr(np, name), x, y)
    with np.errstate(all="ignore"):
        wanted = np.conj(np.where(x != 0, found * np.log(x + 0j), 0))
    np.testing.assert_allclose(pullback(np.ones(3, complex))[1], wanted, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "large"), [("f2", 300), ("f4", 1e20), ("f8", 1e160)])
def test_gradients_whose_squares_the_dtype_cannot_hold(dtype, large):
    large, one = np.dtype(dtype).type(large), np.dtype(dtype).type(1)
    assert lodcore.vjp(np.arcsinh, large)[1](one)[0] == pytest.approx(1 / large, rel=2e-3)
    small = 1 / large
    for y in (small, np.zeros_like(small)):
        first, second = lodcore.vjp(np.arctan2, small, y)[1](one)
        length = float(small) ** 2 + float(y) ** 2
        assert first == pytest.approx(float(y) / length, rel=5e-3)
        assert second == pytest.approx(-float(small) / length, rel=5e-3)


def of_complex(name):
    """Return whether NumPy's function takes complex numbers, and its results are not chosen by comparison."""
    function = getattr(np, name)
    return any("D" in types.partition("->")[0] for types in function.types) and name not in CHOSEN


CHOSEN = {"maximum", "minimum", "fmax", "fmin"}


@pytest.mark.parametrize("name", [*filter(of_complex, UFUNC_RULES)])
def test_gradients_at_complex_numbers_are_those_of_differences(name):
    """Of the real part of a weighted sum, along the real and along the imaginary axis."""
    draw = np.random.default_rng(0).normal
    z, w, weights = draw(size=(3, 6)) + 1j * draw(size=(3, 6))
    function = getattr(np, name)
    given = [z, w][: function.nin]
    found, pullback = lodcore.vjp(function, *given)
    weights = weights if np.iscomplexobj(found) else weights.real
    for k, gradient in enumerate(pullback(np.conj(weights))):
        wanted = np.zeros(6, complex)
        for step in (1e-6, 1e-6j):
            later, before = ([*given[:k], given[k] + sign * step, *given[k + 1 :]] for sign in (1, -1))
            change = (weights * (function(*later) - function(*before))).real / 2e-6
            wanted += change * step * 1e6
        np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_gradients_of_maximum_and_minimum_at_ties_with_numbers(name):
    """Also if an operand is a Python number."""
    x = lodcore.array([[1.0, 2.0]])
    wanted = {"maximum": [1.0, 1.0], "fmax": [1.0, 1.0], "minimum": [1.0, 0.0], "fmin": [1.0, 0.0]}[name]
    _, pullback = lodcore.vjp(lambda v: getattr(np, name)(v, 1.0), x)
    assert pullback(np.ones(2))[0].values.tolist() == wanted
    _, pullback = lodcore.vjp(lambda a, b: lodcore.ops.elementwise([a, b], getattr(np, name)), 1.0, 1.0)
    assert list(map(float, pullback(1.0))) == [1.0, 0.0]


INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f2"])
@pytest.mark.parametrize("name", ["sigmoid", "tanh", "exp", "sqrt"])
def test_functions_at_the_ends_of_a_dtype_equal_float64(name, dtype):
    kind = np.dtype(dtype).kind
    ends = {"b": [False, True], "f": [-65504, 65504, -6e-8]}.get(kind) or [np.iinfo(dtype).min, np.iinfo(dtype).max]
    x = np.array([*ends, 0, 1], dtype)
    with np.errstate(all="ignore"):
        found = getattr(ops, name)(x)
        wanted = getattr(ops, name)(x.astype(np.float64)).astype(found.dtype)
    close = 1e-3 if found.dtype == np.float16 else 1e-6
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=close)
