"""Tables of grouped rows, and what the doors of pandas and Polars share: grouping, keys of rows."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.articles import there_are
from lodcore.base.dtypes import native_dtype
from lodcore.base.missing import decoded, is_column, refuse_missing
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.grouped import Groups
from lodcore.interop.missing_values import Key, TableColumn, policies, without_nulls
from lodcore.interop.presence import every, some, whole
from lodcore.ops import gather_nested
from lodcore.ops.order.keys import keys_of, nested_groups
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.conversions import TAKERS
from lodcore.tensors.foreign_columns import dtype_for, zone_of
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = [
    "common_lod",
    "gathered",
    "grouped",
    "grouped_table",
    "lists_of",
    "names_of_keys",
    "nested_lists",
    "of_another_library",
    "outgoing",
    "plain_column",
    "plain_table",
    "row_keys",
    "tensor_of_column",
    "with_keys",
]

Array = np.ndarray[Any, Any]


# -- grouping ----------------------------------------------------------------------------------------------------------


def grouped(keys: Sequence[Array | tuple[Array, Array]]) -> tuple[LoD, Array | None, list[Array]]:
    """Return the structure of rows with keys, one array per level, coarse first.

    Groups are in the order of their first rows, and rows keep their order within them.

    Parameters
    ----------
    keys : sequence of ndarray, shape (n_rows,), or of numbers of keys and the first row of each

    Returns
    -------
    (LoD, ndarray or None, list of ndarray)
        The structure; the order of the rows, None if unchanged; and for each level the first row of each group.
    """
    given = [key if isinstance(key, tuple) else np.ascontiguousarray(key) for key in keys]
    levels, places, firsts = nested_groups(given)
    lod: Any = lod_body.make_lod(levels, len(places))
    unchanged = not len(places) or (int(places[-1]) == len(places) - 1 and bool((places[1:] > places[:-1]).all()))
    return lod, None if unchanged else places, firsts


def gathered(name: str, rows: Any, lod: LoD, order: Array | None) -> LoDTensor:
    """Return a column, of rows or sequences, with a structure, in the order of its groups."""
    if isinstance(rows, np.ndarray) and rows.dtype.hasobject:
        raise DTypeError(
            f"{name}: has dtype {rows.dtype}; Python objects have no fixed size: give numbers, or its codes"
        )
    if order is None and isinstance(rows, np.ndarray):
        return LoDTensor(rows, lod)
    places = np.arange(lod.num_rows) if order is None else order
    made: Any = gather_nested(rows, lod_tensor_body.new_tensor(places, lod))
    return made  # type: ignore[no-any-return]


def plain_table(where: str, columns: Mapping[str, TableColumn], nulls: Any) -> Any:
    """Return a table that is not grouped: a dict of columns, and one of masks if they are asked for."""
    ways = policies(where, columns, nulls)
    found = {name: without_nulls(where, f"data[{name!r}]", column, ways[name]) for name, column in columns.items()}
    lods: list[Any] = []
    values = {name: _sharing(one, lods) for name, (one, _) in found.items()}
    masks = {name: _sharing(mask, lods) for name, (_, mask) in found.items() if mask is not None}
    return (values, masks) if masks else values


def plain_column(where: str, column: TableColumn, nulls: Any) -> Any:
    """Return one column, and its mask if it is asked for."""
    way = policies(where, {"data": column}, nulls)["data"]
    values, mask = without_nulls(where, "data", column, way)
    return values if mask is None else (values, mask)


def _sharing(x: Any, lods: list[Any]) -> Any:
    """Return a column with the LoD of an earlier one that is equal."""
    if not isinstance(x, LoDTensor):
        return x
    for lod in lods:
        if lod == x.lod:
            return lod_tensor_body.new_tensor(x.values, lod)
    lods.append(x.lod)
    return x


def grouped_table(where: str, columns: Mapping[str, TableColumn], keys: Mapping[str, Key], nulls: Any) -> Groups:
    """Return a table of groups, one level per key."""
    if isinstance(nulls, Mapping) and (named := [name for name in nulls if name in keys]):
        raise LoDError(f"{where}: nulls: {named[0]!r} is a key; rows without a key have no group: leave them out")
    for name, key in keys.items():
        if key.present is not None and not whole(key.present):
            raise LoDError(f"{where}: by: {name!r} has no value in row {int(np.argmin(every(key.present)))}")
    ways = policies(where, columns, nulls)
    lod, order, firsts = grouped(
        [
            keys_of(f"{where}: by: {name!r}", key.numbers) if key.firsts is None else (key.numbers, key.firsts)
            for name, key in keys.items()
        ]
    )
    made: dict[str, dict[str, Any]] = {"columns": {}, "masks": {}, "kept": {}, "keys": {}}
    for name, column in columns.items():
        label = f"data[{name!r}]"
        values, mask = without_nulls(where, label, column, ways[name])
        made["columns"][name] = gathered(f"{where}: {label}", values, lod, order)
        if mask is not None:
            made["masks"][name] = gathered(f"{where}: {label}", mask, lod, order)
        if column.kept is not None:
            made["kept"][name] = column.kept
    for (name, key), rows in zip(keys.items(), firsts, strict=True):
        entries = key.entries(rows)
        made["keys"][name] = entries.values
        if entries.kept is not None:
            made["kept"][name] = entries.kept
    return Groups(**made, lod=lod)


def names_of_keys(where: str, by: Any) -> list[Any]:
    """Return the names of the keys, each of which may be given once."""
    names = list(by) if isinstance(by, (list, tuple)) else [by]
    if not names:
        raise ValueError(f"{where}: by: is empty; the name of a column is needed, or None")
    for j, name in enumerate(names):
        if type(name).__hash__ is None:
            raise DTypeError(f"{where}: by: is {type(name).__name__}; the name of a column, or several, are needed")
        if name in names[:j]:
            raise ValueError(f"{where}: by: names {name!r} twice")
    return names


def of_another_library(where: str, given: Any, needed: str) -> DTypeError:
    """Return the error for what is not a table of a library; it names the function that takes it, if there is one."""
    kind = type(given)
    library = kind.__module__.partition(".")[0]
    named = kind.__name__ if library == "builtins" else f"{library}.{kind.__name__}"
    taker = TAKERS.get(library) if kind.__name__.endswith(("Frame", "Series")) else None
    if taker is None and hasattr(given, "__arrow_c_stream__"):
        taker = "from_arrow"
    way = "" if taker is None or library == needed.lower() else f"; lodcore.{taker} takes this one"
    return DTypeError(f"{where}: is {named}; a DataFrame or Series of {needed} is needed{way}")


# -- columns and keys that go out --------------------------------------------------------------------------------------


class Outgoing(NamedTuple):
    """Columns that become a table of another library.

    Parameters
    ----------
    columns : dict of str to LoDTensor or ndarray
        An ndarray has one entry per outermost sequence.
    keys : mapping of str to array_like, or None
    kept : dict
        As in `Groups`.
    single : bool
        Whether one tensor was given rather than a table.
    masks : dict of str to LoDTensor of bools
        Which rows of some columns have a value.
    groups : LoD, optional
        The structure of a table of groups, which may have no columns of rows.
    """

    columns: dict[str, Any]
    keys: Mapping[str, Any] | None
    kept: Mapping[str, tuple[Any, ...]]
    single: bool
    masks: Mapping[str, LoDTensor]
    groups: LoD | None = None

    @property
    def has_rows(self) -> bool:
        """Whether there are rows, which lines can be made of."""
        return bool(self.tensors) or self.groups is not None

    @property
    def tensors(self) -> dict[str, LoDTensor]:
        """The columns that are LoDTensors."""
        return {name: x for name, x in self.columns.items() if isinstance(x, LoDTensor)}

    def of_rows(self, where: str) -> tuple[LoD, dict[str, Any], dict[str, Any]]:
        """Return the levels that lines of rows leave out; columns and masks with one entry, or sequence, per row."""
        least = 0 if self.groups is None else self.groups.num_levels
        tensors = {name: x for name, x in self.tensors.items() if x.num_levels >= least}
        depth = len(self.keys) if self.keys else max((x.num_levels for x in tensors.values()), default=0)
        outer = {
            name: LoDTensor(np.empty(x.lod.num_sequences(depth)), lod_body.slice_levels(x.lod, 0, depth))
            if x.num_levels > depth > 0
            else x
            for name, x in tensors.items()
        }
        lod: Any = self.groups if self.groups is not None and not outer else common_lod(where, outer)

        def per_row(x: Any) -> Any:
            if not isinstance(x, LoDTensor):
                return x[lod.segment_ids(0)]
            if x.num_levels < lod.num_levels:
                return x.values[lod.segment_ids(x.num_levels)]
            if x.num_levels > lod.num_levels:
                return LoDTensor(x.values, lod_body.slice_levels(x.lod, lod.num_levels, x.num_levels))
            return x.values

        columns, masks = ({name: per_row(x) for name, x in part.items()} for part in (self.columns, self.masks))
        return lod, columns, masks

    def key_columns(self, where: str) -> dict[str, Any]:
        """Return the keys for a table with one line per outermost sequence: those of finer levels are lists."""
        if not self.keys:
            return {}
        lod: Any = self.groups
        if lod is None and self.tensors:
            lod = next(iter(self.tensors.values())).lod
        count = len(next(iter(self.columns.values()))) if self.columns else lod.num_sequences() if lod else None
        made: dict[str, Any] = {}
        for level, (name, given) in enumerate(self.keys.items()):
            entries = as_values(f"{where}: keys[{name!r}]", given)
            needed = (
                (len(entries) if count is None else count)
                if not level
                else lod.num_sequences(level)
                if lod and level < lod.num_levels
                else None
            )
            if needed is None:
                raise LoDError(
                    f"{where}: keys: are {len(self.keys)}; {there_are(lod.num_levels if lod else 1, 'level')}"
                )
            if len(entries) != needed:
                raise LoDError(f"{where}: keys[{name!r}]: has {len(entries)} entries; there are {needed} sequences")
            made[name] = LoDTensor(entries, lod_body.slice_levels(lod, 0, level)) if level else entries
        return made


def outgoing(where: str, columns: Any, keys: Mapping[str, Any] | None) -> Outgoing:
    """Check the arguments of `to_pandas` and `to_polars`."""
    kept: dict[str, tuple[Any, ...]] = {}
    masks: Mapping[str, LoDTensor] = {}
    if keys is not None and not isinstance(keys, Mapping):
        raise DTypeError(f"{where}: keys: is {type(keys).__name__}; a dict of keys by name is needed")
    groups, of_keys = None, False
    if isinstance(columns, Groups):
        with contextlib.suppress(LoDError):  # raised for one that was made without rows
            groups = columns.lod
        kept, masks, more = dict(columns.kept), columns.masks, {}
        if keys is None:
            keys = dict(columns.keys)
            if groups is not None:  # a level has one key; others say more about the groups of the last level
                more = {name: keys.pop(name) for name in list(keys)[groups.num_levels :]}
                above: Any = lod_body.slice_levels(groups, 0, groups.num_levels - 1) if groups.num_levels > 1 else None
                more = more if above is None else {name: LoDTensor(entries, above) for name, entries in more.items()}
        of_keys, keys = bool(keys), keys or None
        columns = {**more, **columns.columns, **columns.per_group}
    single = not isinstance(columns, Mapping)
    if single:
        columns = {"values": as_nested(f"{where}: columns", columns)}
    made: dict[str, Any] = {}
    for name, given in columns.items():
        if str(name) in made:
            raise LoDError(f"{where}: columns: has two columns {str(name)!r}")
        zone = zone_of(given)
        if zone is not None:
            kept[str(name)] = ("zone", zone)
        label = f"{where}: columns[{name!r}]"
        if isinstance(given, np.ndarray):
            refuse_missing(label, given)
            made[str(name)] = given if given.dtype.hasobject else as_values(label, given)
        elif isinstance(given, LoDTensor):
            made[str(name)] = given
        else:
            flat = isinstance(given, (list, tuple)) and not any(isinstance(one, (list, tuple)) for one in given)
            flat = bool(flat and given) or is_column(given)
            made[str(name)] = as_values(label, given) if flat else tensor_of_column(where, name, given)
    sizes = {name: len(one) for name, one in made.items()}
    if not made and not of_keys:
        raise LoDError(f"{where}: columns: there are none")
    for name, size in sizes.items():
        if size != next(iter(sizes.values())):
            raise LoDError(
                f"{where}: columns: {name!r} has a different structure from {next(iter(sizes))!r}: {size} sequences, "
                f"not {next(iter(sizes.values()))}"
            )
    for name, given in (keys or {}).items():
        refuse_missing(f"{where}: keys[{name!r}]", given)
        zone = zone_of(given)
        if zone is not None:
            kept[name] = ("zone", zone)
    masks = {name: mask for name, mask in masks.items() if not whole(mask.values)}
    return Outgoing(made, keys, kept, single, masks, groups)


def with_keys(where: str, keys: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys and columns as one table; raise if a column has the name of a key."""
    for name in keys:
        if name in columns:
            raise LoDError(f"{where}: keys[{name!r}]: is the name of a column, too; another name is needed")
    return {**keys, **columns}


def lists_of(x: Any, present: Any = None) -> list[Any]:
    """Return a column as lists, with None where there is no value.

    Parameters
    ----------
    x : LoDTensor or ndarray
    present : LoDTensor or ndarray of bool, optional
    """
    if present is None:
        return x.tolist()  # type: ignore[no-any-return]
    rows, there = (one.values if isinstance(one, LoDTensor) else one for one in (x, present))
    entries = rows.tolist()
    known = some(there)
    for at in np.flatnonzero(~every(there)).tolist():
        entries[at] = _with_none(entries[at], there[at].tolist()) if known[at] else None
    return nested_lists(entries, x.lod) if isinstance(x, LoDTensor) else entries


def _with_none(entry: Any, there: Any) -> Any:
    """Return an entry of lists, or of a tuple, with None where there is no value."""
    if isinstance(there, np.ndarray):  # of a field with several numbers
        there = there.tolist()
    if not isinstance(there, (list, tuple)):
        return entry if there else None
    return type(there)(map(_with_none, entry, there))


def nested_lists(entries: list[Any], lod: Any) -> list[Any]:
    """Return entries as lists of a structure."""
    for level in reversed(range(lod.num_levels)):
        ends = lod.offsets(level).tolist()
        entries = [entries[start:stop] for start, stop in pairwise(ends)]
    return entries


def tensor_of_column(where: str, name: str, column: Any) -> LoDTensor:
    """Return a column, converted from nested lists."""
    return as_nested(f"{where}: columns[{name!r}]", column)


def common_lod(where: str, columns: Mapping[str, LoDTensor]) -> LoD:
    """Return the common LoD of all columns."""
    lods: dict[str, Any] = {name: column.lod for name, column in columns.items()}
    if not lods:
        raise LoDError(f"{where}: columns: there are none")
    first: LoD = next(iter(lods.values()))
    for name, lod in lods.items():
        if lod != first:
            raise LoDError(f"{where}: columns: {name!r} has a different structure from {next(iter(lods))!r}")
    if not first.num_levels:
        raise LoDError(f"{where}: columns: have no level")
    return first


def row_keys(where: str, lod: LoD, keys: Mapping[str, Any] | None) -> tuple[list[Any], list[Array]]:
    """Return the keys of sequences, repeated for their rows."""
    if keys is None:
        numbers = []
        for level in range(lod.num_levels):
            place: Any = np.arange(lod.num_sequences(level))
            if level:
                place = lod_body.slice_levels(lod, level - 1, level).positions(0)
            numbers.append(np.asarray(place)[lod.segment_ids(level)])
        return [f"level_{level}" for level in range(lod.num_levels)], numbers
    check_keys(where, lod, keys)
    repeated = [_entries(given)[lod.segment_ids(level)] for level, given in enumerate(keys.values())]
    return list(keys), repeated


def _entries(given: Any) -> Array:
    """Return checked keys as an array; objects, which pandas takes as an index, stay."""
    made = np.asarray(decoded(given), dtype_for(given) if zone_of(given) else None)
    return made if made.dtype.isnative else made.astype(native_dtype(made.dtype))


def check_keys(where: str, lod: LoD, keys: Mapping[str, Any]) -> None:
    """Raise if there is not one key per level, with one entry per sequence."""
    if len(keys) != lod.num_levels:
        raise LoDError(f"{where}: keys: are {len(keys)}; {there_are(lod.num_levels, 'level')}")
    for level, (name, given) in enumerate(keys.items()):
        if len(given) != lod.num_sequences(level):
            raise LoDError(
                f"{where}: keys[{name!r}]: has {len(given)} entries; there are {lod.num_sequences(level)} sequences"
            )
