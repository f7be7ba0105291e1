"""Parts of an Arrow array during conversion to LoDTensors: levels, values, and their validity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import unharmed
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.types import example_of
from lodcore.interop.missing_values import filled, records_of
from lodcore.interop.presence import every, mask_dtype, whole
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.joining import concat_lods
from lodcore.tensors.lod import LoD
from lodcore.tensors.nested import join_arrays

__all__ = [
    "Finished",
    "Part",
    "finish",
    "is_flat",
    "joined",
    "mask_of_fields",
    "masked",
    "records",
    "taken",
]

Array = np.ndarray[Any, Any]
WHERE = "lodcore.from_arrow"


@dataclass
class Part:
    """Elements of a column.

    Parameters
    ----------
    count : int
        The number of elements.
    levels : list of ndarray
        Checked offsets that begin at 0, coarse first.
    present : list of ndarray or None
        The validity of each level and of the rows: bool, false for null; None if all are valid. That of the rows has
        the first axes of the values, and that of records a bool per field.
    values : ndarray, or dict of Part
        Rows; or the fields of structs, each with as many elements as there are rows.
    dictionary : Part, optional
        The dictionary whose ids the values are.
    """

    count: int
    levels: list[Array]
    present: list[Array | None]
    values: Any
    dictionary: Part | None = None

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.levels[-1][-1]) if self.levels else self.count

    def lod(self, num_levels: int | None = None) -> Any:
        """Return the LoD of the first levels, or of all."""
        levels = self.levels[:num_levels]
        return lod_body.make_lod(list(levels), int(levels[-1][-1]) if levels else self.count)


def taken(part: Part, ranges: Array) -> Part:
    """Copy valid ranges of elements consecutively; `ranges` is int64, shape (n, 2)."""
    lengths = ranges[:, 1] - ranges[:, 0]
    count = int(lengths.sum())

    def take(values: Array, num_levels: int) -> Any:
        x: Any = lod_tensor_body.new_tensor(np.ascontiguousarray(values), part.lod(num_levels))
        return lod_tensor_body.take_ranges(x, WHERE, 0, ranges.copy(), count)

    present = [None if there is None else take(there, k).values for k, there in enumerate(part.present)]
    if isinstance(part.values, dict):
        rows = ranges
        if part.levels:
            bounds = part.lod().row_offsets(0)
            rows = np.ascontiguousarray(bounds[ranges])
        values: Any = {name: taken(inner, rows) for name, inner in part.values.items()}
        lod = take(np.zeros(part.num_rows, np.uint8), len(part.levels)).lod
    else:
        made = take(part.values, len(part.levels))
        values, lod = made.values, made.lod
    return Part(count, [lod.offsets(k) for k in range(lod.num_levels)], present, values, part.dictionary)


def masked(part: Part, there: Array | None) -> Part:
    """Mark elements as null where `there` is false; a null sequence becomes empty."""
    if there is None:
        return part
    if not part.levels:
        if isinstance(part.values, dict):
            part.values = {name: masked(inner, there) for name, inner in part.values.items()}
        part.present[-1] = both(there, part.present[-1])
        return part
    offsets = part.levels[0]
    lengths = np.diff(offsets)
    if (lengths[~there] > 0).any():
        ranges = np.stack([offsets[:-1], offsets[1:]], axis=1)[there]
        inner = taken(Part(int(offsets[-1]), part.levels[1:], part.present[1:], part.values, part.dictionary), ranges)
        shorter = buffers.new_offsets(len(offsets))
        unharmed(kernels.lod.offsets_from_lengths(np.where(there, lengths, 0), shorter))
        part = Part(
            part.count, [shorter, *inner.levels], [part.present[0], *inner.present], inner.values, inner.dictionary
        )
    part.present[0] = both(there, part.present[0])
    return part


def both(outer: Array, inner: Array | None) -> Array:
    """Combine the validity of elements with that of their contents, which may have more axes."""
    if inner is None:
        return outer
    if inner.dtype.names is not None:
        made = inner.copy()
        for name in inner.dtype.names:
            made[name] = both(outer, inner[name])
        return made
    return outer.reshape(outer.shape + (1,) * (inner.ndim - outer.ndim)) & inner


def with_axes(there: Array, shape: tuple[int, ...]) -> Array:
    """Return the validity of entries of a shape, which may be known for the first of their axes only."""
    return np.broadcast_to(there.reshape(there.shape + (1,) * (len(shape) + 1 - there.ndim)), (len(there), *shape))


def joined(parts: list[Part], name: str = "") -> Part:
    """Join the chunks of a stream, or of the column of a name in it."""
    first = parts[0]
    lod: Any = concat_lods(WHERE, [part.lod() for part in parts])
    present: list[Array | None] = []
    for k in range(len(first.present)):
        masks = [part.present[k] for part in parts]
        if all(mask is None for mask in masks):
            present.append(None)
            continue
        shape = max((mask.shape[1:] for mask in masks if mask is not None), key=len)
        sizes = [part.num_rows if k == len(part.levels) else part.lod().num_sequences(k) for part in parts]
        filled = [
            np.ones((size, *shape), bool) if mask is None else with_axes(mask, shape)
            for size, mask in zip(sizes, masks, strict=True)
        ]
        present.append(np.concatenate(filled))
    if isinstance(first.values, dict):
        values: Any = {key: joined([part.values[key] for part in parts], f"{name}[{key}]") for key in first.values}
    else:
        if first.dictionary is not None:
            _same_dictionaries([part.dictionary for part in parts], name)
        values, _ = join_arrays(WHERE, [part.values for part in parts], None)
    levels = [lod.offsets(k) for k in range(lod.num_levels)]
    return Part(sum(part.count for part in parts), levels, present, values, first.dictionary)


def _same_dictionaries(dictionaries: list[Part | None], name: str) -> None:
    """Raise if chunks have different dictionaries."""
    first = dictionaries[0]
    assert first is not None
    for j, other in enumerate(dictionaries):
        assert other is not None
        if not _equal(first, other):
            raise LoDError(
                f"{WHERE}: obj{name}: chunk {j} has a different dictionary from chunk 0; with "
                'dictionaries="decode" ids become the values that they encode'
            )


def _equal(one: Part, other: Part) -> bool:
    """Return whether dictionaries have the same entries."""
    if one.lod() != other.lod():
        return False
    if isinstance(one.values, dict):
        return all(_equal(inner, other.values[key]) for key, inner in one.values.items())
    if one.values.shape != other.values.shape or one.values.dtype != other.values.dtype:
        return False
    return bool(one.values.tobytes() == other.values.tobytes())  # as nan is, too


def is_flat(part: Part) -> bool:
    """Return whether a part consists of structs whose fields are values, which a structured dtype can hold."""
    fields = part.values.values() if isinstance(part.values, dict) else ()
    return isinstance(part.values, dict) and not any(inner.levels or isinstance(inner.values, dict) for inner in fields)


def mask_of_fields(made: Array, masks: Mapping[str, Array | None]) -> Array:
    """Return which fields of records have a value, given by field; None means that all have."""
    there = np.ones(made.shape, mask_dtype(made.dtype))
    for key, mask in masks.items():
        if mask is not None:
            there[key] = with_axes(mask, made.dtype[key].shape)
    return there


def mask_of_rows(values: Array, there: Array | None) -> Array:
    """Return which values are there: as many bools as numbers, whether any of these is missing or not."""
    if there is None or (values.dtype.names is not None and there.dtype.names is None):  # of rows without entries
        return np.ones(values.shape, mask_dtype(values.dtype))
    return there if there.dtype.names is not None else with_axes(there, values.shape[1:]).copy()


def records(part: Part) -> Part:
    """Convert flat structs to records."""
    made = records_of(f"{WHERE}: obj", (part.num_rows,), {key: inner.values for key, inner in part.values.items()})
    there = mask_of_fields(made, {key: inner.present[-1] for key, inner in part.values.items()})
    return Part(part.count, part.levels, [*part.present[:-1], there], made)


# -- results -----------------------------------------------------------------------------------------------------------


@dataclass
class Finished:
    """A result, its validity, and the column that was read, with its chunks, for what dtypes do not say."""

    value: Any
    present: Any
    column: Any = None
    chunks: Any = ()


@dataclass
class Finisher:
    """A converter of parts to LoDTensors, which shares LoDs between equal structures."""

    nulls: Any
    records: bool | None
    lods: list[LoD] = field(default_factory=list)

    @property
    def masked(self) -> bool:
        """Whether masks are asked for."""
        return isinstance(self.nulls, str) and self.nulls == "mask"

    def shared(self, lod: LoD) -> LoD:
        """Return the LoD made earlier for an equal structure, or this one."""
        for known in self.lods:
            if known == lod:
                return known
        self.lods.append(lod)
        return lod

    def finish(self, part: Part, name: str, outer: list[Array], above: list[Array | None]) -> Finished:
        """Convert a part below outer levels to a result."""
        levels, present = [*outer, *part.levels], [*above, *part.present]
        if isinstance(part.values, dict):
            wanted = self.records if self.records is not None else bool(levels)
            if not wanted:
                found = {
                    key: self.finish(inner, f"{name}[{key}]", levels, present[:-1])
                    for key, inner in part.values.items()
                }
                masks = {key: done.present for key, done in found.items()}
                return Finished({key: done.value for key, done in found.items()}, masks if self.masked else None)
            if not is_flat(part):
                raise LoDError(
                    f"{WHERE}: obj{name}: its structs hold lists or structs, which a structured dtype cannot; "
                    "records=False makes a dict of LoDTensors"
                )
            values, mask = self.record(part, name)
            present[-1] = mask  # null structs have null fields
        else:
            values = self.filled(part.values, present[-1], name)
        self.check_sequences(present[:-1], name)
        rows = len(values)
        lod: Any = self.shared(lod_body.make_lod(levels, rows)) if levels else None
        if not self.masked:
            return Finished(values if lod is None else lod_tensor_body.new_tensor(values, lod), None)
        seen = tuple(
            np.ones(lod.num_sequences(k), bool) if mask is None else mask for k, mask in enumerate(present[:-1])
        )
        seen = (*seen, mask_of_rows(values, present[-1]))
        return Finished(values if lod is None else lod_tensor_body.new_tensor(values, lod), seen)

    def record(self, part: Part, name: str) -> tuple[Array, Array | None]:
        """Copy the fields of structs into one array of a structured dtype; return also their validity."""
        masks = {key: inner.present[-1] for key, inner in part.values.items()}
        fields = {key: self.filled(x.values, masks[key], f"{name}[{key}]") for key, x in part.values.items()}
        made = records_of(f"{WHERE}: obj{name}", (part.num_rows,), fields)
        return made, mask_of_fields(made, masks)

    def filled(self, values: Array, there: Array | None, name: str) -> Array:
        """Replace null rows by the fill value, or raise an error."""
        if there is None or whole(there):
            return values
        if there.dtype.names is not None:
            names = there.dtype.names
            fields = {key: self.filled(values[key], there[key], f"{name}[{key}]") for key in names}
            return records_of(f"{WHERE}: obj{name}", values.shape, fields)
        at = int(np.argmin(every(there)))
        if isinstance(self.nulls, str) and self.nulls in ("error", "empty"):
            example = example_of(values.dtype)
            raise LoDError(
                f'{WHERE}: obj{name}: row {at} is null; use nulls="mask" or a fill value, such as nulls={example}'
            )
        if not self.masked:
            return filled(f"{WHERE}: nulls{name}", values, there, self.nulls)
        made: Array = values.copy()
        made[~there] = np.zeros((), values.dtype)
        return made

    def check_sequences(self, present: list[Array | None], name: str) -> None:
        """Raise for null sequences if they are errors."""
        if not (isinstance(self.nulls, str) and self.nulls == "error"):
            return
        for k, there in enumerate(present):
            if there is not None and not there.all():
                raise LoDError(
                    f"{WHERE}: obj{name}: sequence {int(np.argmin(there))} of level {k} is null; "
                    'use nulls="empty" or "mask"'
                )


def finish(part: Part, nulls: Any, records: bool | None) -> Finished:
    """Convert a part to the result; `nulls` may be a dict by column of a table."""
    if not isinstance(nulls, Mapping):
        return Finisher(nulls, records).finish(part, "", [], [])
    if not isinstance(part.values, dict) or part.levels or records:
        raise DTypeError(f"{WHERE}: nulls: is a dict by column; obj is not a table")
    for key in nulls:
        if key not in part.values:
            raise KeyError(f"{WHERE}: nulls: {key!r} is not a column")
    lods: list[LoD] = []
    found = {
        key: Finisher(nulls.get(key, "error"), records, lods).finish(inner, f"[{key}]", [], [])
        for key, inner in part.values.items()
    }
    present = {key: done.present for key, done in found.items() if done.present is not None}
    return Finished({key: done.value for key, done in found.items()}, present or None)
