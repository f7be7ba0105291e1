"""The vjp rules of NumPy's elementwise functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.operators.choices import choose
from lodcore.operators.vjp_rules import VJPRule

__all__ = ["UFUNC_RULES", "rule_of_ufunc", "vjp_of_ufunc"]

LOG_2, LOG_10 = float(np.log(2)), float(np.log(10))


def _ratio(d: Any, a: Any, b: Any) -> Any:
    """Compute d * a / b, 0 where b is 0."""
    return d * np.divide(a, b, out=np.zeros_like(b), where=b != 0)


def _polar(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Return x and y divided by their length, and the length; infinities count as equal numbers, and 0 stays 0."""
    x, y = np.multiply(x, 1.0), np.multiply(y, 1.0)  # the size of the least integer is none
    sizes = np.abs(x), np.abs(y)
    most = np.maximum(*sizes)
    with np.errstate(invalid="ignore"):  # infinity, or 0, divided by itself
        x, y = (choose(np.equal(size, most), np.sign(one), one / most) for one, size in zip((x, y), sizes, strict=True))
    length = np.maximum(np.sqrt(x * x + y * y), 1)  # unless both are 0, the greater one is 1
    return x / length, y / length, most * length


def _hypot(d: Any, out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    plain = np.logical_and(np.greater_equal(out, np.finfo(out.dtype).tiny), np.less(out, np.inf))
    if type(out) is np.ndarray and plain.all():  # not while a cell is compiled, which has no numbers yet
        return d * (x / out), d * (y / out)
    length, limits = choose(plain, out, 1), _polar(x, y)
    return d * choose(plain, x / length, limits[0]), d * choose(plain, y / length, limits[1])


def _arctan2(d: Any, x: Any, y: Any) -> tuple[Any, Any]:
    x, y, length = _polar(x, y)
    length = choose(np.equal(length, 0), 1, length)
    return d * y / length, -d * x / length


def _direction(x: Any) -> Any:
    """Return the derivative of the absolute value; of a complex number, its conjugate of length 1."""
    return np.sign(x) if not np.iscomplexobj(x) else _ratio(np.conj(x), 1.0, np.abs(x))


def _to_winner(d: Any, second: Any, needs: Any) -> tuple[Any, Any]:
    """Return the cotangents of both operands: all of it, even if it is infinite, goes to the selected one."""
    return choose(second, 0, d) if needs.x else None, choose(second, d, 0) if needs.y else None


def _power(d: Any, out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        by_base = _times(y, np.power(x, y - 1.0))  # in the dtype of x, if y is a number
        has_log = np.not_equal(x, 0) if np.iscomplexobj(out) else np.greater(x, 0)
        one, zero = out.dtype.type(1), out.dtype.type(0)
        at_zero = np.where(np.equal(np.abs(out), np.inf), zero, one)
        base = np.where(has_log, x, np.where(np.equal(x, 0), at_zero, one))
        by_exponent = _times(out, np.log(base))
    return d * by_base, d * by_exponent


def _times(a: Any, b: Any) -> Any:
    """Multiply; 0 times infinity is 0, since a power falls faster than its exponent or a logarithm grows."""
    product = a * b
    found = np.where(np.equal(np.abs(a), np.inf), np.where(np.equal(b, 0), 0, product), product)
    return np.where(np.equal(a, 0), 0, found)


def _sign(d: Any, out: Any, x: Any) -> Any:
    """Return 0 for real numbers; the sign of a complex one, which has length 1, turns with it."""
    return _ratio(d - np.real(d * out) * np.conj(out), 1.0, np.abs(x)) if np.iscomplexobj(x) else None


def _shares(d: Any, x: Any, y: Any, power: Callable[..., Any]) -> tuple[Any, Any]:
    """Share d by the powers of x and y; equal infinities get half of it each, as equal numbers do."""
    with np.errstate(over="ignore", invalid="ignore"):
        apart = choose(np.equal(x, y), 0, np.abs(np.subtract(x, y)))
    lesser = power(-apart)  # that of the greater one is 1
    greater = np.greater_equal(x, y), np.greater_equal(y, x)
    return d * choose(greater[0], 1, lesser) / (1 + lesser), d * choose(greater[1], 1, lesser) / (1 + lesser)


#: The vjp rules by name of the function; their parameters are the operands and `out`, as needed. At a kink of one
#: operand the derivative is 0, at a tie of two the first operand has it. None: the derivative is 0 everywhere.
#: Rules multiply complex numbers as they are; `vjp` and Programs conjugate cotangents and gradients.
UFUNC_RULES: dict[str, Callable[..., Any]] = {
    "add": lambda d: (d, d),
    "subtract": lambda d: (d, -d),
    "multiply": lambda d, x, y: (d * y, d * x),
    "divide": lambda d, out, y: (d / y, -d * out / y),
    "exp": lambda d, out: d * out,
    "log": lambda d, x: d / x,
    "sqrt": lambda d, out: d / (2 * out),
    "tanh": lambda d, out: d * (1 - out * out),
    "negative": lambda d: -d,
    "positive": lambda d: d,
    "conjugate": lambda d: np.conj(d) if np.iscomplexobj(d) else d,
    "absolute": lambda d, x: d * _direction(x),
    "fabs": lambda d, x: d * np.sign(x),
    "square": lambda d, x: 2 * d * x,
    "reciprocal": lambda d, out: -d * out * out,
    "cbrt": lambda d, out: d / (3 * out * out),
    "exp2": lambda d, out: d * out * LOG_2,
    "expm1": lambda d, out: d * (out + 1),
    "log2": lambda d, x: d / (x * LOG_2),
    "log10": lambda d, x: d / (x * LOG_10),
    "log1p": lambda d, x: d / (1 + x),
    "sin": lambda d, x: d * np.cos(x),
    "cos": lambda d, x: -d * np.sin(x),
    "tan": lambda d, out: d * (1 + out * out),
    "arcsin": lambda d, x: d / np.sqrt(1 - x * x),
    "arccos": lambda d, x: -d / np.sqrt(1 - x * x),
    "arctan": lambda d, x: d / (1 + x * x),
    "sinh": lambda d, x: d * np.cosh(x),
    "cosh": lambda d, x: d * np.sinh(x),
    "arcsinh": lambda d, x: d / (np.sqrt(x * x + 1) if np.iscomplexobj(x) else np.hypot(x, 1)),
    "arccosh": lambda d, x: d / (np.sqrt(x - 1) * np.sqrt(x + 1)),  # of one root, complex numbers have the other sign
    "arctanh": lambda d, x: d / (1 - x * x),
    "deg2rad": lambda d: d * (np.pi / 180),
    "radians": lambda d: d * (np.pi / 180),
    "rad2deg": lambda d: d * (180 / np.pi),
    "degrees": lambda d: d * (180 / np.pi),
    "maximum": lambda d, x, y, needs: _to_winner(d, (y > x) | (np.isnan(y) & ~np.isnan(x)), needs),
    "minimum": lambda d, x, y, needs: _to_winner(d, (y < x) | (np.isnan(y) & ~np.isnan(x)), needs),
    "fmax": lambda d, x, y, needs: _to_winner(d, ~((x >= y) | np.isnan(y)), needs),
    "fmin": lambda d, x, y, needs: _to_winner(d, ~((x <= y) | np.isnan(y)), needs),
    "power": _power,
    "float_power": _power,
    "remainder": lambda d, x, y: (d, -d * np.floor_divide(x, y)),
    "fmod": lambda d, x, y: (d, -d * np.trunc(np.divide(x, y))),
    "arctan2": _arctan2,
    "hypot": _hypot,
    "logaddexp": lambda d, x, y: _shares(d, x, y, np.exp),
    "logaddexp2": lambda d, x, y: _shares(d, x, y, np.exp2),
    "copysign": lambda d, x, y: (d * np.sign(np.multiply(x, 1)) * np.copysign(1, y), None),
    "floor_divide": lambda d: (None, None),
    "heaviside": lambda d: (None, None),
    "floor": lambda d: None,
    "ceil": lambda d: None,
    "rint": lambda d: None,
    "trunc": lambda d: None,
    "sign": _sign,
}


@functools.cache
def vjp_of_ufunc(ufunc: np.ufunc) -> VJPRule:
    """Return the vjp rule of a ufunc.

    Raises
    ------
    DTypeError
        If the ufunc has no vjp rule.
    """
    found = rule_of_ufunc(ufunc)
    if found is None:
        raise DTypeError(f"{ufunc.__name__}: has no vjp rule")
    return found


def rule_of_ufunc(ufunc: np.ufunc) -> VJPRule | None:
    """Return the vjp rule of a ufunc, None if it has none."""
    rule = UFUNC_RULES.get(ufunc.__name__)
    if rule is None:
        return None
    code = rule.__code__
    return VJPRule(rule, code.co_varnames[1 : code.co_argcount], ("x", "y")[: ufunc.nin], True)
