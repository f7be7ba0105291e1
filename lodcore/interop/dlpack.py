"""LoDTensors of flat buffers with DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["from_dlpack"]


def from_dlpack(values: Any, *offsets: Any) -> LoDTensor:
    """Make a LoDTensor from flat buffers with DLPack: tensors on the CPU of torch or JAX, or NumPy arrays.

    Parameters
    ----------
    values : object with ``__dlpack__``, shape (num_rows, ...)
        The rows, whose memory is shared read-only.
    *offsets : object with ``__dlpack__``, or array_like of integers
        The offsets of each level, coarse first, which are copied and checked.

    Returns
    -------
    LoDTensor

    Notes
    -----
    The opposite direction needs no function, since `x.values` supports DLPack.

    Examples
    --------
    >>> import lodcore, numpy as np
    >>> lodcore.from_dlpack(np.arange(3), [0, 2, 3])
    LoDTensor(2 sequences of lengths 1..2, int64: [[0, 1], [2]])
    """
    where = "lodcore.from_dlpack"
    if not hasattr(values, "__dlpack__"):
        raise DTypeError(f"{where}: values: is {type(values).__name__}; something with __dlpack__ is needed")
    levels = [
        exchanged(f"{where}: offsets: level {k}", v) if hasattr(v, "__dlpack__") else v for k, v in enumerate(offsets)
    ]
    return LoDTensor.from_offsets(exchanged(f"{where}: values", values), *levels)


def exchanged(what: str, values: Any) -> Any:
    """Share the memory of something with DLPack; an array stays as it is, since NumPy 2.0 refuses read-only ones."""
    if isinstance(values, np.ndarray):
        return values
    try:
        return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError) as error:
        raise DTypeError(f"{what}: cannot be shared: {error}") from None
