"""Indexing: x[...] of LoDTensors and Variables, by operators, and assignment to rows."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dispatch import Symbol, open_operators
from lodcore.base.memory import as_integer
from lodcore.base.missing import refuse_missing
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.numpy_api import dense_shapes
from lodcore.numpy_api.advice import NOT_FIRST, OF_DENSE
from lodcore.numpy_api.exchange import refuse_exchange
from lodcore.numpy_api.few_elements import elements, is_shorter_first
from lodcore.numpy_api.paired import Group, check_together, is_number, is_vector
from lodcore.operators.alignment import fitted
from lodcore.operators.operands import check_equal, kept_in, known_value, rows_of
from lodcore.ops.elementwise.convert import rows
from lodcore.ops.index.index import pick_along, select_by_mask, slice_along, take_nested, take_of_each
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.expand import sequence_reverse
from lodcore.ops.move.gather import gather_sequences
from lodcore.ops.move.lod_data import num_rows
from lodcore.ops.move.position import insert_level
from lodcore.ops.move.ranges import arange
from lodcore.ops.reduce.axes import tensor_of
from lodcore.tensors import fast_paths, lod_body, lod_tensor_body
from lodcore.tensors.foreign_columns import is_array
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.lod_tensor_body import LoDTensorBody  # isinstance(x, LoDTensor) is slow for other objects
from lodcore.tensors.nested import as_array

__all__ = ["getitem", "read_only", "setitem"]

ALL = slice(None)

#: The reason why values cannot be written, and the remedy.
READ_ONLY = (
    "the values are read-only, since they share the memory of the array that they were made of; write into x.copy(), "
    "or make it with LoDTensor(values, lod, share=True), which writes into that array, too, if it is writable"
)
MAPPED = "the values are read-only, since they are those of a file that is open for reading; write into x.copy()"


def read_only(where: str, values: Any) -> ValueError:
    """Return the error for values that cannot be written."""
    base: Any = values
    while isinstance(base, np.ndarray):
        base = buffers.owner_of(base)
    base = base.obj if isinstance(base, memoryview) else base
    mapped = isinstance(base, mmap.mmap) and memoryview(base).readonly
    return ValueError(f"{where}: {MAPPED if mapped else READ_ONLY}")


# -- keys --------------------------------------------------------------------------------------------------------------


def _levels(x: Any) -> int:
    return getattr(x, "num_levels", 0)


def _prepared(key: Any) -> Any:
    """Return one checked key: an int, a slice, Ellipsis, a vector of integers or bool, a nested key, or a Symbol."""
    if isinstance(key, slice) or key is Ellipsis or isinstance(key, (LoDTensorBody, str)):
        return key
    if isinstance(key, Symbol):
        return tensor_of("index", key)
    if isinstance(key, (bool, np.bool_)):
        raise TypeError(f"index: is {key!r}; a vector is needed for a mask")
    if key is None:
        return key
    if isinstance(key, range):
        return np.arange(key.start, key.stop, key.step)
    if isinstance(key, (list, tuple)):
        if not key:
            return np.empty(0, np.int64)
        if any(isinstance(one, (list, tuple, LoDTensor, Symbol)) for one in key):
            raise TypeError("index: is a list of lists; use lodcore.array for one list per sequence")
        key = np.asarray(key)
    elif is_array(key):
        key, given = as_array("index", key), key
        if key.ndim != 1:
            raise TypeError(
                f"index: is {type(given).__name__}; integers, slices, masks and vectors of integers are needed"
            )
    if isinstance(key, np.ndarray):
        if isinstance(key, np.ma.MaskedArray):
            raise TypeError("index: is a masked array; fill or drop the masked entries first")
        if key.dtype.kind not in "iub":
            raise TypeError(f"index: has dtype {key.dtype}; integers or bool are needed")
        if key.ndim == 0 and key.dtype.kind == "b":
            raise TypeError(f"index: is {key!r}; a vector is needed for a mask")
        return key.item() if key.ndim == 0 else key
    number = as_integer(key, bools=True)
    if number is not None:
        return number
    raise TypeError(f"index: is {described(key)}; integers, slices, masks and vectors of integers are needed")


def _axes(key: Any) -> int:
    """Count the axes that a key indexes."""
    if type(key) is int or type(key) is slice:
        return 1
    if key is None:
        return 0
    return key.ndim if not _levels(key) and getattr(key, "dtype", None) == np.bool_ else _levels(key) + 1


def _expanded(keys: tuple[Any, ...], ndim: int) -> list[Any]:
    """Replace an Ellipsis by slices."""
    prepared = list(map(_prepared, keys))
    places = [j for j, key in enumerate(prepared) if key is Ellipsis]
    count = sum(_axes(key) for key in prepared) - len(places)
    if count > ndim:
        if any(map(_levels, prepared[1:])):  # it counts as several axes
            raise TypeError(NOT_FIRST)
        raise IndexError(f"too many indices: there are {ndim} axes, but {count} were indexed")
    if len(places) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not places:
        return prepared
    before, behind = prepared[: places[0]], prepared[places[0] + 1 :]
    if count == ndim:  # it covers no axis, but still separates vectors
        check_together(before, behind)
    return [*before, *[ALL] * (ndim - count), *behind]


def _numbered(x: Any, keys: list[Any]) -> list[Any]:
    """Replace a mask of the batch by numbers if there are other vectors."""
    mask = keys[0] if keys else None
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (len(x),):
        return keys
    return [np.flatnonzero(mask), *keys[1:]] if sum(map(is_vector, keys)) > 1 else keys


# -- reading -----------------------------------------------------------------------------------------------------------


def getitem(x: Any, key: Any) -> Any:
    """Index a LoDTensor or Variable; docs/numpy.md lists the supported indices.

    Parameters
    ----------
    x : LoDTensor or Variable
    key : int, slice, vector, mask, nested mask or index, or a tuple of them

    Returns
    -------
    LoDTensor, ndarray, number or Variable

    Raises
    ------
    IndexError
        If a sequence is too short; the message names it.
    TypeError
        If the index is not supported.
    LoDError, ShapeError
        If a mask does not have the structure, or the length, of x.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])
    >>> x[:, :2], x[[2, 0], -1], x[x > 2]
    (LoDTensor(3 sequences of lengths 0..2, int64: [[1, 2], [], [4, 5]]), array([5, 3]), LoDTensor(3 sequences of \
lengths 0..2, int64: [[3], [], [4, 5]]))
    """
    if type(key) is LoDTensor and type(x) is LoDTensor:
        chosen = fast_paths.chosen(x, key)
        if chosen is not None:
            return chosen
    plain = fast_paths.plain_keys(x, key)
    if plain is not None:
        return index_values(x.current(), plain, False)
    x = tensor_of("index", x)
    if isinstance(key, str) or _is_names(key):
        return _field(x, key)
    if type(key) is not tuple and _levels(x):
        one = _prepared(key)
        if one is not Ellipsis and _axes(one) <= x.ndim:
            return _along(x, one, 0)[0]
    given = key if isinstance(key, tuple) else (key,)
    if not _levels(x) and any(map(_levels, given)):
        raise TypeError(OF_DENSE)
    if not _levels(x) and isinstance(x, Symbol):
        given = tuple([_array_of_lists(one) if type(one) is list else one for one in given])
    keys = _expanded(given, x.ndim)
    known = known_value(x) if open_operators() is None else x  # under vjp, too
    group = Group(_numbered(known, keys) if isinstance(known, LoDTensor) else keys)
    at = 0
    paired = elements(x, known, group.keys)
    if paired is not None:
        x, at = paired, 1
    elif is_shorter_first(known, group.keys):
        x = _slice(x, group.keys[1], 1)
        group.keys[1] = ALL
    for j, one in enumerate(group.keys):
        if paired is not None and j < 2:
            group.meet(j, j, is_vector(one))
            continue
        levels = _levels(x)
        if not levels or at > levels:
            return _values(x, at - levels, group.keys[j:], group, j)
        if group.has(one):
            is_paired = group.axis is not None
            group.meet(j, at, is_vector(one))
            if is_paired:
                x = pick_along(x, group.entries(x, one, at - 2), at)
                continue
        x, passed = _along(x, one, at)
        at += passed
    return x


def _array_of_lists(key: list[Any]) -> Any:
    """Return a list of lists, an index of a dense array, as an array."""
    return np.asarray(key) if any(type(one) is list for one in key) else key


def _is_names(key: Any) -> bool:
    """Return whether a key is a list of field names."""
    return type(key) is list and len(key) > 0 and all([isinstance(one, str) for one in key])


def _field(x: Any, key: str | list[str]) -> Any:
    """Return a view of one or several fields of records."""
    known = None if x.dtype is None else x.dtype.names
    if known and isinstance(x, Symbol):
        raise TypeError(f"index: is {key!r}; fields of a Variable are not recorded, give x[{key!r}] itself")
    for name in key if type(key) is list else [key]:
        if not known or name not in known:
            has = f"those are {', '.join(map(repr, known))}" if known else "fields are those of records"
            raise TypeError(f"index: is {name!r}; the values have no such field, {has}")
    if type(key) is list and len(set(key)) < len(key):
        raise TypeError(f"index: is {key!r}; different fields are needed")
    return lod_tensor_body.field_tensor(lod_tensor_body.writable_values(x)[key], x.lod)


def _values(x: Any, before: int, keys: list[Any], group: Group, j: int) -> Any:
    """Index axes of rows, or all axes of a dense array, as NumPy does; j is the number of the first key."""
    if any(_levels(key) for key in keys):
        raise TypeError(NOT_FIRST)
    if isinstance(x, LoDTensor) and not x.num_levels:
        x = x.values
    if any([isinstance(key, slice) and _has_symbols(key) for key in keys]):
        x, keys = _sliced(x, before, keys)
    way = group.of_rows(j, keys)
    if way == "first":
        if before:
            raise TypeError("index: vectors are separated from an integer by a slice; index step by step")
        return index_values(index_values(x, [None]), [0, *keys])
    if way == "paired":
        last = _levels(x) - 1
        keys = [group.entries(x, key, last) if group.has(key) else key for key in keys]
    return index_values(x, [ALL] * before + keys, paired=way == "paired")


def _sliced(x: Any, axis: int, keys: list[Any]) -> tuple[Any, list[Any]]:
    """Apply slices with bounds known only at run time to axes of values, by positions; return the other keys, too."""
    left = []
    for key in keys:
        if isinstance(key, slice) and _has_symbols(key):
            length = x.shape[_levels(x) + axis]
            if length is None:
                length = num_rows(dense_shapes.swapaxes(rows(x), 0, axis) if axis else x)
            taken = slice_along(arange(length), key.start, key.stop, key.step, 1)
            x, key = index_values(x, [*[ALL] * axis, rows(taken)]), ALL
        left.append(key)
        axis += 0 if key is None else key.ndim if getattr(key, "dtype", None) == np.bool_ else 1
    return x, left


def _along(x: Any, key: Any, axis: int) -> tuple[Any, int]:
    """Apply one key to an axis of levels; return the result, and the number of its axes that are done."""
    if key is None:
        return insert_level(x, max(axis - 1, 0), axis == 0), 1
    if isinstance(key, slice):
        return _slice(x, key, axis), 1
    if is_number(key):
        if axis == 0 and type(key) is int and isinstance(x, LoDTensor):
            return x[key], 0
        return pick_along(x, key, axis), 0
    if isinstance(key, str):
        raise TypeError(f"index: is {key!r}; a field must be the only key")
    if _levels(key):
        if axis:
            raise TypeError(NOT_FIRST)
        return (select_by_mask if key.dtype == np.bool_ else take_nested)(x, key), _axes(key)
    return _vector(x, key, axis)


def _slice(x: Any, key: slice, axis: int) -> Any:
    if key.start is None and key.stop is None:
        if key.step is None:
            return x
        if axis and type(key.step) is int and key.step == -1:
            return sequence_reverse(x, axis - 1)
    if axis == 0 and isinstance(x, LoDTensor) and not _has_symbols(key) and key.step in (None, 1):
        return x[key]
    return slice_along(x, key.start, key.stop, key.step, axis)


def _has_symbols(key: slice) -> bool:
    return any([isinstance(one, Symbol) for one in (key.start, key.stop, key.step)])


def _vector(x: Any, key: Any, axis: int) -> tuple[Any, int]:
    """Apply a vector of integers or bool."""
    if key.ndim != 1:
        raise TypeError(f"index: has shape {key.shape}; a vector is needed, or one with levels")
    if key.dtype == np.bool_:
        if axis:
            raise TypeError("index: a mask of bool must be the first key, or have the levels of x")
        return select_by_mask(x, key), 1
    if axis == 0:
        return gather_sequences(x, key), 1
    return take_of_each(x, key, axis), 1


# -- writing -----------------------------------------------------------------------------------------------------------


def setitem(x: LoDTensor, key: Any, value: Any) -> None:
    """Write rows of a LoDTensor, in place.

    Parameters
    ----------
    x : LoDTensor
        A tensor whose values are writable.
    key
        As in `getitem`.
    value : LoDTensor, array_like or number
        Broadcast to the indexed rows.

    Raises
    ------
    ValueError
        If the values are read-only, as are those that share the memory of a caller's array.
    LoDError, ShapeError, DTypeError
        If the value does not fit; nothing is written in this case.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])
    >>> x[x > 3] = 0
    >>> x[0] = [7, 8, 9]
    >>> x
    LoDTensor(3 sequences of lengths 0..3, int64: [[7, 8, 9], [], [0, 0]])
    """
    keys = key if isinstance(key, tuple) else (key,)
    recorded = [_has_symbols(one) if type(one) is slice else isinstance(one, Symbol) for one in keys]
    if isinstance(value, Symbol) or any(recorded):
        raise TypeError("assignment: a Variable is recorded, and cannot be written into a tensor; use where(...)")
    rows = lod_tensor_body.writable_values(x)
    if not rows.flags.writeable:
        raise read_only("assignment: x[...]", rows)
    if isinstance(key, str) or _is_names(key):
        return setitem(_field(x, key), ALL, value)
    prepared = _expanded(keys, x.ndim)
    first = prepared[0] if prepared else ALL
    if x.num_levels and len(prepared) == 1 and (type(first) is int or _is_run(first)):
        if type(first) is int:
            refuse_exchange(x, value)
        target, lod = _written(x[first])
        target[...] = _fitting(value, target.shape, target.dtype, lod)
    elif x.num_levels and type(first) is int and not any(map(is_vector, prepared)):
        _set_in_sequence(x[first], tuple(prepared[1:]), value)
    elif (
        isinstance(first, LoDTensor)
        and len(prepared) == 1
        and first.num_levels == x.num_levels > 0
        and first.dtype == bool
    ):
        _set_by_mask(x, first, value)
    else:
        cells = not x.num_levels or sum(map(_axes, prepared)) > x.num_levels + 1
        numbers = np.arange(rows.size).reshape(rows.shape) if cells else np.arange(len(rows))
        places, lod = _parts(getitem(lod_tensor_body.new_tensor(numbers, x.lod), tuple(prepared)))
        made = _fitting(value, (*np.shape(places), *(() if cells else rows.shape[1:])), rows.dtype, lod)
        rows[np.unravel_index(places, rows.shape) if cells else places] = made


def _set_by_mask(x: LoDTensor, mask: LoDTensor, value: Any) -> None:
    """Write the rows for which a mask is true."""
    check_equal("assignment", x.lod, mask.lod, "mask")
    if mask.values.ndim > 1 and mask.values.shape[1:] != (1,):
        raise ShapeError(f"assignment: mask: has rows of shape {mask.values.shape[1:]}; one entry per row is needed")
    rows, chosen = lod_tensor_body.writable_values(x), np.array(mask.values).reshape(-1)  # a private copy
    count = int(np.count_nonzero(chosen))
    lod = None if isinstance(value, (int, float, np.generic)) else _kept(x.lod, chosen, count)
    made = _fitting(value, (count, *rows.shape[1:]), rows.dtype, lod)
    if count and not made.strides[0]:  # one row for all
        np.copyto(rows, made[0], where=chosen.reshape(-1, *(1,) * (rows.ndim - 1)))
    else:
        rows[chosen] = made


def _kept(lod: LoD, chosen: Any, count: int) -> LoD:
    """Return the structure of the chosen rows."""
    last = lod.num_levels - 1
    offsets = buffers.new_offsets(lod.num_sequences(last) + 1)
    kernels.index.true_offsets(lod_body.offsets_view(lod, last), chosen.view(np.uint8), offsets)
    return lod_body.make_lod([*[lod.offsets(k) for k in range(last)], offsets], count)


def _is_run(key: Any) -> bool:
    return isinstance(key, slice) and key.step in (None, 1)


def _parts(found: Any) -> tuple[Any, Any]:
    return (found.values, found.lod) if isinstance(found, LoDTensor) and found.num_levels else (found, None)


def _written(found: Any) -> tuple[Any, Any]:
    """Return the memory of the indexed values, and their LoD."""
    return (
        (lod_tensor_body.writable_values(found), found.lod)
        if isinstance(found, LoDTensor) and found.num_levels
        else (found, None)
    )


def _set_in_sequence(sequence: Any, keys: tuple[Any, ...], value: Any) -> None:
    """Write into one sequence: sequences below, or rows."""
    if isinstance(sequence, LoDTensor):
        setitem(sequence, keys, value)
    else:
        sequence[keys] = _fitting(value, np.shape(sequence[keys]), sequence.dtype, None)


def _fitting(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any], lod: Any) -> Any:
    """Convert the assigned value to the shape, dtype and structure of the indexed rows."""
    if isinstance(value, LoDTensor) and value.num_levels:
        if lod is None:
            raise LoDError("assignment: value: has levels; the indexed rows have none")
        made = kept_in("assignment: value", fitted("assignment", shape, lod, value), dtype)
    else:
        refuse_missing("assignment: value", value)
        made = kept_in("assignment: value", rows_of(value), dtype)
        if made.ndim and lod is not None:
            made = fitted("assignment", shape, lod, made)
    try:
        return np.broadcast_to(made, shape)
    except ValueError:
        raise ShapeError(f"assignment: value: has shape {made.shape}; the indexed rows have {shape}") from None


def refuse_setitem(x: Any, key: Any, value: Any) -> None:
    """Raise the error for writing into a Variable."""
    raise DTypeError("assignment: a Variable is a value that others may have used; use where(mask, value, x)")
