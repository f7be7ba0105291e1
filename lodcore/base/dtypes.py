"""Dtypes that callers give, or files describe."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError

__all__ = ["NO_DTYPE", "as_dtype"]

#: The errors that NumPy raises for what is not a dtype; it parses text like "08" or "i4,(" as Python.
NO_DTYPE = (TypeError, ValueError, SyntaxError, KeyError, IndexError, OverflowError, RecursionError, MemoryError)


def as_dtype(where: str, given: Any) -> np.dtype[Any]:
    """Convert what a caller gives for a dtype.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    given : dtype_like

    Returns
    -------
    dtype

    Raises
    ------
    DTypeError
        If it is none.
    """
    try:
        made: np.dtype[Any] = np.dtype(given)
    except TypeError as error:
        raise DTypeError(f"{where}: {error}") from None
    except NO_DTYPE:
        raise DTypeError(f"{where}: is {str(given)[:60]!r}, which is not a NumPy dtype") from None
    return made
