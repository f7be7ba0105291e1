"""Reductions over the axes of a ragged shape: sequences, one axis a level, then the axes of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.errors import DTypeError, GraphError, ShapeError
from lodcore.ops.reduce import reduce_values
from lodcore.symbol import Symbol
from lodcore.tensor import DenseTensor, LoDTensor

__all__ = ["mean", "sum"]


def tensor_of(where: str, x: Any) -> Any:
    """Take a LoDTensor, an array, a Variable, or what makes an array."""
    if isinstance(x, (LoDTensor, np.ndarray)):
        return x
    if isinstance(x, Symbol):
        known = x.current()  # type: ignore[attr-defined]
        if isinstance(known, Symbol) and known.spec.kind not in (np.ndarray, LoDTensor, DenseTensor):  # type: ignore[attr-defined]
            raise GraphError(f"{where}: {known!r}: is not known to be a tensor while it is recorded")
        return known
    try:
        made = x.values if isinstance(x, DenseTensor) else np.asarray(x)
    except ValueError:
        raise ShapeError(f"{where}: x: is a list of uneven lists; use lodcore.array for sequences") from None
    if made.dtype.hasobject:
        raise DTypeError(f"{where}: x: is {type(x).__name__}; a tensor is needed")
    return made


def sum(x: Any, axis: int | None = None) -> Any:
    """Add up values.

    Parameters
    ----------
    x : LoDTensor or array_like
    axis : int, optional
        All values, if not given. Of a LoDTensor the axes are those of its `shape`: sequences, one axis a level, then
        the axes of a row; the axis of the last level adds up the rows of each sequence.

    Returns
    -------
    LoDTensor, ndarray or number

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2], [], [3]])
    >>> int(lodcore.ops.sum(x))
    6
    """
    return _reduced("sum", x, axis)


def mean(x: Any, axis: int | None = None) -> Any:
    """Average values; axes as of `sum`.

    Returns
    -------
    LoDTensor, ndarray or number
        nan for no values.

    Examples
    --------
    >>> import lodcore
    >>> float(lodcore.ops.mean(lodcore.array([[1, 2], [], [3]])))
    2.0
    """
    return _reduced("mean", x, axis)


def _reduced(name: str, x: Any, axis: Any) -> Any:
    x = tensor_of(name, x)
    if axis is None:
        return reduce_values(x, name)
    ndim = x.ndim
    if not hasattr(axis, "__index__"):
        raise DTypeError(f"{name}: axis: is {axis!r}; an integer is needed")
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{name}: axis: is {axis}; x has {ndim} axes")
    levels = getattr(x, "num_levels", 0)
    at = axis % ndim
    if at > levels or not levels:
        return reduce_values(x, name, (at - levels,))
    if at == levels:
        from lodcore.ops.pool import sequence_pool

        return sequence_pool(x, name)
    raise TypeError(f"{name}: axis: is {axis}, along which sequences differ; axis {levels} or above is possible")
