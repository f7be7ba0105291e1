"""Methods that are declared in the file of their class, with bodies, mostly operators, in higher modules."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from lodcore.base.dispatch import OPS

__all__ = ["Later", "later", "operators"]

F = TypeVar("F", bound=Callable[..., Any])


class NamedOperators:
    """The operators by name, looked up at first use, for methods of classes in lower modules."""

    def __getattr__(self, name: str) -> Any:
        import_module("lodcore.ops")  # which registers them
        if name not in OPS:
            raise AttributeError(f"there is no operator {name}")
        setattr(self, name, OPS[name])
        return OPS[name]


operators = NamedOperators()


class Later:
    """A method or attribute without a body, which its first use sets in the class.

    Parameters
    ----------
    body : str
        The operator that is the method, by its name; with a dot the module that attaches the body to the class.
    """

    __slots__ = ("body", "kind", "name")

    def __init__(self, body: str) -> None:
        self.body = body

    def __set_name__(self, owner: type, name: str) -> None:
        self.kind, self.name = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        if "." not in self.body:
            setattr(self.kind, self.name, getattr(operators, self.body))
        else:
            import_module(self.body)
            if next(vars(kind)[self.name] for kind in owner.__mro__ if self.name in vars(kind)) is self:
                raise AttributeError(f"{owner.__name__} has no {self.name}")
        return getattr(owner if instance is None else instance, self.name)


def later(body: str) -> Callable[[F], F]:
    """Declare a method whose body is an operator or is attached by a module; see `Later`.

    Parameters
    ----------
    body : str

    Returns
    -------
    callable
        A decorator of the declaration.
    """
    return lambda declared: Later(body)  # type: ignore[return-value]
