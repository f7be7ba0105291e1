"""Import and export of Arrow arrays by the C data interface alone: pyarrow is not needed.

Values are not copied: an import is a read-only view that keeps Arrow's memory alive, an export keeps the array alive.
Offsets are copied into memory that cannot be written, widened, and checked. Bools, strings of a fixed size, records and
joined chunks are copied, since their layout in memory differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, LoDError
from lodcore.interop.arrow.columns import columns_of_arrow
from lodcore.interop.arrow.importing import Options
from lodcore.interop.arrow.nodes import Node, node_of, table_node, without_rows
from lodcore.interop.arrow.objects import read_arrow
from lodcore.interop.arrow.reading import read_schema
from lodcore.interop.arrow.restored import restored
from lodcore.interop.arrow.writing import array_capsule, schema_capsule, stream_capsule
from lodcore.interop.grouped import Groups
from lodcore.interop.missing_values import Key, TableColumn
from lodcore.interop.presence import checked_mask, every
from lodcore.interop.tables import grouped_table, names_of_keys, outgoing
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = [
    "ArrowTable",
    "Spoken",
    "arrow_c_array",
    "arrow_c_schema",
    "arrow_c_stream",
    "arrow_table",
    "from_arrow",
    "to_arrow",
]

WHERE = "lodcore.from_arrow"
TABLE = "lodcore.interop.ArrowTable"


def from_arrow(
    obj: Any,
    nulls: Any = "error",
    *,
    strings: str = "rows",
    dictionaries: str = "ids",
    records: bool | None = None,
    by: Any = None,
) -> Any:
    """Convert any object with Arrow's C data interface (pyarrow, Polars, DuckDB, nanoarrow, pandas) to a LoDTensor.

    Parameters
    ----------
    obj : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        An array of lists of any depth: list, large_list, fixed_size_list, list_view, large_list_view, map. A fixed
        size directly above the values is an axis of a row, any other list is a level. The chunks of a stream are
        joined.
    nulls : {"error", "empty", "mask"} or a fill value, or dict of these
        "error" raises an error; "empty" makes null sequences empty, and a null row is an error; any other value
        replaces null rows, and null sequences are empty; "mask" returns the validity as a second result. For a table,
        it may be a dict of these by column.
    strings : {"rows", "fixed"}
        Whether a string is a sequence of its bytes, which adds a level and copies nothing, or one value of a fixed size
        (copied).
    dictionaries : {"ids", "decode"}
        Whether dictionary-encoded values become ids, or are decoded (copied). The id of a null entry is null.
    records : bool, optional
        Whether structs become values of a structured dtype (True, copied), or a dict of LoDTensors that share one LoD
        (False). By default, a table, which is a struct that is not in a list, is a dict, and structs in lists are
        records.
    by : str or list of str, optional
        The columns by which the rows of a table are grouped, as in `from_polars`, with the same result: text has a
        fixed size, and dictionary-encoded values are decoded, whatever the other options are. The masks of
        ``nulls="mask"`` have no bools for levels, so that null lists are empty and nothing else.

    Returns
    -------
    LoDTensor, or ndarray if there is no list, or a dict of these for a table; Groups with `by`
        Values are read-only views of Arrow's memory; with ``nulls="mask"`` a pair of this and a tuple of bool arrays,
        one per level and one for the rows, with their axes, true for valid entries (for a table: a dict of such
        tuples).

    Raises
    ------
    LoDError
        If there are nulls, or offsets, lengths, buffers or children are inconsistent.
    DTypeError
        If NumPy does not have the type, or obj is not an Arrow array.

    Notes
    -----
    The interface contains the lengths of arrays, but not the sizes of their buffers, so buffers are trusted to be as
    large as the lengths require. Everything else is checked: offsets, the lengths of children, the presence of buffers.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1, 2, 3], [], [4, 5]])     # it has the interface, too
    >>> lodcore.from_arrow(x)
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    >>> lodcore.from_arrow(x).values.base is not None  # shares memory
    True
    """
    _choose("strings", strings, "rows", "fixed")
    _choose("dictionaries", dictionaries, "ids", "decode")
    if by is not None:
        return _grouped(obj, by, nulls)
    result = read_arrow(obj, nulls, Options(strings == "fixed", dictionaries == "decode", records))
    if result.present is None or not _is_masked(nulls):
        return result.value
    return result.value, _per_row(result.present)


def _per_row(present: Any) -> Any:
    """Return where there are values, with one bool per record instead of one per field."""
    if isinstance(present, dict):
        return {name: _per_row(inner) for name, inner in present.items()}
    *levels, rows = present
    return (*levels, rows if rows.dtype.names is None else every(rows.ravel()).reshape(rows.shape))


def _is_masked(nulls: Any) -> bool:
    """Return whether the validity of something is asked for."""
    ways = nulls.values() if isinstance(nulls, Mapping) else [nulls]
    return any(isinstance(way, str) and way == "mask" for way in ways)


def _entries(column: TableColumn, rows: Any) -> TableColumn:
    return column._replace(values=column.values[rows])


def _grouped(obj: Any, by: Any, nulls: Any) -> Any:
    """Group the rows of a table."""
    columns = columns_of_arrow(WHERE, obj)
    if columns is None:
        raise DTypeError(f"{WHERE}: by: groups the rows of a table; obj is not a table")
    keys = {}
    for name in names_of_keys(WHERE, by):
        if name not in columns:
            raise KeyError(f"{WHERE}: by: {name!r} is not a column")
        column = columns.pop(name)
        if not isinstance(column.values, np.ndarray):
            raise DTypeError(f"{WHERE}: by: {name!r} holds lists; keys are numbers, dates or text")
        keys[name] = Key(column.values, partial(_entries, column), column.present)
    return grouped_table(WHERE, columns, keys, nulls)


def _choose(name: str, given: Any, one: str, other: str) -> None:
    if given not in (one, other):
        raise ValueError(f"{WHERE}: {name}: is {given!r}; {one!r} or {other!r} is needed")


def _given(where: str, x: Any) -> Any:
    """Return a LoDTensor, which may be given as nested lists, or an ndarray."""
    if type(x) is LoDTensor:
        return x
    return as_values(where, x) if isinstance(x, np.ndarray) else as_nested(where, x)


def arrow_c_array(x: Any, requested_schema: Any = None) -> tuple[Any, Any]:
    """Return capsules of the schema and the array, as called by `pyarrow.array(x)` and others.

    Parameters
    ----------
    x : LoDTensor, nested lists or ndarray
    requested_schema : capsule, optional
        A requested type, which is used if nothing is lost: offsets of 32 bits, bytes as strings.

    Returns
    -------
    (capsule, capsule)
    """
    node = node_of(_given("lodcore.interop.arrow_c_array: x", x), wish_of(requested_schema))
    return schema_capsule(node), array_capsule(node)


def arrow_c_schema(x: Any) -> Any:
    """Return a capsule of the schema."""
    return schema_capsule(node_of(without_rows(_given("lodcore.interop.arrow_c_schema: x", x))))


def arrow_c_stream(x: Any, requested_schema: Any = None) -> Any:
    """Return a capsule of a stream of one chunk."""
    return stream_capsule(node_of(_given("lodcore.interop.arrow_c_stream: x", x), wish_of(requested_schema)))


def wish_of(requested_schema: Any) -> Any:
    """Read a requested schema."""
    return None if requested_schema is None else read_schema(requested_schema)


def to_arrow(x: Any) -> Any:
    """Convert a LoDTensor to a pyarrow array, or a dict of columns to a pyarrow table, without copying values.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray, Groups, or mapping of str to LoDTensor or ndarray
        A table of groups has one line per outermost group, with its time zones, digits, times of day, categories and
        missing values.

    Returns
    -------
    pyarrow.Array, or pyarrow.Table

    Raises
    ------
    LoDError, DTypeError
        If columns have different lengths, or Arrow does not have a dtype or a name; the message names the column.
    """
    where = "lodcore.to_arrow"
    pyarrow = library("pyarrow", "arrow", where)
    if isinstance(x, Groups):
        table = outgoing(where, x, None)
        made = pyarrow.table(arrow_table(where, {**table.key_columns(where), **table.columns}, table.masks))
        columns = zip(made.column_names, made.columns, strict=True)
        return pyarrow.table({name: restored(pyarrow, x, table.kept.get(name)) for name, x in columns})
    if isinstance(x, Mapping):
        return pyarrow.table(arrow_table(where, x, {}))
    if not isinstance(x, LoDTensor) and hasattr(x, "__arrow_c_array__"):
        return pyarrow.array(x)
    where = f"{where}: x"
    return pyarrow.array(Spoken(node_of(_given(where, x), where=where)))


class ArrowTable:
    """Columns of one length as an Arrow table, for `pyarrow.table`, `polars.DataFrame`, DuckDB, and others.

    Parameters
    ----------
    columns : mapping of str to LoDTensor or ndarray
        Each must have as many sequences, or rows.
    masks : mapping of str to LoDTensor or ndarray of bool, optional
        Which rows of a column have a value, with the structure of the column; the others are nulls.

    Raises
    ------
    LoDError, DTypeError
        If columns have different lengths, a mask has a different structure from its column, or Arrow does not have a
        dtype.

    Examples
    --------
    >>> import lodcore, numpy as np
    >>> from lodcore.interop import ArrowTable
    >>> table = ArrowTable({"name": np.array(["a", "b"]), "hits": lodcore.array([[1, 2], [3]])})
    >>> lodcore.from_arrow(table)["hits"]
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """

    __module__ = "lodcore.interop"

    def __init__(self, columns: Mapping[str, Any], masks: Mapping[str, Any] | None = None) -> None:
        for what, given in {"columns": columns, "masks": {} if masks is None else masks}.items():
            if not isinstance(given, Mapping):
                raise DTypeError(f"{TABLE}: {what}: is {type(given).__name__}; a dict by name is needed")
        self.columns: dict[str, Any] = {}
        for name, column in columns.items():
            if str(name) in self.columns:
                raise LoDError(f"{TABLE}: columns: has two columns {str(name)!r}")
            found = column if isinstance(column, LoDTensor) else as_values(f"{TABLE}: columns[{str(name)!r}]", column)
            self.columns[str(name)] = found
        self.masks = {str(name): _mask_of(self.columns, str(name), mask) for name, mask in (masks or {}).items()}
        table_node(self.columns, self.masks)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        node = table_node(self.columns, self.masks)
        return schema_capsule(node), array_capsule(node)

    def __arrow_c_schema__(self) -> Any:
        return schema_capsule(table_node({name: without_rows(column) for name, column in self.columns.items()}, {}))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return stream_capsule(table_node(self.columns, self.masks))


def arrow_table(where: str, columns: Mapping[str, Any], masks: Mapping[str, Any]) -> ArrowTable:
    """Return the columns as a table of Arrow, whose errors name the function that was called."""
    return call_named(where, ArrowTable, columns, masks)  # type: ignore[no-any-return]


class Spoken:
    """A node with Arrow's interface, as an argument of `pyarrow.array`."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return schema_capsule(self.node), array_capsule(self.node)


def _mask_of(columns: Mapping[str, Any], name: str, mask: Any) -> Any:
    """Check the mask of a column; return one bool per row, or per number of a row."""
    where = f"{TABLE}: masks[{name!r}]"
    if name not in columns:
        raise LoDError(f"{where}: there is no such column")
    return checked_mask(where, columns[name], mask)
