"""Arrow strings: views, and conversion to a fixed size."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size, unharmed
from lodcore.errors import LoDError
from lodcore.interop.arrow.parts import Part
from lodcore.interop.arrow.reading import Column
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.utf8 import fixed_width

__all__ = ["fixed_size", "viewed"]

Array = np.ndarray[Any, Any]
WHERE = "lodcore.from_arrow: obj"
INLINE = 12  # bytes of a string that is stored in its view
VIEW = np.dtype([("size", "<i4"), ("head", "<i4"), ("buffer", "<i4"), ("start", "<i4")])
UINT8 = np.dtype(np.uint8)


def viewed(column: Column, start: int, stop: int) -> Part:
    """Copy strings consecutively that are stored in their views, or in any of several buffers."""
    count, others = stop - start, column.num_buffers - 3
    if start >= stop:
        return Part(0, [np.zeros(1, np.int64)], [None, None], np.empty(0, np.uint8))
    if others < 0:
        raise LoDError(f"{WHERE}{column.path}: has {column.num_buffers} buffers; strings behind views have 3 or more")
    first, last = column.offset + start, column.offset + stop
    views = column.buffer(1, VIEW, first, last, "views").copy()
    sizes = column.buffer(others + 2, np.dtype(np.int64), 0, others, "sizes").copy()
    there = _there(column, first, last)
    if there is not None:
        views[~there] = np.zeros((), VIEW)
    lengths = views["size"].astype(np.int64)
    far = lengths > INLINE
    _check_views(column, views, lengths, far, sizes, start)
    used = np.unique(views["buffer"][far]).tolist()
    pieces = [views.view(np.uint8)]
    bases = np.zeros(others + 1, np.int64)
    check_size(WHERE, views.nbytes + int(sizes[used].sum()))
    reach = views.nbytes
    for j in used:
        bases[j] = reach
        reach += int(sizes[j])
        pieces.append(column.buffer(2 + j, UINT8, 0, int(sizes[j]), "characters"))
    source = np.concatenate(pieces)
    begins = np.arange(count, dtype=np.int64) * VIEW.itemsize + 4
    begins[far] = bases[views["buffer"][far]] + views["start"][far]
    offsets = buffers.new_offsets(count + 1)
    unharmed(kernels.lod.offsets_from_lengths(lengths, offsets))
    x: Any = lod_tensor_body.new_tensor(source, lod_body.make_lod([], len(source)))
    ranges = np.stack([begins, begins + lengths], axis=1)
    values = lod_tensor_body.take_ranges(x, WHERE, 0, ranges, offsets.item(count)).values
    return Part(count, [offsets], [None, None], values)


def _there(column: Column, first: int, last: int) -> Array | None:
    """Read the validity bits of views."""
    if column.null_count == 0 or not column.has_buffer(0):
        return None
    packed = column.buffer(0, UINT8, first // 8, -(-last // 8), "validity")
    bits = np.unpackbits(packed, count=first % 8 + last - first, bitorder="little")[first % 8 :]
    return bits.view(np.bool_)


def _check_views(column: Column, views: Array, lengths: Array, far: Array, sizes: Array, start: int) -> None:
    """Raise if a view exceeds its buffer."""
    if (sizes < 0).any():
        raise LoDError(f"{WHERE}{column.path}: claims a buffer of {sizes.min()} bytes; 0 or more is needed")
    bad = lengths < 0
    inside = (views["buffer"] >= 0) & (views["buffer"] < len(sizes)) & (views["start"] >= 0)
    bad |= far & ~inside
    room = np.append(sizes, 0)[np.where(inside, views["buffer"], -1)]
    bad |= far & (views["start"].astype(np.int64) + lengths > room)
    if bad.any():
        at = int(np.argmax(bad))
        raise LoDError(
            f"{WHERE}{column.path}: string {at + start} has size {lengths[at]}, buffer {views['buffer'][at]}, start "
            f"{views['start'][at]}; that is in none of its {len(sizes)} buffers"
        )


def fixed_size(part: Part, text: bool, path: str) -> Part:
    """Convert strings, which are sequences of bytes, to values of dtype S or U as wide as the longest."""
    values = fixed_width(f"{WHERE}{path}", part.values, part.levels[0], text)
    return Part(part.count, [], [part.present[0]], values)
