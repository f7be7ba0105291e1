"""Gradients of NumPy's elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["SLOPES"]

LOG_2, LOG_10 = float(np.log(2)), float(np.log(10))


def _ratio(d: Any, a: Any, b: Any) -> Any:
    """Compute d * a / b, 0 where b is 0."""
    return d * np.divide(a, b, out=np.zeros_like(b), where=b != 0)


def _power(d: Any, out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    with np.errstate(divide="ignore", invalid="ignore"):
        by_base = np.where(np.equal(y, 0), 0, y * np.power(x, np.subtract(y, 1.0)))
    return d * by_base, d * out * np.log(np.where(np.greater(x, 0), x, 1))


#: By the name of the function: from d, out and the operands to the gradients of the operands. At a kink of one operand
#: the slope is 0, at a tie of two the first operand has it. None: the slope is 0 everywhere.
SLOPES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda d, out, x, y: (d, d),
    "subtract": lambda d, out, x, y: (d, -d),
    "multiply": lambda d, out, x, y: (d * y, d * x),
    "divide": lambda d, out, x, y: (d / y, -d * out / y),
    "exp": lambda d, out, x: (d * out,),
    "log": lambda d, out, x: (d / x,),
    "sqrt": lambda d, out, x: (d / (2 * out),),
    "tanh": lambda d, out, x: (d * (1 - out * out),),
    "negative": lambda d, out, x: (-d,),
    "positive": lambda d, out, x: (d,),
    "conjugate": lambda d, out, x: (d,),
    "absolute": lambda d, out, x: (d * np.sign(x),),
    "fabs": lambda d, out, x: (d * np.sign(x),),
    "square": lambda d, out, x: (2 * d * x,),
    "reciprocal": lambda d, out, x: (-d * out * out,),
    "cbrt": lambda d, out, x: (d / (3 * out * out),),
    "exp2": lambda d, out, x: (d * out * LOG_2,),
    "expm1": lambda d, out, x: (d * (out + 1),),
    "log2": lambda d, out, x: (d / (x * LOG_2),),
    "log10": lambda d, out, x: (d / (x * LOG_10),),
    "log1p": lambda d, out, x: (d / (1 + x),),
    "sin": lambda d, out, x: (d * np.cos(x),),
    "cos": lambda d, out, x: (-d * np.sin(x),),
    "tan": lambda d, out, x: (d * (1 + out * out),),
    "arcsin": lambda d, out, x: (d / np.sqrt(1 - x * x),),
    "arccos": lambda d, out, x: (-d / np.sqrt(1 - x * x),),
    "arctan": lambda d, out, x: (d / (1 + x * x),),
    "sinh": lambda d, out, x: (d * np.cosh(x),),
    "cosh": lambda d, out, x: (d * np.sinh(x),),
    "arcsinh": lambda d, out, x: (d / np.sqrt(x * x + 1),),
    "arccosh": lambda d, out, x: (d / np.sqrt(x * x - 1),),
    "arctanh": lambda d, out, x: (d / (1 - x * x),),
    "deg2rad": lambda d, out, x: (d * (np.pi / 180),),
    "radians": lambda d, out, x: (d * (np.pi / 180),),
    "rad2deg": lambda d, out, x: (d * (180 / np.pi),),
    "degrees": lambda d, out, x: (d * (180 / np.pi),),
    "maximum": lambda d, out, x, y: (d * (x >= y), d * (y > x)),
    "minimum": lambda d, out, x, y: (d * (x <= y), d * (y < x)),
    "fmax": lambda d, out, x, y: (d * ((x >= y) | np.isnan(y)), d * ((y > x) | np.isnan(x))),
    "fmin": lambda d, out, x, y: (d * ((x <= y) | np.isnan(y)), d * ((y < x) | np.isnan(x))),
    "power": _power,
    "float_power": _power,
    "remainder": lambda d, out, x, y: (d, -d * np.floor_divide(x, y)),
    "fmod": lambda d, out, x, y: (d, -d * np.trunc(np.divide(x, y))),
    "arctan2": lambda d, out, x, y: (_ratio(d, y, x * x + y * y), _ratio(-d, x, x * x + y * y)),
    "hypot": lambda d, out, x, y: (_ratio(d, x, out), _ratio(d, y, out)),
    "logaddexp": lambda d, out, x, y: (d * np.exp(x - out), d * np.exp(y - out)),
    "logaddexp2": lambda d, out, x, y: (d * np.exp2(x - out), d * np.exp2(y - out)),
    "copysign": lambda d, out, x, y: (d * np.copysign(1, x) * np.copysign(1, y), None),
    "floor_divide": lambda d, out, x, y: (None, None),
    "heaviside": lambda d, out, x, y: (None, None),
    "floor": lambda d, out, x: (None,),
    "ceil": lambda d, out, x: (None,),
    "rint": lambda d, out, x: (None,),
    "trunc": lambda d, out, x: (None,),
    "sign": lambda d, out, x: (None,),
}
