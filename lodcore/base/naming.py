"""Errors that name the public function that was called, not one that it calls."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar

from lodcore.base.dispatch import open_operators

__all__ = [
    "call_named",
    "described",
    "name_recorded",
    "named",
    "rename",
    "rename_for_caller",
    "with_arguments",
    "without_any",
]

F = TypeVar("F", bound=Callable[..., Any])

#: The name of a function at the beginning of a message.
NAME = re.compile(r"^[\w.]+: ")
#: What Python says about an argument that a function does not have.
UNKNOWN = re.compile(r"[\w.<>]+\(\) got an unexpected keyword argument '(\w+)'")


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
    recorded = open_operators()
    before = len(recorded or ())
    try:
        found = function(*args, **kwargs)
    except (TypeError, ValueError, IndexError) as error:
        rename(where, error)
        raise
    if recorded is not None:
        name_recorded(recorded[before:], where)
    return found


def name_recorded(ops: Iterable[Any], where: str) -> None:
    """Let the errors of recorded operators begin with the name of the function that recorded them, when they run.

    Parameters
    ----------
    ops : iterable of Operator or GradientOperator
    where : str
    """
    for op in ops:
        known = getattr(op, "caller", where)  # operators of gradients have none
        if known is None or not is_named(where, known):
            op.caller = where


def rename_for_caller(op: Any, error: BaseException) -> None:
    """Let the message of an error of a recorded operator begin with the name of the function that recorded it."""
    caller: str = getattr(op, "caller", None) or ""
    words = getattr(op, "words", None)
    if words and isinstance(error, (TypeError, ValueError, IndexError)):
        reword(words, error)
    if not caller or not isinstance(error, (TypeError, ValueError, IndexError)):
        return
    if not is_named(caller, str(error).partition(":")[0]):
        rename(caller, error)


def is_named(where: str, known: str) -> bool:
    """Return whether a name is that of a function, or that of one in lodcore which stands for it."""
    return known in (where, where.removeprefix("numpy."))


def rename(where: str, error: Exception) -> None:
    """Let the message of an error begin with another name, even Python's own about an unknown argument."""
    text = str(error)
    if len(error.args) != 1 or text.startswith(f"{where}:"):
        return
    raised = error.__traceback__
    unknown = UNKNOWN.match(text) if type(error) is TypeError and raised and raised.tb_next is None else None
    if unknown:  # to the function that was called, not to one that it calls
        error.args = (f"{where}: {unknown[1]}: is not supported",)
    elif isinstance(error, IndexError) and text.startswith("index "):
        error.args = (f"{where}: {text}",)
    else:
        error.args = (NAME.sub(f"{where}: ", text),)


def with_arguments(names: dict[str, str], function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function; its errors speak of arguments by other names.

    Parameters
    ----------
    names : dict
        The names for messages, those of the public function, by the names that the called function has for them.
    function : callable
    *args, **kwargs
        Its arguments.

    Examples
    --------
    >>> from lodcore.base.naming import with_arguments
    >>> def inner(x, y):
    ...     raise ValueError(f"inner: y: has length {y}; that of x is {x}")
    >>> with_arguments({"y": "weights"}, inner, 2, 3)
    Traceback (most recent call last):
    ValueError: inner: weights: has length 3; that of x is 2
    """
    recorded = open_operators()
    before = len(recorded or ())
    try:
        found = function(*args, **kwargs)
    except (TypeError, ValueError, IndexError) as error:
        reword(names, error)
        raise
    for op in recorded[before:] if recorded is not None else ():
        if getattr(op, "words", names) is None:
            op.words = names
    return found


def reword(names: dict[str, str], error: Exception) -> None:
    """Let the message of an error speak of arguments by other names."""
    if len(error.args) != 1:
        return
    function_name, colon, said = str(error).partition(": ")
    words = "|".join(map(re.escape, names))
    said = re.sub(rf"(?<![\w.])({words})(?![\w.\[(])", lambda found: names[found[1]], said)
    error.args = (function_name + colon + said,)


def named(function: F) -> F:
    """Let the errors of a function begin with its own name, whatever it calls."""

    @functools.wraps(function)
    def of_own_name(*args: Any, **kwargs: Any) -> Any:
        return call_named(function.__name__, function, *args, **kwargs)

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
            while type(function) is FunctionType:
                notes = function.__annotations__
                kept = {name: kind for name, kind in notes.items() if kind is not Any and kind != "Any"}
                if len(kept) < len(notes):  # never changed in place, since another thread may be reading them
                    function.__annotations__ = kept
                function = getattr(function, "__wrapped__", None)  # whose signature `help` shows


def make_public(package: str, *public: Any) -> None:
    """Name the package from which objects are imported, so that pickles of them do not name its files.

    Parameters
    ----------
    package : str
    *public : object
        Functions, which also lose annotations that say nothing, and classes, which name their package themselves.
        Anything else stays as it is.
    """
    without_any(*public)
    for one in public:
        if type(one) is FunctionType:
            one.__module__ = package


def described(x: Any) -> str:
    """Return a part of a file, or an argument, for a message, shortened to one line."""
    try:
        text = repr(x)
    except (ValueError, RecursionError):  # a number of too many digits, or lists in lists without end
        return f"a long {type(x).__name__}"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
