"""Names of Variables: those that callers give, and those of Variables without one."""

from __future__ import annotations

from typing import Any

from lodcore.errors import DTypeError, GraphError

__all__ = ["OF_GRADIENT", "Unnamed", "checked_name"]

#: The end of the name of a gradient, which begins with that of its Variable.
OF_GRADIENT = "@GRAD"


class Unnamed(str):
    """The word that messages use for a Variable without a name, after which the first Program that has it names it."""

    stem: str | None = None  # of the name that a Program has given


def checked_name(where: str, name: Any) -> Any:
    """Return the name that a caller gives to a Variable, or None; those of gradients are not given."""
    if name is not None and not isinstance(name, str):
        raise DTypeError(f"{where}: name: is {type(name).__name__}; a str is needed")
    if name is not None and name.endswith(OF_GRADIENT):
        raise GraphError(f"{where}: name: is {name!r}; names that end with {OF_GRADIENT} are those of gradients")
    return name
