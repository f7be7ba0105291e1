"""Columns that go out to Arrow, with what dtypes of NumPy do not say."""

from __future__ import annotations

from typing import Any

from lodcore.base.libraries import library
from lodcore.interop.arrow.types import has_digits

__all__ = ["restored"]

DAY = 86400  # seconds


def restored(pyarrow: Any, column: Any, kept: tuple[Any, ...] | None) -> Any:
    """Return a column with its zone, digits, times of day or categories, unless it has values that these do not fit.

    Parameters
    ----------
    pyarrow : module
    column : pyarrow.ChunkedArray
    kept : tuple or None
        As in `TableColumn`.
    """
    if kept is None:
        return column
    array = column.combine_chunks()
    made = _fitting(pyarrow, array, kept)
    return column if made is array else pyarrow.chunked_array([made])


def _fitting(pyarrow: Any, array: Any, kept: tuple[Any, ...] | None) -> Any:
    """Return an array with its type, or the array itself if a value does not fit."""
    try:
        return array if kept is None else _restored(pyarrow, array, kept)
    except pyarrow.ArrowInvalid:
        return array


def _restored(pyarrow: Any, array: Any, kept: tuple[Any, ...]) -> Any:
    """Return an array, or what is in its lists, with its type; raise ArrowInvalid if a value does not fit."""
    types, kind = pyarrow.types, array.type
    if types.is_large_list(kind):
        return pyarrow.LargeListArray.from_arrays(array.offsets, _restored(pyarrow, array.values, kept))
    if types.is_fixed_size_list(kind):
        size = kind.list_size
        values = array.values.slice(array.offset * size, len(array) * size)
        return pyarrow.FixedSizeListArray.from_arrays(_restored(pyarrow, values, kept), size, mask=array.is_null())
    if kept[0] == "fields" and types.is_struct(kind):
        fields = {field.name: array.field(k) for k, field in enumerate(kind)}
        made = [_fitting(pyarrow, field, kept[1].get(name)) for name, field in fields.items()]
        return pyarrow.StructArray.from_arrays(made, list(fields), mask=array.is_null())
    if kept[0] == "zone" and types.is_timestamp(kind):
        return array.cast(pyarrow.timestamp(kind.unit, kept[1]))
    if kept[0] == "decimal" and types.is_float64(kind):
        if not has_digits(array.drop_null().to_numpy(), kept[1], kept[2]):
            raise pyarrow.ArrowInvalid("other digits")
        return array.cast(pyarrow.decimal128(kept[2] or 38, kept[1]))
    if kept[0] == "time" and types.is_duration(kind):
        return _times_of_day(pyarrow, array)
    if kept[0] == "category" and types.is_large_string(kind):
        return _categories(pyarrow, array, kept[1], kept[2])
    return array


def _times_of_day(pyarrow: Any, array: Any) -> Any:
    """Return durations since midnight as times."""
    unit, numbers = array.type.unit, array.cast(pyarrow.int64())
    bounds = library("pyarrow.compute", "arrow", "lodcore.to_arrow").min_max(numbers).as_py()
    count = DAY * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    if bounds["min"] is not None and not 0 <= bounds["min"] <= bounds["max"] < count:
        raise pyarrow.ArrowInvalid("no times of a day")
    if unit in ("s", "ms"):
        return numbers.cast(pyarrow.int32()).cast(pyarrow.time32(unit))
    return numbers.cast(pyarrow.time64(unit))


def _categories(pyarrow: Any, array: Any, labels: Any, ordered: bool) -> Any:
    """Return text as numbers of its labels, in their order."""
    if labels is None:
        return array.dictionary_encode()
    known = pyarrow.array(list(labels), array.type)
    numbers = library("pyarrow.compute", "arrow", "lodcore.to_arrow").index_in(array, known)
    if numbers.null_count > array.null_count:
        raise pyarrow.ArrowInvalid("other labels")
    return pyarrow.DictionaryArray.from_arrays(numbers, known, ordered=ordered)
