"""Elementwise operators, defined by a function and a vjp rule on arrays; structures, Specs and broadcasting follow."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, overload

import numpy as np

from lodcore.base.naming import described
from lodcore.operators.alignment import broadcast_spec, shared
from lodcore.operators.lod_rules import deepest
from lodcore.operators.registry import OPS, Op
from lodcore.operators.roles import Dense, Role

__all__ = ["elementwise_operator"]


class ElementwiseOp(Op):
    """An operator that computes entry by entry; all of its parameters are operands that broadcast.

    Parameters
    ----------
    declared : callable
        The function with the name, the parameters, and the docstring.
    function : callable
        The function that computes on arrays.
    on_arrays : callable
        The same function as called by loops.
    differentiable : bool
    """

    elementwise = True

    def __init__(
        self, declared: Any, function: Callable[..., Any], on_arrays: Callable[..., Any], differentiable: bool
    ) -> None:
        code = declared.__code__
        operands = code.co_varnames[: code.co_argcount]
        compute = _computing(declared, function, operands)
        super().__init__(
            compute, dict.fromkeys(operands, Dense), deepest, differentiable, on_arrays=on_arrays, rowwise=operands
        )
        self.array_function = function
        self._infer = lambda **operands: self.infer_arguments(operands)
        self.in_steps = self._on_rows

    def _on_rows(self, rows: Any, **operands: Any) -> Any:
        """Take part in compiled steps: the function and the vjp rule are traced."""
        return rows.elementwise(self.array_function, [*operands.values()], self.rule_of([]))

    def infer_arguments(self, arguments: dict[str, Any]) -> Any:
        """Return the Spec of the result; alignment determines its levels."""
        found = self.describe(arguments)
        return broadcast_spec(self.__name__, self.array_function, *arguments.values()) if found is None else found

    def described(self, name: str, role: Role, given: Any) -> Any:
        """Return the Spec of an argument; numbers are kept, since they adopt the dtype of the others."""
        return given if isinstance(given, (int, float, complex, np.generic)) else super().described(name, role, given)


def _computing(declared: Any, function: Callable[..., Any], operands: tuple[str, ...]) -> Any:
    """Return the function that computes on tensors, with the parameters of `declared`."""
    name = declared.__name__

    def of_one(x: Any) -> Any:
        return shared(name, function, x)

    def of_two(x: Any, y: Any) -> Any:
        return shared(name, function, x, y)

    def of_three(x: Any, y: Any, z: Any) -> Any:
        return shared(name, function, x, y, z)

    if not 1 <= len(operands) <= 3:
        raise TypeError(f"elementwise_operator: {name}: has {len(operands)} parameters; 1 to 3 operands are needed")
    compute: Any = (of_one, of_two, of_three)[len(operands) - 1]
    compute.__code__ = compute.__code__.replace(co_varnames=operands)  # so that errors and help show these names
    functools.update_wrapper(compute, declared)
    del compute.__wrapped__
    return compute


@overload
def elementwise_operator(declared: Callable[..., Any]) -> ElementwiseOp: ...


@overload
def elementwise_operator(
    *,
    function: Callable[..., Any] | None = None,
    on_arrays: Callable[..., Any] | None = None,
    differentiable: bool = True,
) -> Callable[[Callable[..., Any]], ElementwiseOp]: ...


def elementwise_operator(
    declared: Callable[..., Any] | None = None,
    *,
    function: Callable[..., Any] | None = None,
    on_arrays: Callable[..., Any] | None = None,
    differentiable: bool = True,
) -> Any:
    """Make an elementwise operator from a function of arrays; see `docs/write-an-operator.md`.

    Parameters
    ----------
    declared : callable
        The decorated function of arrays.
    function : callable, optional
        Computes instead of the body of `declared`, for example a NumPy ufunc.
    on_arrays : callable, optional
        Computes the same on arrays and numbers, but faster.
    differentiable : bool

    Returns
    -------
    ElementwiseOp, or callable that makes one

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.ops import elementwise_operator
    >>> @elementwise_operator
    ... def clipped(x, most):
    ...     return np.minimum(x, most)
    >>> clipped(lodcore.array([[1, 2], [3]]), 2)
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [2]])
    """

    def register(declared: Any) -> ElementwiseOp:
        if not isinstance(declared, FunctionType):
            raise TypeError(
                f"elementwise_operator: is used on {described(declared)}; a function that Python defines is needed"
            )
        computes = function or declared
        made = ElementwiseOp(declared, computes, on_arrays or computes, differentiable)
        if str(declared.__module__).startswith("lodcore."):
            OPS[made.__name__] = made
        return made

    return register if declared is None else register(declared)
