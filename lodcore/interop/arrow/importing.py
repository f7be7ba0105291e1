"""Conversion of columns of Arrow's C data interface to levels and values; each number is checked before it is used."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_size, unharmed
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.extensions import is_known, meant
from lodcore.interop.arrow.parts import Part, is_flat, masked, records, taken
from lodcore.interop.arrow.reading import Column
from lodcore.interop.arrow.strings import fixed_size, viewed
from lodcore.interop.arrow.types import DIGITS, LIST_VIEWS, LISTS, decimal_of, stored, width_of
from lodcore.interop.presence import some

__all__ = ["Options", "content"]

Array = np.ndarray[Any, Any]
WHERE = "lodcore.from_arrow: obj"
UINT8 = np.dtype(np.uint8)
#: Type of the offsets of strings and binaries.
STRINGS: dict[str, np.dtype[Any]] = {key: np.dtype(np.int32 if key in "uz" else np.int64) for key in "uzUZ"}
VIEWS = ("vu", "vz")

#: The names of types that NumPy does not have, by the begin of their formats.
UNKNOWN = {
    "tiM": "interval of months",
    "tiD": "interval of days and milliseconds",
    "tin": "interval of months, days and nanoseconds",
    "+ud": "dense union",
    "+us": "sparse union",
    "+r": "run-end encoding",
}


class Options(NamedTuple):
    """The options for types that NumPy has no unique equivalent of."""

    fixed_strings: bool
    decode: bool
    records: bool | None = None


def content(column: Column, start: int, stop: int, options: Options, seen: Array | None = None) -> Part:
    """Read the elements `start` to `stop` of a column, which must have as many.

    Parameters
    ----------
    column : Column
    start, stop : int
        In elements, counted from the offset of the column.
    options : Options
    seen : ndarray of bool, optional
        Which elements are in the result. The others may have any text, which neither raises nor widens a dtype.

    Returns
    -------
    Part
    """
    if not is_known(column):
        raise DTypeError(
            f"{WHERE}{column.path}: has the extension type {column.extension!r}, whose values may be others than "
            "those of its storage; cast it to its storage"
        )
    return meant(column, _content(column, start, stop, options, seen))


def _content(column: Column, start: int, stop: int, options: Options, seen: Array | None) -> Part:
    """Read the storage of a column."""
    format = column.format
    if format == "n" and column.dictionary is None:
        _expect(column, buffers=None, children=0)  # 0, but Polars exports 1
        return Part(stop - start, [], [np.zeros(stop - start, bool) if stop > start else None], np.zeros(stop - start))
    there = _validity(column, start, stop)
    seen = _both(seen, there)
    if column.dictionary is not None:
        return _encoded(column, column.dictionary, start, stop, options, there, seen)
    if format in LISTS:
        _expect(column, buffers=2, children=1)
        part = _list(column, start, stop, options, seen)
    elif format in LIST_VIEWS:
        _expect(column, buffers=3, children=1)
        part = _list_view(column, start, stop, options, there, seen)
    elif format.startswith("+w:"):
        _expect(column, buffers=1, children=1)
        part = _fixed_size_list(column, start, stop, options, seen)
    elif format == "+s":
        _expect(column, buffers=1, children=len(column.children))
        part = _struct(column, start, stop, options, seen)
    elif format in STRINGS:
        _expect(column, buffers=3, children=0)
        part = _text(_strings(column, start, stop), column, options, seen)
    elif format in VIEWS:
        _expect(column, buffers=None, children=0)
        part = _text(viewed(column, start, stop), column, options, seen)
    else:
        part = Part(stop - start, [], [None], _leaf(column, start, stop, seen))
    return masked(part, there)


def _both(one: Array | None, other: Array | None) -> Array | None:
    """Return which elements are in both masks, each of which may be None for all of them."""
    return other if one is None else one if other is None else one & other


def _expect(column: Column, buffers: int | None, children: int) -> None:
    """Raise if an array lacks buffers or children of its type; an array read from a schema alone has none."""
    if len(column.children) != children:
        raise LoDError(
            f"{WHERE}{column.path}: has {len(column.children)} children; its format {column.format!r} has {children}"
        )
    if column.length and buffers is not None and column.num_buffers != buffers:
        raise LoDError(
            f"{WHERE}{column.path}: has {column.num_buffers} buffers; its format {column.format!r} has {buffers}"
        )


def _validity(column: Column, start: int, stop: int) -> Array | None:
    """Read the validity of elements; None if all are valid."""
    if column.null_count == 0 or start >= stop:
        return None
    if not column.has_buffer(0):
        if column.null_count > 0:
            raise LoDError(f"{WHERE}{column.path}: has {column.null_count} nulls, but no validity buffer")
        return None
    there = _bits(column, 0, start, stop, "validity")
    return None if there.all() else there


def _bits(column: Column, k: int, start: int, stop: int, what: str) -> Array:
    """Unpack bits of a buffer into bools."""
    first, last = column.offset + start, column.offset + stop
    check_size(WHERE, stop - start)
    packed = column.buffer(k, UINT8, first // 8, -(-last // 8), what)
    skipped = first % 8
    bits = np.unpackbits(packed, count=skipped + stop - start, bitorder="little")
    return bits[skipped:].view(np.bool_)


def _leaf(column: Column, start: int, stop: int, seen: Array | None) -> Array:
    """Return a view of contiguous values."""
    if column.format.startswith("d:"):
        return _decimals(column, start, stop, seen)
    found = stored(column.format)
    if found is None and column.format != "b":
        kind = UNKNOWN.get(column.format[:3])
        called = f" ({kind})" if kind else ""
        raise DTypeError(f"{WHERE}{column.path}: has format {column.format!r}{called}, which NumPy has no dtype for")
    _expect(column, buffers=2, children=0)
    if found is None:
        return np.ascontiguousarray(_bits(column, 1, start, stop, "values"))
    values: Array = column.buffer(1, found.dtype, column.offset + start, column.offset + stop)
    if found.dtype.kind == "S" and found.dtype.itemsize:
        _refuse_nul(column, values, start, seen)
    return values if found.becomes == found.dtype else values.astype(found.becomes)


def _refuse_nul(column: Column, values: Array, start: int, seen: Array | None) -> None:
    """Raise if bytes of a fixed size end with NUL, which NumPy drops when they are read or go out."""
    ends = values.view(UINT8).reshape(len(values), values.itemsize)[:, -1] == 0
    if seen is not None:
        ends &= seen
    if ends.any():
        raise DTypeError(
            f"{WHERE}{column.path}: value {int(np.argmax(ends)) + start} ends with NUL, which NumPy drops; cast it to "
            "binary, whose bytes are a level and keep it, or to text"
        )


def _decimals(column: Column, start: int, stop: int, seen: Array | None) -> Array:
    """Return decimal numbers as floats, which hold up to 15 digits."""
    scale, bits = decimal_of(column.format, column.path)
    _expect(column, buffers=2, children=0)
    words = bits // 32
    given: Array = column.buffer(1, np.dtype(("<u4", (words,))), column.offset + start, column.offset + stop).reshape(
        -1, words
    )
    low = given[:, 0].astype(np.int64)
    if words == 1:
        numbers = low.astype(np.int32).astype(np.int64)
        fit = np.ones(len(numbers), bool)
    else:
        numbers = low | given[:, 1].astype(np.int64) << 32
        fit = (given[:, 2:] == np.where(numbers < 0, 2**32 - 1, 0)[:, None]).all(axis=1)
    fit &= np.abs(numbers) <= 10**DIGITS  # the least number of 64 bits is its own absolute value
    fit &= numbers != np.iinfo(np.int64).min
    if seen is not None:
        fit |= ~seen
    if not fit.all():
        at = int(np.argmin(fit))
        raise DTypeError(
            f"{WHERE}{column.path}: has more than {DIGITS} digits at position {at + start}, which float64 does not "
            "hold: convert it to text, or to integers"
        )
    return numbers / 10.0**scale if scale >= 0 else numbers * 10.0**-scale


def _offsets(column: Column, dtype: np.dtype[Any], start: int, stop: int) -> tuple[Array, int]:
    """Return a checked copy of offsets that begins at 0, and the original first offset."""
    offsets = buffers.new_offsets(stop - start + 1)
    if start >= stop:  # such an array may have no offsets
        offsets[:] = 0
        return offsets, 0
    given = column.buffer(1, dtype, column.offset + start, column.offset + column.length + 1, "offsets")
    first, last = buffers.new_int64(1), stop - start
    bad = kernels.foreign_data.copy_offsets(given[: last + 1], first, offsets)
    if bad < 0 and given[last] > given[-1]:  # the last offset is all that says how much there is below
        bad = last + 1 + int(np.argmax(given[last + 1 :] < given[last:-1]))
    if bad >= 0:
        before = f" ({given[bad - 1]} -> {given[bad]})" if bad else f" ({given[bad]})"
        raise LoDError(
            f"{WHERE}{column.path}: offsets: {'fall' if bad and given[bad] >= 0 else 'are negative'} at position "
            f"{bad + start}{before}; offsets are not negative and never fall"
        )
    return offsets, int(first[0])


def _list(column: Column, start: int, stop: int, options: Options, seen: Array | None) -> Part:
    child = column.children[0]
    offsets, first = _offsets(column, LISTS[column.format], start, stop)
    last = first + offsets.item(len(offsets) - 1)
    if last > child.length:
        raise LoDError(f"{WHERE}{column.path}: offsets: end at {last}; there are {child.length} elements below")
    if seen is not None:
        seen = _seen_below(child, options, offsets[:-1], offsets[1:], seen)
    below = content(child, first, last, options, seen)
    return Part(stop - start, [offsets, *below.levels], [None, *below.present], below.values, below.dictionary)


def _seen_below(child: Column, options: Options, begins: Array, ends: Array, seen: Array | None) -> Array | None:
    """Return which elements are in the lists that are seen; None if what is read of them does not depend on it."""
    if not _has_text(child, options):
        return None
    count = int(ends.max(initial=0))
    check_size(WHERE, count, 16)
    if seen is not None:
        begins, ends = begins[seen], ends[seen]
    change = np.bincount(begins, minlength=count + 1) - np.bincount(ends, minlength=count + 1)
    found: Array = np.cumsum(change)[:count] > 0
    return found


def _has_text(column: Column, options: Options) -> bool:
    """Return whether there are values that may be refused, or that say how wide a dtype is."""
    return (
        (options.fixed_strings and (column.format in STRINGS or column.format in VIEWS))
        or column.format.startswith(("w:", "d:"))
        or any(_has_text(child, options) for child in column.children)
        or (column.dictionary is not None and _has_text(column.dictionary, options))
    )


def _list_view(
    column: Column, start: int, stop: int, options: Options, there: Array | None, seen: Array | None
) -> Part:
    """Read lists in any order in memory; they are copied unless each begins where the previous one ends."""
    child, dtype = column.children[0], LIST_VIEWS[column.format]
    first, last = column.offset + start, column.offset + stop
    begins: Array = column.buffer(1, dtype, first, last, "offsets").astype(np.int64)
    sizes = column.buffer(2, dtype, first, last, "sizes").astype(np.int64)
    if there is not None:
        begins[~there], sizes[~there] = 0, 0
    with np.errstate(over="ignore"):
        ends = begins + sizes  # a sum that wraps around is below its begin
    ranges = buffers.new_int64(stop - start, 2)
    bad = kernels.gather.check_ranges(begins, ends, child.length, ranges)
    if bad >= 0:
        raise LoDError(
            f"{WHERE}{column.path}: list {bad + start} has offset {begins[bad]} and size {sizes[bad]}; there are "
            f"{child.length} elements below"
        )
    offsets = buffers.new_offsets(len(ranges) + 1)
    unharmed(kernels.lod.offsets_from_lengths(sizes, offsets))
    low, high = (int(begins.min()), int(ends.max())) if len(ranges) else (0, 0)
    consecutive = (begins[1:] == ends[:-1]).all()
    if not consecutive:
        check_size(WHERE, offsets.item(len(offsets) - 1))
    if seen is not None or not consecutive:
        seen = _seen_below(child, options, begins - low, ends - low, seen)
    below = content(child, low, high, options, seen)
    if not consecutive:
        below = taken(below, ranges - low)
    return Part(stop - start, [offsets, *below.levels], [None, *below.present], below.values, below.dictionary)


def _fixed_size_list(column: Column, start: int, stop: int, options: Options, seen: Array | None) -> Part:
    """Read lists of one size: an axis of a row directly above values, a level otherwise."""
    width, count = width_of(column.format, 3), stop - start
    child = column.children[0]
    first, last = (column.offset + start) * width, (column.offset + stop) * width
    if last > child.length:
        raise LoDError(f"{WHERE}{column.path}: ends at element {last} of those below; there are {child.length}")
    if seen is not None:
        begins = np.arange(count) * width
        seen = _seen_below(child, options, begins, begins + width, seen)
    below = content(child, first, last, options, seen)
    if options.records is not False and is_flat(below):
        below = records(below)
    if below.levels or isinstance(below.values, dict):
        offsets = buffers.new_offsets(count + 1)
        offsets[:] = np.arange(count + 1) * width
        return Part(count, [offsets, *below.levels], [None, *below.present], below.values, below.dictionary)
    there = below.present[-1] if width else None  # of no entry, whose shape would hide that a list is null
    inner = None if there is None else there.reshape(count, width, *there.shape[1:])
    values = below.values.reshape(count, width, *below.values.shape[1:])
    return Part(count, [], [inner], values, below.dictionary)


def _struct(column: Column, start: int, stop: int, options: Options, seen: Array | None) -> Part:
    fields: dict[str, Part] = {}
    first, last = column.offset + start, column.offset + stop
    for child in column.children:
        if child.name in fields:
            raise LoDError(f"{WHERE}{column.path}: has two fields named {child.name!r}")
        if column.length and child.length < last:
            raise LoDError(f"{WHERE}{child.path}: has length {child.length}; its struct ends at {last}")
        rows = (first, last) if stop > start else (0, 0)
        fields[child.name] = content(child, *rows, options, seen)
    return Part(stop - start, [], [None], fields)


def _strings(column: Column, start: int, stop: int) -> Part:
    offsets, first = _offsets(column, STRINGS[column.format], start, stop)
    values = column.buffer(2, UINT8, first, first + offsets.item(len(offsets) - 1))
    return Part(stop - start, [offsets], [None, None], values)


def _text(part: Part, column: Column, options: Options, seen: Array | None) -> Part:
    """Return strings as sequences of bytes, or with a fixed size."""
    return fixed_size(masked(part, seen), column.format[-1] in "uU", column.path) if options.fixed_strings else part


def _encoded(
    column: Column,
    dictionary: Column,
    start: int,
    stop: int,
    options: Options,
    there: Array | None,
    seen: Array | None,
) -> Part:
    """Read ids of a dictionary, or decode them."""
    if column.format not in tuple("cCsSiIlL"):
        raise LoDError(f"{WHERE}{column.path}: has a dictionary and format {column.format!r}; an integer one is needed")
    ids, count = _leaf(column, start, stop, None), dictionary.length
    checked = ids if there is None else ids[there]
    if len(checked) and (int(checked.min()) < 0 or int(checked.max()) >= count):
        wrong = (ids < 0) | (ids >= count) if there is None else ((ids < 0) | (ids >= count)) & there
        at = int(np.argmax(wrong))
        raise LoDError(
            f"{WHERE}{column.path}: id {ids[at]} at position {at + start}; its dictionary has {count} entries"
        )
    decode = options.decode
    if not decode:  # entries are only compared, for which the bytes of text will do
        options = options._replace(fixed_strings=False)
    used = None
    if _has_text(dictionary, options):
        check_size(WHERE, count)
        used = np.zeros(count, bool)
        used[ids if seen is None else ids[seen]] = True
    words = content(dictionary, 0, count, options, None if used is None or used.all() else used)
    if not decode:
        return masked(Part(stop - start, [], [None], ids, words), _known(ids, there, words))
    chosen = ids.astype(np.int64)
    if there is not None:
        chosen[~there] = 0
    if not count and len(chosen):  # all are null
        words = _blank(words)
    ranges = np.stack([chosen, chosen + 1], axis=1)
    return masked(taken(words, ranges), there)


def _known(ids: Array, there: Array | None, words: Part) -> Array | None:
    """Return which ids are those of values: an entry of a dictionary may be null. None if all are."""
    entries = words.present[0]
    if entries is None or not len(entries):
        return there
    known = some(entries)[ids if there is None else np.where(there, ids, 0)]
    return known if there is None else known & there


def _blank(words: Part) -> Part:
    """Return one element for an empty dictionary, to which nulls refer."""
    if isinstance(words.values, dict):
        raise DTypeError(f"{WHERE}: its dictionary has structs and no entries")
    levels = [np.zeros(2 if k == 0 else 1, np.int64) for k in range(len(words.levels))]
    rows = 0 if levels else 1
    values = np.zeros((rows, *words.values.shape[1:]), words.values.dtype)
    return Part(1, levels, [None] * len(words.present), values)
