"""Methods that are declared in the file of their class, with bodies, mostly operators, in higher modules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from lodcore.base.dispatch import operators

__all__ = ["Attached", "Later", "attached", "later"]

F = TypeVar("F", bound=Callable[..., Any])


class Later:
    """A method or attribute without a body, whose first use imports the module that attaches it to the class.

    Parameters
    ----------
    name : str
    module : str
        The module with the body.
    """

    __slots__ = ("module", "name")

    def __init__(self, name: str, module: str) -> None:
        self.name, self.module = name, module

    def __get__(self, instance: Any, owner: type) -> Any:
        import_module(self.module)
        if next(vars(kind)[self.name] for kind in owner.__mro__ if self.name in vars(kind)) is self:
            raise AttributeError(f"{owner.__name__} has no {self.name}")
        return getattr(owner if instance is None else instance, self.name)


def later(module: str) -> Callable[[F], F]:
    """Declare a method whose body another module attaches.

    Parameters
    ----------
    module : str

    Returns
    -------
    callable
        A decorator of the declaration.
    """
    return lambda declared: Later(declared.__name__, module)  # type: ignore[return-value]


class Attached:
    """A method that is an operator, whose first use sets the operator, found by name, in the class.

    Parameters
    ----------
    operator : str
    """

    __slots__ = ("kind", "name", "operator")

    def __init__(self, operator: str) -> None:
        self.operator = operator

    def __set_name__(self, owner: type, name: str) -> None:
        self.kind, self.name = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        setattr(self.kind, self.name, getattr(operators, self.operator))
        return getattr(owner if instance is None else instance, self.name)


def attached(operator: str) -> Callable[[F], F]:
    """Declare a method that is an operator, called with the array or tensor as its first argument.

    Parameters
    ----------
    operator : str

    Returns
    -------
    callable
        A decorator of the declaration.
    """
    return lambda declared: Attached(operator)  # type: ignore[return-value]
