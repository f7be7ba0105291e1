"""Import and export of Arrow arrays by the C data interface alone: pyarrow is not needed.

Values are not copied: an import is a read-only view that keeps Arrow's memory alive, an export keeps the array alive.
Offsets are copied into memory that cannot be written, widened, and checked. Bools, strings of a fixed size, records and
joined chunks are copied, since their layout in memory differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lodcore.base.libraries import library
from lodcore.errors import DTypeError
from lodcore.interop.arrow_in import Options, content
from lodcore.interop.arrow_nodes import node_of, table_node, without_rows
from lodcore.interop.arrow_parts import finish, joined
from lodcore.interop.arrow_read import read_array, read_schema, read_stream
from lodcore.interop.arrow_write import array_capsule, schema_capsule, stream_capsule
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_values

__all__ = ["ArrowTable", "arrow_c_array", "arrow_c_schema", "arrow_c_stream", "from_arrow", "to_arrow"]

WHERE = "lodcore.from_arrow"


def from_arrow(
    obj: Any,
    nulls: Any = "error",
    *,
    strings: str = "rows",
    dictionaries: str = "ids",
    records: bool | None = None,
) -> Any:
    """Convert any object with Arrow's C data interface (pyarrow, Polars, DuckDB, nanoarrow, pandas) to a LoDTensor.

    Parameters
    ----------
    obj : object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        An array of lists of any depth: list, large_list, fixed_size_list, list_view, large_list_view, map. A fixed
        size directly above the values is an axis of a row, any other list is a level. The chunks of a stream are
        joined.
    nulls : {"error", "empty", "mask"} or a fill value
        "error" raises an error; "empty" makes null sequences empty, and a null row is an error; any other value
        replaces null rows, and null sequences are empty; "mask" returns the validity as a second result.
    strings : {"rows", "fixed"}
        Whether a string is a sequence of its bytes, which adds a level and copies nothing, or one value of a fixed size
        (copied).
    dictionaries : {"ids", "decode"}
        Whether dictionary-encoded values become ids, or are decoded (copied).
    records : bool, optional
        Whether structs become values of a structured dtype (True, copied), or a dict of LoDTensors that share one LoD
        (False). By default, a table, which is a struct that is not in a list, is a dict, and structs in lists are
        records.

    Returns
    -------
    LoDTensor, or ndarray if there is no list, or a dict of these for a table
        Values are read-only views of Arrow's memory; with ``nulls="mask"`` a pair of this and a tuple of bool arrays,
        one per level and one for the rows, true for valid entries (for a table: a dict of such tuples).

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
    options = Options(strings == "fixed", dictionaries == "decode", records)
    if hasattr(obj, "__arrow_c_array__"):
        schema, array = pair_of(obj.__arrow_c_array__())
        column: Any = read_array(schema, array)
        part = content(column, 0, column.length, options)
    elif hasattr(obj, "__arrow_c_stream__"):
        chunks, kind = read_stream(obj.__arrow_c_stream__())
        parts = [content(chunk, 0, chunk.length, options) for chunk in chunks if chunk.length]
        part = parts[0] if len(parts) == 1 else joined(parts) if parts else content(kind, 0, 0, options)
    else:
        raise DTypeError(f"{WHERE}: obj: is {type(obj).__name__}; __arrow_c_array__ or __arrow_c_stream__ is needed")
    result = finish(part, nulls, records)
    return (result.value, result.present) if isinstance(nulls, str) and nulls == "mask" else result.value


def _choose(name: str, given: Any, one: str, other: str) -> None:
    if given not in (one, other):
        raise ValueError(f"{WHERE}: {name}: is {given!r}; {one!r} or {other!r} is needed")


def pair_of(capsules: Any) -> tuple[Any, Any]:
    """Check that `__arrow_c_array__` returned two capsules."""
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise DTypeError(
            f"{WHERE}: obj: its __arrow_c_array__ returned {type(capsules).__name__}; two capsules are needed"
        )
    return capsules


def arrow_c_array(x: LoDTensor, requested_schema: Any = None) -> tuple[Any, Any]:
    """Return capsules of the schema and the array, as called by `pyarrow.array(x)` and others.

    Parameters
    ----------
    x : LoDTensor
    requested_schema : capsule, optional
        A requested type, which is used if nothing is lost: offsets of 32 bits, bytes as strings.

    Returns
    -------
    (capsule, capsule)
    """
    node = node_of(x, wish_of(requested_schema))
    return schema_capsule(node), array_capsule(node)


def arrow_c_schema(x: LoDTensor) -> Any:
    """Return a capsule of the schema."""
    return schema_capsule(node_of(without_rows(x)))


def arrow_c_stream(x: LoDTensor, requested_schema: Any = None) -> Any:
    """Return a capsule of a stream of one chunk."""
    return stream_capsule(node_of(x, wish_of(requested_schema)))


def wish_of(requested_schema: Any) -> Any:
    """Read a requested schema."""
    return None if requested_schema is None else read_schema(requested_schema)


def to_arrow(x: Any) -> Any:
    """Convert a LoDTensor to a pyarrow array, or a dict of columns to a pyarrow table, without copying values.

    Parameters
    ----------
    x : LoDTensor, or mapping of str to LoDTensor or ndarray

    Returns
    -------
    pyarrow.Array, or pyarrow.Table
    """
    pyarrow = library("pyarrow", "arrow", "lodcore.to_arrow")
    return pyarrow.table(ArrowTable(x)) if isinstance(x, Mapping) else pyarrow.array(x)


class ArrowTable:
    """Columns of one length as an Arrow table, for `pyarrow.table`, `polars.DataFrame`, DuckDB, and others.

    Parameters
    ----------
    columns : mapping of str to LoDTensor or ndarray
        Each must have as many sequences, or rows.

    Examples
    --------
    >>> import lodcore, numpy as np
    >>> from lodcore.interop import ArrowTable
    >>> table = ArrowTable({"name": np.array(["a", "b"]), "hits": lodcore.array([[1, 2], [3]])})
    >>> lodcore.from_arrow(table)["hits"]
    LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.columns = {
            str(name): column if isinstance(column, LoDTensor) else as_values(f"ArrowTable: {name}", column)
            for name, column in columns.items()
        }
        table_node(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        node = table_node(self.columns)
        return schema_capsule(node), array_capsule(node)

    def __arrow_c_schema__(self) -> Any:
        return schema_capsule(table_node({name: without_rows(column) for name, column in self.columns.items()}))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return stream_capsule(table_node(self.columns))
