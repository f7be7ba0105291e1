"""LoDTensors from nested lists, and from objects of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lodcore.base.memory import as_size
from lodcore.errors import DTypeError, LoDError
from lodcore.tensors import lod_tensor_body
from lodcore.tensors.conversions import no_sequences, taken
from lodcore.tensors.kinds import is_foreign, plain_of
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import DEEPEST, as_dtype, has_leaves, refuse_conversion
from lodcore.tensors.sequences import of_lists

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.tensors.typed_methods import T

__all__ = ["array", "as_nested", "as_nested_index", "exactly"]


@overload
def array(obj: Any, dtype: type[T] | np.dtype[T], num_levels: int | None = None) -> LoDTensor[T]: ...
@overload
def array(obj: LoDTensor[T], dtype: None = None, num_levels: int | None = None) -> LoDTensor[T]: ...
@overload
def array(obj: Any, dtype: npt.DTypeLike | None = None, num_levels: int | None = None) -> LoDTensor: ...
def array(obj: Any, dtype: npt.DTypeLike | None = None, num_levels: int | None = None) -> LoDTensor:
    """Make a LoDTensor from nested lists, which are copied.

    Parameters
    ----------
    obj : list
        The batch. Each list inside is a sequence; an ndarray is one sequence of rows, as is a column of pandas, Polars
        or pyarrow, or a tensor of torch. Only these determine the width of rows, never lengths that happen to be equal.
        `[]` is zero sequences. A LoDTensor is copied; in a list, it is one sequence with its own levels. Dicts with the
        same keys are records; dates, times without a zone and durations of the standard library become datetime64 and
        timedelta64. Arrays of Arrow, torch, awkward, pandas, Polars, TensorFlow, SciPy and thinc are converted by
        functions such as `lodcore.from_torch`, which share memory if possible. Arrays of NumPy's StringDType become
        bytes of UTF-8, with one more level.
    dtype : dtype_like, optional
        By default that found by NumPy; float64 without rows.
    num_levels : int, optional
        The number of levels, if empty lists leave it open. If it counts only the lists, arrays in them are rows of one
        shape: `array([[image, image], []], num_levels=1)` is a batch of sequences of images.

    Returns
    -------
    LoDTensor

    Raises
    ------
    ShapeError, LoDError, DTypeError
        If an entry does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.array([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    >>> lodcore.array([[[1, 2], []], [[3]]]).shape
    (2, None, None)
    """
    where = "lodcore.array"
    if isinstance(obj, LoDTensor):
        made = _as_asked(where, obj, dtype, num_levels)
        if made is obj:
            return obj.clone()
        return made
    if isinstance(obj, np.ndarray) and obj.dtype == object and obj.ndim == 1:
        obj = obj.tolist()
    if not isinstance(obj, (list, tuple, np.ndarray)) or hasattr(obj, "_fields"):
        found = taken(obj)
        if isinstance(found, LoDTensor):
            return _as_asked(where, found, dtype, num_levels)
        if found is not None:
            raise no_sequences(f"{where}: obj", obj, found)
    if not isinstance(obj, (list, tuple)):
        refuse_conversion(f"{where}: obj", obj)
        hint = "; LoDTensor.from_arrays(obj) makes a sequence of each obj[i]" if isinstance(obj, np.ndarray) else ""
        raise DTypeError(f"{where}: obj: is {type(obj).__name__}; a list of sequences is needed{hint}")
    levels = as_size(num_levels)
    if num_levels is not None and (levels is None or not 1 <= levels <= DEEPEST):
        raise LoDError(f"{where}: num_levels: is {num_levels!r}; 1 .. {DEEPEST} is valid")
    nested: LoDTensor = of_lists(f"{where}: obj", obj, as_dtype(where, dtype), levels)
    return nested


def _as_asked(where: str, x: LoDTensor, dtype: npt.DTypeLike | None, num_levels: int | None) -> LoDTensor:
    """Return a LoDTensor in the requested dtype, after checking its levels."""
    if num_levels is not None and num_levels != x.num_levels:
        raise LoDError(f"{where}: obj: has num_levels {x.num_levels}; {num_levels} is given")
    made = as_dtype(where, dtype)
    if made is None or made == x.dtype:
        return x
    return lod_tensor_body.new_tensor(x.values.astype(made), x.lod)


def exactly(x: LoDTensor) -> LoDTensor:
    """Return a LoDTensor; one of a subclass, whose methods cannot be trusted, is rebuilt from its fields."""
    return x if type(x) is LoDTensor else lod_tensor_body.body_of(x)


def as_nested(where: str, x: Any) -> LoDTensor:
    """Return a LoDTensor, which may be given as nested lists."""
    if isinstance(x, (list, tuple)):
        made: LoDTensor = of_lists(where, x)
        return made
    if isinstance(x, LoDTensor):
        return exactly(x)
    if is_foreign(type(x)):
        return as_nested(where, plain_of(where, x))
    refuse_conversion(where, x)
    raise DTypeError(f"{where}: is {type(x).__name__}; a LoDTensor or nested lists are needed")


def as_nested_index(where: str, x: Any) -> LoDTensor:
    """Return a LoDTensor of integers, which may be given as nested lists; those without elements become int64."""
    made = as_nested(where, x)
    if isinstance(x, LoDTensor) or made.num_rows or has_leaves(x):
        return made
    return lod_tensor_body.new_tensor(np.empty(0, np.int64), made.lod)
