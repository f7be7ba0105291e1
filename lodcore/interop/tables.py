"""Tables of pandas and Polars: grouped rows, list columns, and columns that share one LoD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.libraries import library
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow import ArrowTable, from_arrow
from lodcore.tensors import core, tensor_core
from lodcore.tensors.from_lists import array, as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import guarded_values

__all__ = [
    "Groups",
    "common_lod",
    "from_pandas",
    "from_polars",
    "gathered",
    "grouped",
    "row_keys",
    "tensor_of_column",
    "to_pandas",
    "to_polars",
]

Array = np.ndarray[Any, Any]


class Groups(NamedTuple):
    """A table of grouped rows.

    Parameters
    ----------
    columns : dict of str to LoDTensor
        The columns, which share one LoD with a level per key.
    keys : dict of str to ndarray
        The keys, coarse first, with one entry per sequence of their level.
    """

    columns: dict[str, Any]
    keys: dict[str, Any]


def grouped(codes: Sequence[Array]) -> tuple[LoD, Array | None, list[Array]]:
    """Return the structure of rows with group numbers, one array per level, coarse first.

    Groups are in the order of their first rows, and rows keep their order within them.

    Parameters
    ----------
    codes : sequence of ndarray of integers, shape (n_rows,)

    Returns
    -------
    (LoD, ndarray or None, list of ndarray)
        The structure; the order of the rows, None if unchanged; and for each level one row of each group.
    """
    groups = np.zeros(len(codes[0]), np.int64)  # the number of each row's group so far, ordered by first rows
    count = 1 if len(groups) else 0
    levels, examples = [], []
    for given in codes:
        _, dense = np.unique(given, return_inverse=True)
        joint = groups * (int(dense.max(initial=0)) + 1) + dense
        _, first, inverse = np.unique(joint, return_index=True, return_inverse=True)
        above = groups[first]
        rank = np.lexsort((first, above))  # groups inside one coarser group stay together, ordered by first rows
        place = np.empty_like(rank)
        place[rank] = np.arange(len(rank))
        levels.append(np.bincount(above, minlength=count))
        examples.append(first[rank])
        groups, count = place[inverse], len(rank)
    levels.append(np.bincount(groups, minlength=count))
    order = None if (np.diff(groups) >= 0).all() else np.argsort(groups, kind="stable")
    return LoD.from_lengths(*levels[1:]), order, examples


def of_fixed_size(rows: Any) -> Array:
    """Convert an array of str objects to one of a fixed size; return any other unchanged."""
    made = np.asarray(rows)
    if made.dtype.hasobject and len(made) and all(isinstance(entry, str) for entry in made):
        made = made.astype(np.str_)
    return made


def gathered(name: str, rows: Array, lod: LoD, order: Array | None) -> LoDTensor:
    """Return a column with a structure, in the order of its groups."""
    if rows.dtype.hasobject:
        raise DTypeError(
            f"{name}: has dtype {rows.dtype}; Python objects have no fixed size: give numbers, or its codes"
        )
    values = guarded_values(name, rows) if order is None else rows[order]
    return tensor_core.new_tensor(values, lod)


# -- pandas ------------------------------------------------------------------------------------------------------------


def from_pandas(data: Any, by: Any = None, *, nulls: Any = "error") -> Any:
    """Convert a pandas table or column to LoDTensors.

    Parameters
    ----------
    data : pandas.DataFrame or pandas.Series
    by : str or list of str, optional
        The columns to group by, coarse first, each of which makes a level. Groups are in the order of their first rows.
        By default, the index is used if it is named or a MultiIndex (whose last level, if it has no name, only numbers
        the rows); in a table of list columns, a row is a sequence.
    nulls
        As in `from_arrow`, for list columns.

    Returns
    -------
    LoDTensor for a column of lists; Groups for a grouped table; dict of LoDTensor and ndarray for any other table

    Raises
    ------
    DTypeError, LoDError
        If a column cannot be converted; the message names it.
    """
    where = "lodcore.from_pandas"
    pandas = library("pandas", "pandas", where)
    if isinstance(data, pandas.Series):
        if by is None and _is_lists(data):
            return _pandas_lists(f"{where}: data", data, nulls)
        done = from_pandas(data.to_frame("values"), by, nulls=nulls)
        return done.columns["values"] if isinstance(done, Groups) else done["values"]
    if not isinstance(data, pandas.DataFrame):
        raise DTypeError(f"{where}: data: is {type(data).__name__}; a DataFrame or Series is needed")
    keys = _pandas_keys(where, data, by)
    if not keys:
        return {str(name): _pandas_column(f"{where}: data[{name!r}]", data[name], nulls) for name in data.columns}
    codes = []
    for name, key in keys.items():
        found, _ = pandas.factorize(key)
        if len(found) and found.min() < 0:
            raise LoDError(f"{where}: by: {name!r} has no value in row {int(np.argmax(found < 0))}")
        codes.append(found.astype(np.int64))
    lod, order, examples = grouped(codes)
    columns = {
        str(name): gathered(f"{where}: data[{name!r}]", of_fixed_size(data[name].to_numpy()), lod, order)
        for name in data.columns
        if name not in keys or by is None
    }
    chosen = {
        str(name): of_fixed_size(np.asarray(key)[rows])
        for (name, key), rows in zip(keys.items(), examples, strict=True)
    }
    return Groups(columns, chosen)


def _pandas_keys(where: str, data: Any, by: Any) -> dict[Any, Any]:
    """Return the keys by which rows are grouped, by name."""
    index = data.index
    if by is not None:
        names = [by] if isinstance(by, str) or not isinstance(by, (list, tuple)) else list(by)
        keys = {}
        for name in names:
            if name in data.columns:
                keys[name] = data[name]
            elif name in index.names:
                keys[name] = index.get_level_values(name)
            else:
                raise KeyError(f"{where}: by: {name!r} is neither a column nor a level of the index")
        return keys
    if index.nlevels > 1:
        used = index.nlevels - (index.names[-1] is None)
        return {index.names[k] or f"level_{k}": index.get_level_values(k) for k in range(used)}
    return {} if index.name is None else {index.name: index}


def _is_lists(series: Any) -> bool:
    """Return whether a column holds lists."""
    kind = getattr(series.dtype, "pyarrow_dtype", None)
    if kind is not None:
        return bool(kind.num_fields) or "list" in str(kind)
    return series.dtype == object and len(series) > 0 and isinstance(series.iloc[0], (list, tuple, np.ndarray))


def _pandas_column(name: str, series: Any, nulls: Any) -> Any:
    if _is_lists(series):
        return _pandas_lists(name, series, nulls)
    rows = of_fixed_size(series.to_numpy())
    if rows.dtype.hasobject:
        raise DTypeError(f"{name}: has dtype {series.dtype}; Python objects have no fixed size")
    return rows


def _pandas_lists(name: str, series: Any, nulls: Any) -> Any:
    if getattr(series.dtype, "pyarrow_dtype", None) is not None:
        return from_arrow(series.array._pa_array, nulls)
    missing = series.isna().to_numpy()
    if missing.any() and isinstance(nulls, str) and nulls == "error":
        raise LoDError(f'{name}: sequence {int(np.argmax(missing))} is null; use nulls="empty" to make it empty')
    entries = [[] if gone else entry for entry, gone in zip(series, missing.tolist(), strict=True)]
    if entries and all(isinstance(entry, np.ndarray) or not len(entry) for entry in entries):
        filled = [entry for entry in entries if len(entry)]
        empty = filled[0][:0] if filled else np.empty(0)
        return array([entry if len(entry) else empty for entry in entries])
    return array([entry.tolist() if isinstance(entry, np.ndarray) else list(entry) for entry in entries])


def to_pandas(columns: Any, keys: Mapping[str, Any] | None = None, *, lists: bool = False) -> Any:
    """Convert LoDTensors to a pandas table: one line per row, with a MultiIndex, or one line per sequence.

    Parameters
    ----------
    columns : LoDTensor, nested lists, Groups, or mapping of str to LoDTensor
        The columns, with equal LoDs if lines are rows.
    keys : mapping of str to array_like, optional
        The index of the sequences of each level, coarse first; by default the numbers 0, 1, 2, ... of sequences within
        their sequence.
    lists : bool
        Whether to make columns of lists instead (with pyarrow's types, without copying the values).

    Returns
    -------
    pandas.DataFrame, or pandas.Series for one LoDTensor
    """
    where = "lodcore.to_pandas"
    pandas = library("pandas", "pandas", where)
    if isinstance(columns, Groups):
        columns, keys = columns.columns, columns.keys if keys is None else keys
    if not isinstance(columns, Mapping):
        frame = to_pandas({"values": as_nested(f"{where}: columns", columns)}, keys, lists=lists)
        return frame["values"]
    tensors = {name: tensor_of_column(where, name, column) for name, column in columns.items()}
    if lists:
        pyarrow = library("pyarrow", "arrow", where)
        arrays = {
            name: pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array([pyarrow.array(x)])))
            for name, x in tensors.items()
        }
        frame = pandas.DataFrame(arrays)
        if keys:
            frame.index = pandas.Index(next(iter(keys.values())), name=next(iter(keys)))
        return frame
    lod = common_lod(where, tensors)
    names, levels = row_keys(where, lod, keys)
    index = pandas.MultiIndex.from_arrays([*levels, lod.positions(-1)], names=[*names, None])
    for name, x in tensors.items():
        if x.values.ndim != 1:
            raise DTypeError(f"{where}: columns[{name!r}]: has rows of shape {x.values.shape[1:]}; numbers are needed")
    return pandas.DataFrame({name: x.values for name, x in tensors.items()}, index=index)


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
            raise LoDError(f"{where}: columns: {name!r} has another structure than {next(iter(lods))!r}")
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
                place = core.slice_levels(lod, level - 1, level).positions(0)
            numbers.append(np.asarray(place)[lod.segment_ids(level)])
        return [f"level_{level}" for level in range(lod.num_levels)], numbers
    if len(keys) != lod.num_levels:
        raise LoDError(f"{where}: keys: are {len(keys)}; there are {lod.num_levels} levels")
    repeated = []
    for level, (name, given) in enumerate(keys.items()):
        if len(given) != lod.num_sequences(level):
            raise LoDError(
                f"{where}: keys[{name!r}]: has {len(given)} entries; there are {lod.num_sequences(level)} sequences"
            )
        repeated.append(np.asarray(given)[lod.segment_ids(level)])
    return list(keys), repeated


# -- Polars ------------------------------------------------------------------------------------------------------------


def from_polars(data: Any, by: Any = None, *, nulls: Any = "error") -> Any:
    """Convert a Polars table or column to LoDTensors.

    Parameters
    ----------
    data : polars.DataFrame or polars.Series
    by : str or list of str, optional
        The columns to group by, coarse first, each of which makes a level. Groups are in the order of their first rows.
        Without it, a column of lists becomes a LoDTensor, any other an ndarray.
    nulls
        As in `from_arrow`.

    Returns
    -------
    LoDTensor for a column of lists; Groups for a table with `by`; dict of LoDTensor and ndarray for one without
    """
    where = "lodcore.from_polars"
    polars = library("polars", "polars", where)
    if isinstance(data, polars.LazyFrame):
        data = data.collect()
    if isinstance(data, polars.Series):
        return from_arrow(data, nulls)
    if not isinstance(data, polars.DataFrame):
        raise DTypeError(f"{where}: data: is {type(data).__name__}; a DataFrame or Series is needed")
    if by is None:
        return from_arrow(data, nulls, strings="rows")
    names = [by] if isinstance(by, str) else list(by)
    for name in names:
        if name not in data.columns:
            raise KeyError(f"{where}: by: {name!r} is not a column")
        if data[name].null_count():
            raise LoDError(f"{where}: by: {name!r} has no value in row {int(data[name].is_null().arg_max())}")
    codes = [data[name].rank("dense").to_numpy().astype(np.int64) for name in names]
    lod, order, examples = grouped(codes)
    columns = {}
    for name in data.columns:
        if name not in names:
            rows = from_arrow(data[name], nulls)
            if not isinstance(rows, np.ndarray):
                raise DTypeError(f"{where}: data[{name!r}]: holds {data[name].dtype}; numbers can be grouped")
            columns[name] = gathered(f"{where}: data[{name!r}]", rows, lod, order)
    keys = {name: of_fixed_size(data[name].gather(rows).to_numpy()) for name, rows in zip(names, examples, strict=True)}
    return Groups(columns, keys)


def to_polars(columns: Any, keys: Mapping[str, Any] | None = None, *, lists: bool = True) -> Any:
    """Convert LoDTensors to a Polars table: one line per sequence, or per row.

    Parameters
    ----------
    columns : LoDTensor, nested lists, Groups, or mapping of str to LoDTensor or array_like
    keys : mapping of str to array_like, optional
        The keys of the sequences, coarse first.
    lists : bool
        Whether to make columns of lists, whose values are not copied; otherwise, one line per row with its keys.

    Returns
    -------
    polars.DataFrame, or polars.Series for one LoDTensor
    """
    where = "lodcore.to_polars"
    polars = library("polars", "polars", where)
    if isinstance(columns, Groups):
        columns, keys = columns.columns, columns.keys if keys is None else keys
    if not isinstance(columns, Mapping):
        x = as_nested(f"{where}: columns", columns)
        if lists:
            return polars.Series("values", x)
        return to_polars({"values": x}, keys, lists=False)
    if lists:
        table: dict[str, Any] = {name: of_fixed_size(key) for name, key in list((keys or {}).items())[:1]}
        for name, x in columns.items():
            table[name] = x if isinstance(x, (LoDTensor, np.ndarray)) else tensor_of_column(where, name, x)
        return polars.DataFrame(ArrowTable(table))
    tensors = {name: tensor_of_column(where, name, column) for name, column in columns.items()}
    names, levels = row_keys(where, common_lod(where, tensors), keys)
    rows = {**dict(zip(names, levels, strict=True)), **{name: x.values for name, x in tensors.items()}}
    return polars.DataFrame(rows)
