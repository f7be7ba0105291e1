"""Checks of the states from which samplers, plans and streams continue."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lodcore.errors import DTypeError

__all__ = ["check_state", "digest"]


def digest(*parts: Any) -> str:
    """Return a short text that differs if one of the parts does.

    Parameters
    ----------
    *parts : int, float, bool, str, None, or ndarray of integers

    Returns
    -------
    str
        32 hexadecimal digits, the same on every machine.
    """
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        known = isinstance(part, np.ndarray)
        found.update(f"{len(part)} numbers;".encode() if known else f"{part!r};".encode())
        if known:
            found.update(np.ascontiguousarray(part, "<i8").data)
    return found.hexdigest()


def check_state(
    where: str, state: Mapping[str, Any], names: Iterable[str], known: Mapping[str, Any], what: str
) -> None:
    """Raise if entries of a state are missing, or are those of another plan, sampler or stream.

    Parameters
    ----------
    where : str
    state : mapping
    names : iterable of str
        The entries that are needed besides those of `known`.
    known : mapping
        The entries that must be equal, "digest" last.
    what : str
        What a different digest means.

    Raises
    ------
    DTypeError, ValueError
    """
    if not isinstance(state, Mapping):
        raise DTypeError(f"{where}: state: is {type(state).__name__}; a dict is needed, like that of state_dict")
    missing = [name for name in (*names, *known) if name not in state]
    if missing:
        raise ValueError(f"{where}: state: {', '.join(missing)} missing")
    for name, mine in known.items():
        if not np.array_equal(state[name], mine):
            raise ValueError(
                f"{where}: state: {name} is {state[name]}; this plan has {mine}"
                if name != "digest"
                else f"{where}: state: {what}"
            )
