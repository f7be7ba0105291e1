"""vjp rules: the values that they read, by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import itemgetter
from typing import Any

__all__ = ["VJPRule"]


class Named(tuple[Any, ...]):
    """One entry per operand of an operator, which are also attributes, by the names of the operands."""

    __slots__ = ()
    _names: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"needs: there is no {name}; its names are {', '.join(self._names)}")


@functools.cache
def named(operands: tuple[str, ...]) -> type[Named]:
    """Return the class of tuples with these names."""
    names: dict[str, Any] = {name: property(itemgetter(j)) for j, name in enumerate(operands)}
    return type("Needs", (Named,), {"__slots__": (), "_names": operands, **names})


class VJPRule:
    """A vjp rule, and the values of the forward pass that it reads.

    Attributes
    ----------
    function : callable
        A function of the cotangents and then of the values in `names`.
    names : tuple of str
        Parameters of the operator, "out", saved values, "needs" and "context", in the order of its own parameters.
    operands : tuple of str
        The parameters of the operator that may be tensors.
    elementwise : bool
        Whether it is a rule on arrays that broadcast.
    calls : object
        How the rule is called, by the operator, stored by the engine.
    needs : type
        What the rule receives as `needs`: a tuple with one entry per operand, which are also attributes.
    """

    __slots__ = ("calls", "elementwise", "function", "names", "needs", "operands")

    def __init__(
        self, function: Callable[..., Any], names: tuple[str, ...], operands: tuple[str, ...], elementwise: bool
    ) -> None:
        self.function, self.names, self.operands, self.elementwise = function, names, operands, elementwise
        self.needs = named(operands) if "needs" in names else tuple
        self.calls: Any = None
