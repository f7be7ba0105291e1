"""Text that NumPy would change silently: a NUL at the end, and numbers that become text; kinds that do not join."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lodcore.errors import DTypeError

__all__ = ["refuse_changed", "refuse_kinds", "refuse_nul", "refuse_numbers", "shortened"]

#: The types of the text of each kind of dtype.
TEXT = {"U": (str, np.str_), "S": (bytes, np.bytes_)}


def shortened(value: Any) -> str:
    """Return a value for a message, in one line."""
    text = " ".join(repr(value).split("\n"))
    return text if len(text) <= 60 else f"{text[:60]}..."


def refuse_nul(where: str, strings: Sequence[Any]) -> None:
    """Raise if a string ends with NUL, which NumPy would drop."""
    try:
        if "\0" not in "".join(strings):
            return
    except TypeError:  # there are bytes, or numbers
        pass
    for at, one in enumerate(strings):
        if isinstance(one, (str, bytes)) and one[-1:] in ("\0", b"\0"):
            text = f"value {at} is {shortened(one)}, whose NUL at the end NumPy would drop"
            raise DTypeError(f"{where}: {text}; lodcore.encode_utf8 keeps it")


def refuse_numbers(where: str, values: Iterable[Any], kind: str) -> None:
    """Raise for a value that is not text of the kind to which NumPy would convert it."""
    for at, value in enumerate(values):
        if not isinstance(value, TEXT[kind]):
            raise DTypeError(f"{where}: value {at} is {shortened(value)} among text; values are of one kind")


def refuse_changed(where: str, given: list[Any] | tuple[Any, ...], kind: str) -> None:
    """Raise if text that was made of lists is not what was in them."""
    values: Sequence[Any] = given
    if not set(map(type, given)) <= set(TEXT[kind]):
        values = list(_entries(given))
        refuse_numbers(where, values, kind)
    refuse_nul(where, values)


def _entries(given: Any) -> Iterator[Any]:
    """Return the entries of lists and arrays."""
    for entry in given:
        if isinstance(entry, (list, tuple)):
            yield from _entries(entry)
        elif getattr(entry, "ndim", 0):
            yield from _entries(entry.tolist() if hasattr(entry, "tolist") else entry)
        else:
            yield entry


def refuse_kinds(where: str, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    """Raise if there are numbers among text, which NumPy would make text of, too."""
    found: dict[str, int] = {}
    for j, array in enumerate(arrays):
        if array.size:
            found.setdefault(array.dtype.kind, j)
    for kinds, name in (("US", "text"), ("mM", "dates, durations")):
        if len(found) > 1 and not found.keys().isdisjoint(kinds):
            first, other, *_ = found.values()
            raise DTypeError(
                f"{where}: arrays[{other}]: has dtype {arrays[other].dtype}, arrays[{first}] {arrays[first].dtype}; "
                f"{name} and other values do not join"
            )
