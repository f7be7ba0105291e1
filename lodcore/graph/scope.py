"""Scopes: Variables by name, with lookup of missing names in a parent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lodcore.errors import DTypeError
from lodcore.graph.variable import Variable

__all__ = ["Scope"]


class Scope:
    """A chain of names: names that are missing here are looked up in the parent.

    Parameters
    ----------
    parent : Scope, optional

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore.graph import Scope
    >>> scope = Scope()
    >>> scope.var("weights").set(np.ones(2))
    >>> step = scope.new_scope()
    >>> step.find_var("weights").get()
    array([1., 1.])
    >>> step.find_var("nothing") is None
    True
    """

    def __init__(self, parent: Scope | None = None) -> None:
        self._parent = parent
        self._kids: list[Scope] = []
        self._variables: dict[str, Variable] = {}

    @classmethod
    def over(
        cls, values: dict[Variable, Any], parent: Scope | None = None, name_of: Callable[[Variable], str] | None = None
    ) -> Scope:
        """Make a Scope with the values of a run of a Block, by their names there."""
        made = cls() if parent is None else parent.new_scope()
        for variable, value in values.items():
            name = variable.name if name_of is None else name_of(variable)
            made._variables[name] = Variable(name, value)
        return made

    @property
    def parent(self) -> Scope | None:
        """The Scope around it."""
        return self._parent

    @property
    def kids(self) -> tuple[Scope, ...]:
        """The Scopes inside it."""
        return tuple(self._kids)

    def new_scope(self) -> Scope:
        """Make a Scope inside this one."""
        made = Scope(self)
        self._kids.append(made)
        return made

    def drop_kids(self) -> None:
        """Remove the Scopes inside."""
        self._kids.clear()

    def var(self, name: str) -> Variable:
        """Return the Variable of a name in this Scope itself, creating it if it does not exist."""
        if _checked(name) not in self._variables:
            self._variables[name] = Variable(name)
        return self._variables[name]

    def find_var(self, name: str) -> Variable | None:
        """Return the Variable of a name in this Scope or an outer one; None if there is none."""
        scope: Scope | None = self
        while scope is not None:
            if _checked(name) in scope._variables:
                return scope._variables[name]
            scope = scope._parent
        return None

    def erase(self, name: str) -> None:
        """Remove a name from this Scope itself; raise KeyError if it does not exist."""
        del self._variables[name]

    def local_var_names(self) -> list[str]:
        """Return the names in this Scope itself."""
        return list(self._variables)

    def __contains__(self, name: str) -> bool:
        return self.find_var(name) is not None

    def __repr__(self) -> str:
        count = len(self._kids)
        kids = f"; {count} kid{'s' * (count != 1)}" if count else ""
        return f"Scope({', '.join(self._variables)}{kids})"


def _checked(name: Any) -> str:
    if not isinstance(name, str):
        raise DTypeError(f"Scope: name: is {type(name).__name__}; a str is needed")
    return name
