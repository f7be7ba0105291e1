"""Indices that choose few elements of long sequences, without taking these sequences first."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.numpy_api.paired import is_number, is_vector
from lodcore.ops.elementwise.convert import rows
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.gather import gather_sequences
from lodcore.ops.move.position import drop_level
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["elements", "is_shorter_first"]

SMALL = 4096  # values that are taken sooner than it is found out which are needed


def elements(x: Any, known: Any, keys: list[Any]) -> Any:
    """Return x[I, J] of a vector I, and a number or vector J, without the other elements of these sequences.

    Parameters
    ----------
    x : LoDTensor or Variable
    known : LoDTensor or Variable
        The value of x, if that is known here.
    keys : list
        Prepared keys.

    Returns
    -------
    LoDTensor, ndarray, Variable or None
        None for other keys, for a few small sequences, for Variables whose structure is not known here, and
        where an entry is out of bounds, which is told by what takes whole sequences.
    """
    if type(known) is not LoDTensor or len(keys) < 2 or not known.num_levels:
        return None
    index, place = keys[:2]
    if not _is_integers(index) or not (type(place) is int or _is_integers(place)):
        return None
    if len(index) * known.values.size <= SMALL:
        return None
    offsets, index = known.lod.offsets(0), _from_first(index, len(known))
    if index is None or np.size(place) not in (1, len(index)):
        return None
    starts = offsets[index]
    lengths = offsets[index + 1] - starts
    place = np.asarray(place)
    if ((place < -lengths) | (place >= lengths)).any():
        return None
    place = place.astype(np.int64)
    places = starts + np.where(place < 0, place + lengths, place)
    if known.num_levels > 1:
        return gather_sequences(drop_level(x, 0), places)
    return known.values.take(places, 0) if known is x else index_values(rows(x), [places])


def _is_integers(key: Any) -> bool:
    return isinstance(key, np.ndarray) and key.ndim == 1 and key.dtype.kind in "iu"


def _from_first(index: Any, size: int) -> Any:
    """Return an index of sequences counted from the first; None if there are none, or one is out of bounds."""
    if not size or ((index < -size) | (index >= size)).any():
        return None
    return index.astype(np.int64) % size


def is_shorter_first(known: Any, keys: list[Any]) -> bool:
    """Return whether x[I, a:b] of a vector I takes less as x[:, a:b][I]: where slices are short, or I chooses much.

    Parameters
    ----------
    known : LoDTensor or Variable
        The value of x, if that is known here.
    keys : list
        Prepared keys.
    """
    if type(known) is not LoDTensor or len(keys) < 2 or not known.num_levels or not _is_integers(keys[0]):
        return False
    if type(keys[1]) is not slice or any(is_number(key) or is_vector(key) for key in keys[2:]):
        return False
    if len(keys[0]) * known.values.size <= SMALL or (index := _from_first(keys[0], len(known))) is None:
        return False
    offsets = known.lod.offsets(0)
    whole = int((offsets[index + 1] - offsets[index]).sum())
    if whole <= len(known):  # less than a look at all sequences
        return False
    return 2 * int(np.minimum(known.lengths, _longest(keys[1], known.lengths)).sum()) < whole


def _longest(key: slice, lengths: Any) -> Any:
    """Return how many elements a slice takes at most, of each sequence."""
    start, stop = key.start, key.stop
    if not all(one is None or type(one) is int for one in (start, stop, key.step)) or (key.step or 1) < 0:
        return lengths
    start = 0 if start is None else start
    if stop is None:
        return -start if start < 0 else np.maximum(lengths - start, 0)
    return max(stop - start, 0) if (start < 0) == (stop < 0) else lengths
