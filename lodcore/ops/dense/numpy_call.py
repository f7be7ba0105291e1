"""One operator for the functions of NumPy on dense arrays, whose rules are in the files named `numpy_*.py`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lodcore.base.caller import named_caller
from lodcore.base.naming import NAME
from lodcore.errors import DTypeError, GraphError, ShapeError
from lodcore.operators.arguments import choice_of, dense_of, list_of
from lodcore.operators.lod_rules import no_lod
from lodcore.operators.operands import Array
from lodcore.operators.registry import Op, operator
from lodcore.operators.roles import Operands, spec_of
from lodcore.ops.dense import numpy_fft, numpy_linalg, numpy_moves, numpy_orders, numpy_products
from lodcore.ops.dense.numpy_rules import NumpyRule, RuleInputs
from lodcore.tensors.tensor import Spec

__all__ = ["numpy_call"]

#: The rules of the functions, by their names in NumPy.
NUMPY_RULES: dict[str, NumpyRule] = {
    **numpy_moves.RULES,
    **numpy_products.RULES,
    **numpy_linalg.RULES,
    **numpy_fft.RULES,
    **numpy_orders.RULES,
}


#: What Python says first about arguments that a function does not take: its name, which is private here.
CALLED = re.compile(r"^[\w.<>]+\(\) ")


class NumpyOp(Op):
    """The operator for the functions of NumPy; errors name the function."""

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Spec of the result, or of several."""
        name, operands = arguments["name"], arguments["operands"]
        known = isinstance(name, str) and name in NUMPY_RULES
        for j, x in enumerate(operands if known and isinstance(operands, (list, tuple)) else ()):
            if type(x) is Spec:
                dense_of(_place(name, j), x)
        return super().infer_arguments(arguments)


@operator(operands=Operands, lod_rule=no_lod, results=None, kind=NumpyOp)
def numpy_call(operands: Any, name: str, options: dict[str, Any]) -> Any:
    """Call a function of NumPy on dense arrays; when recorded, it has a gradient.

    NumPy's functions on Variables call it: `np.linalg.inv(v)` is `numpy_call([v], "linalg.inv", {})`.

    Parameters
    ----------
    operands : list of array_like
        Dense arrays.
    name : str
        The name of the function in NumPy, one of `lodcore.ops.dense.numpy_call.NUMPY_RULES`.
    options : dict
        All other arguments by name, defaults included; axes are counted from the first.

    Returns
    -------
    ndarray, number, or a tuple of them

    Raises
    ------
    LoDError
        If an operand has levels.
    ShapeError, DTypeError, ValueError
        If the function does not take the operands or the options.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> lodcore.ops.numpy_call([np.arange(3)], "tile", {"reps": (2, 1)})
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    rule = _rule(name)
    xs = [dense_of(_place(name, j), x) for j, x in enumerate(list_of("numpy_call: operands", operands))]
    try:
        rule.spec(*map(spec_of, xs), **options)  # which checks the call as it would be checked if recorded
        with named_caller():
            return rule.compute(*xs, **options)
    except (TypeError, ValueError, IndexError) as error:
        raise _named(name, error) from None


def _rule(name: Any) -> NumpyRule:
    return NUMPY_RULES[choice_of("numpy_call: name", name, tuple(NUMPY_RULES))]


def _named(name: str, error: Exception) -> Exception:
    """Return one of the package's errors for one of Python; let one of NumPy, which names no function, name it."""
    text = CALLED.sub("", str(error))  # without the name of a private function
    if isinstance(error, TypeError) and not isinstance(error, DTypeError):
        return DTypeError(f"numpy.{name}: {NAME.sub('', text)}")
    if isinstance(error, IndexError) and not isinstance(error, ValueError):
        return ShapeError(f"numpy.{name}: {NAME.sub('', text)}")
    if len(error.args) == 1 and not NAME.match(text):
        error.args = (f"numpy.{name}: {text}",)
    return error


def _place(name: str, j: int) -> str:
    return f"numpy.{name}: operand {j}"


@numpy_call.define_infer
def _(operands: list[Any], name: str, options: dict[str, Any]) -> Any:
    rule = _rule(name)
    given = [dense_of(_place(name, j), x) for j, x in enumerate(list_of("numpy_call: operands", operands))]
    for j, x in enumerate(given):
        if type(x) is Spec and x.kind is object:
            raise GraphError(f"{_place(name, j)}: is not known to be a tensor while it is recorded")
    try:
        return rule.spec(*[x if type(x) is Spec else spec_of(x) for x in given], **options)
    except (TypeError, ValueError, IndexError) as error:
        raise _named(name, error) from None


@numpy_call.define_steps
def _(rows: Any, operands: list[Any], name: str, options: dict[str, Any]) -> Any:
    rule = _rule(name)
    return None if rule.steps is None else rule.steps(rows, *operands, **options)


@numpy_call.define_vjp
def _(d: Any, operands: Any, name: str, options: dict[str, Any], out: Any, needs: Any) -> list[Array | None]:
    rule = NUMPY_RULES[name]
    if rule.vjp is None:
        return [None] * len(operands)
    xs = [np.asarray(x) for x in operands]
    found = rule.vjp(RuleInputs(d if type(out) is tuple else d[0], out, needs.operands), *xs, **options)
    return [found] if len(xs) == 1 else list(found)
