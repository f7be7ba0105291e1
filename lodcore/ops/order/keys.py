"""Keys of rows: vectors of them, and the numbers of equal keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import unharmed
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import dense_of
from lodcore.operators.operands import Array

__all__ = [
    "check_keys",
    "is_several",
    "keys_of",
    "listed",
    "nested_groups",
    "numbered",
    "numbered_texts",
    "records_of_keys",
    "sorting_of",
]

#: The random seed of the hash, so that nobody can choose keys that all collide.
SEED = int.from_bytes(os.urandom(8), "little")


def keys_of(where: str, given: Any) -> Array:
    """Return a vector of keys whose bytes are equal if and only if the keys are."""
    keys: Array = dense_of(where, given)
    check_keys(where, keys.shape, keys.dtype)
    if keys.dtype.names is not None:
        return records_of_keys([keys_of(where, keys[name]) for name in keys.dtype.names], list(keys.dtype.names))
    if keys.dtype.kind != "f" and keys.dtype.isnative and keys.flags.c_contiguous and keys.flags.aligned:
        return keys
    made: Array = np.array(keys, native_dtype(keys.dtype), order="C")
    if made.dtype.kind == "f":
        made += 0.0  # turns -0.0 into 0.0
        made[np.isnan(made)] = np.nan
    return made


def check_keys(where: str, shape: tuple[int | None, ...], dtype: np.dtype[Any]) -> None:
    """Raise if the argument is not a vector of keys."""
    if len(shape) != 1:
        raise ShapeError(f"{where}: has shape {shape}; a vector of keys is needed")
    fields = [dtype] if dtype.names is None else [dtype[name] for name in dtype.names]
    for field in fields:
        if field.kind not in "biufmMSU" or field.char == "g":
            raise DTypeError(f"{where}: has dtype {dtype}; integers, floats, dates or text are needed")


def is_several(given: Any) -> bool:
    """Return whether an argument is a tuple or list of vectors, rather than a vector of keys."""
    return (
        isinstance(given, (tuple, list))
        and len(given) > 0
        and all(hasattr(one, "__len__") and not isinstance(one, (str, bytes)) for one in given)
    )


def records_of_keys(keys: Sequence[Array], names: Sequence[str]) -> Array:
    """Return several vectors of keys as one of records, without gaps between their fields."""
    made = np.empty(len(keys[0]), np.dtype([(name, key.dtype) for name, key in zip(names, keys, strict=True)]))
    for name, key in zip(names, keys, strict=True):
        made[name] = key
    return made


def sorting_of(keys: Array) -> Array:
    """Return the order that sorts keys, with nan last; records by their first field, then by the next."""
    if keys.dtype.names is None:
        return np.argsort(keys, kind="stable")
    return np.lexsort([keys[name] for name in reversed(keys.dtype.names)])


def numbered(keys: Array) -> tuple[Array, Array]:
    """Return the distinct keys, numbered in the order of their first appearance.

    Parameters
    ----------
    keys : ndarray, shape (n,)
        The result of `keys_of`.

    Returns
    -------
    ids : int64, shape (n,)
    firsts : int64, shape (number of different keys,)
        The row of the first key of each number.
    """
    return _numbered(len(keys), kernels.group.number_keys, buffers.as_bytes(keys))  # type: ignore[return-value]


def numbered_if_few(keys: Array) -> tuple[Array, Array] | None:
    """Return the result of `numbered` if there are few different keys; otherwise None, before reading all of them."""
    return _numbered(len(keys), kernels.group.number_keys, buffers.as_bytes(keys), most=1)


def numbered_texts(texts: Any) -> tuple[Array, Array]:
    """Return the distinct sequences of bytes, numbered in the order of their first appearance.

    Parameters
    ----------
    texts : LoDTensor of uint8
        Of one level.

    Returns
    -------
    ids, firsts
        As of `numbered`.
    """
    return _numbered(len(texts), kernels.group.number_texts, texts.values, texts.lod.offsets(0))  # type: ignore[return-value]


def _numbered(n_rows: int, number: Any, *keys: Array, most: int = 64) -> tuple[Array, Array] | None:
    """Return the numbers of keys, with tables that grow up to `most` times."""
    ids = buffers.new_int64(n_rows)
    slots = 1 << 12
    for _ in range(most):  # usually there are few different keys, and a small table is fast
        firsts = buffers.new_int64(slots // 4 * 3)
        count = number(*keys, SEED, buffers.new_int64(slots, 2), ids, firsts)
        if count >= 0:
            return ids, firsts[:count]
        slots *= 8
    return None


def listed(ids: Array, count: int) -> tuple[Array, Array]:
    """Return the offsets of the rows with each number, and these rows."""
    offsets, places = buffers.new_offsets(count + 1), buffers.new_int64(len(ids))
    unharmed(kernels.group.order_by_id(ids, offsets, places))
    return offsets, places


def nested_groups(keys: Sequence[Array | tuple[Array, Array]]) -> tuple[list[Array], Array, list[Array]]:
    """Group rows by the first key, the rows of each group by the second, and so on, in the order of first rows.

    Parameters
    ----------
    keys : sequence of ndarray, each of shape (n,), or of results of `numbered`
        One or more results of `keys_of`, or these already numbered.

    Returns
    -------
    (list of ndarray, ndarray, list of ndarray)
        The offsets of each level; the rows in the order of the groups; and the first row of each group of each level.
    """
    (groups, first), *finer = [key if isinstance(key, tuple) else numbered(key) for key in keys]
    levels, firsts = [], [first]
    for ids, different in finer:
        joint, first = numbered(groups * len(different) + ids)
        offsets, inside = listed(groups[first], len(firsts[-1]))  # those inside one coarser group stay together
        place = np.empty_like(inside)
        place[inside] = np.arange(len(inside))
        levels.append(offsets)
        firsts.append(first[inside])
        groups = place[joint]
    offsets, places = listed(groups, len(firsts[-1]))
    return [*levels, offsets], places, firsts
