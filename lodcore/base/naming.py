"""Errors that name the public function that was called, not one that it calls."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["call_named", "described", "named", "rename", "without_any"]

F = TypeVar("F", bound=Callable[..., Any])

#: The name of a function at the beginning of a message.
NAME = re.compile(r"^[\w.]+: ")


def call_named(where: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function; its errors begin with another name.

    Parameters
    ----------
    where : str
        The name for messages, as of the public function.
    function : callable
    *args, **kwargs
        Its arguments.

    Examples
    --------
    >>> from lodcore.base.naming import call_named
    >>> def inner(x):
    ...     raise ValueError(f"inner: x: is {x}; 1 or more is needed")
    >>> call_named("outer", inner, 0)
    Traceback (most recent call last):
    ValueError: outer: x: is 0; 1 or more is needed
    """
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError, IndexError) as error:
        rename(where, error)
        raise


def rename(where: str, error: Exception) -> None:
    """Let the message of an error begin with another name."""
    if len(error.args) == 1 and not str(error).startswith(f"{where}:"):
        error.args = (NAME.sub(f"{where}: ", str(error)),)


def named(function: F) -> F:
    """Let the errors of a function begin with its own name, whatever it calls."""

    @functools.wraps(function)
    def of_own_name(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, IndexError) as error:
            rename(function.__name__, error)
            raise

    return of_own_name  # type: ignore[return-value]


def without_any(*public: Any) -> None:
    """Remove annotations that say nothing, so that `help` shows the others and the docstring says what is meant.

    Parameters
    ----------
    *public : object
        Functions, and classes, whose methods are meant, with those of their bases; anything else stays as it is.
    """
    for one in public:
        kinds = [kind for kind in one.__mro__ if kind.__module__.startswith("lodcore")] if isinstance(one, type) else []
        for member in [member for kind in kinds for member in vars(kind).values()] or [one]:
            function = getattr(member, "__func__", member)  # of a class method
            if type(function) is FunctionType:
                notes = function.__annotations__
                for name in [name for name, kind in notes.items() if kind is Any or kind == "Any"]:
                    del notes[name]


def described(x: Any) -> str:
    """Return a part of a file, or an argument, for a message, shortened."""
    try:
        text = repr(x)
    except (ValueError, RecursionError):  # a number of too many digits, or lists in lists without end
        return f"a long {type(x).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
