"""NumPy's functions on dense Variables whose results have no gradient: comparisons, positions and ranks of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.errors import GraphError
from lodcore.numpy_api.dense import flat, on_dense

__all__: list[str] = []

#: Functions that compute on values: their results are bools, positions or counts.
ON_VALUES = (
    np.isclose,
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.isin,
    np.isneginf,
    np.isposinf,
    np.iscomplex,
    np.isreal,
    np.searchsorted,
    np.digitize,
    np.linalg.matrix_rank,
)


def _on_values(function: Any) -> None:
    @on_dense(function)
    def computed(*args: Any, **kwargs: Any) -> Any:
        """Compute on the values, as NumPy does."""
        taken = [_value(function, x) for x in args]
        return function(*taken, **{name: _value(function, x) for name, x in kwargs.items()})


def _value(function: Any, x: Any) -> Any:
    """Return the value of a Variable."""
    if not isinstance(x, Symbol):
        return x
    known: Any = x.current()
    if isinstance(known, Symbol) and not known.has_value:  # type: ignore[attr-defined]
        raise GraphError(f"numpy.{function.__name__}: needs values, which are not known while it is recorded")
    return x.get()


for _function in ON_VALUES:
    _on_values(_function)


@on_dense(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Return the positions of nonzero values among all values."""
    return np.nonzero(flat("flatnonzero", a).copy())[0]


@on_dense(np.size)
def size(a: Any, axis: Any = None) -> Any:
    """Count the values, or those along an axis."""
    sizes = [a.shape[one] for one in (axis if isinstance(axis, tuple) else (axis,))] if axis is not None else a.shape
    if None in sizes:
        raise GraphError("numpy.size: the length of an axis is known only at run time")
    return int(np.prod(sizes, dtype=np.int64))
