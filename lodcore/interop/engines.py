"""Functions of LoDTensors as functions of record batches, for workers of Ray Data, Spark, Dask and others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lodcore.base.libraries import library
from lodcore.base.memory import integer
from lodcore.errors import BatchError, DTypeError, LoDError, ShapeError
from lodcore.interop.arrow.interface import Spoken, from_arrow, wish_of
from lodcore.interop.arrow.nodes import node_of
from lodcore.operators.arguments import function_of
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["ArrowBatches", "arrow_batches"]

WHERE = "arrow_batches"
#: Options of `from_arrow` that are common to all columns.
OPTIONS = ("strings", "dictionaries", "records")


def arrow_batches(
    f: Callable[..., Any],
    columns: Sequence[str] | Mapping[str, str] | None = None,
    *,
    keep: bool | Sequence[str] = True,
    schema: Any = None,
    max_rows: int | None = None,
    nulls: Any = "error",
    path: str = "path",
    row: str = "row",
    **options: Any,
) -> ArrowBatches:
    """Make a function of record batches with list columns from a function of LoDTensors.

    The result accepts the batches of any engine, and returns the same kind: a pyarrow Table (Ray Data's `map_batches`
    with ``batch_format="pyarrow"``), a RecordBatch, an iterator of RecordBatches (Spark's `mapInArrow`), or a pandas
    DataFrame with ArrowDtype columns (Dask's `map_partitions`). For any other object with Arrow's interface (Polars,
    DuckDB), it returns a Table. Values are copied only where `from_arrow` copies them, and rows never become objects.

    Parameters
    ----------
    f : callable
        A function of columns: LoDTensors, or ndarrays if a column has no lists. It returns a dict of columns
        (LoDTensors, ndarrays, or arrays with Arrow's interface) of one length, or a single column, which replaces the
        first argument. To be sent to other processes, it must be picklable, as for any engine.
    columns : sequence of str, or mapping of str to str, optional
        The columns that are passed to f by position, or the column of each parameter. By default, the columns are named
        by the parameters of f without defaults.
    keep : bool or sequence of str
        Which other columns are passed through: all, none, or these. With a function that returns another number of
        rows, none can be kept.
    schema : pyarrow.Schema, optional
        The columns of the result, their order and types, as declared to the engine. By default, lists have offsets of
        64 bits, and the bytes of a text column become text again.
    max_rows : int, optional
        The maximum number of rows per call of f; longer batches are divided. This limits the memory that f needs.
    nulls : "error", "empty", "mask", a fill value, or a mapping of columns to these
        As in `from_arrow`. With "mask", the argument of f is a pair: the column and its validity.
    path, row : str
        Optional columns with the file of each row, and its position in the file. Errors name both.
    **options
        `strings`, `dictionaries` and `records`, as in `from_arrow`.

    Returns
    -------
    ArrowBatches
        A function of one argument. It can be pickled if f can, and has no state, so that threads may share it.

    Raises
    ------
    ValueError, DTypeError
        If the columns of f cannot be determined.
    BatchError
        If a batch fails in a call; the message names the file and the rows or, if one row fails alone, that row, which
        is found by bisection.

    Notes
    -----
    f is called on an empty batch, too, unless `schema` determines the result.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.interop import arrow_batches
    >>> def centre(values):
    ...     return {"centred": values - values.mean(axis=1, keepdims=True)}
    >>> centre_batches = arrow_batches(centre)
    >>> centre_batches
    arrow_batches(centre, columns=('values',))

    With pyarrow: ``centre_batches(pyarrow.table({"values": [[1.0, 3.0], [5.0]]}))`` has the columns "values" and
    "centred". With an engine: ``dataset.map_batches(centre_batches, batch_format="pyarrow")``.
    """
    function_of(f"{WHERE}: f", f)
    if unknown := options.keys() - set(OPTIONS):
        raise TypeError(f"{WHERE}: has no option {min(unknown)!r}; {', '.join(OPTIONS)} are those of from_arrow")
    if max_rows is not None and integer(f"{WHERE}: max_rows", max_rows) < 1:
        raise ValueError(f"{WHERE}: max_rows: is {max_rows}; 1 or more is needed")
    if isinstance(keep, str) or not isinstance(keep, (bool, Sequence)):
        raise DTypeError(f"{WHERE}: keep: is {keep!r}; True, False or a list of columns is needed")
    positional, named = _columns_of(f, columns)
    kept = keep if isinstance(keep, bool) else tuple(keep)
    chosen = nulls if not isinstance(nulls, Mapping) else dict(nulls)
    most = None if max_rows is None else integer(f"{WHERE}: max_rows", max_rows)
    return ArrowBatches(f, positional, named, kept, schema, most, chosen, path, row, tuple(sorted(options.items())))


def _columns_of(f: Callable[..., Any], columns: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the columns that are passed by position, and pairs of parameter and column."""
    positional: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()
    if isinstance(columns, Mapping):
        named = tuple((str(name), str(column)) for name, column in columns.items())
    elif columns is not None:
        if isinstance(columns, str):
            raise DTypeError(f"{WHERE}: columns: is {columns!r}; a list of names is needed")
        positional = tuple(columns)
    else:
        try:
            parameters = inspect.signature(f).parameters.values()
        except (TypeError, ValueError):
            raise ValueError(f"{WHERE}: f: {name_of(f)} has no readable signature; columns= is needed") from None
        needed = [one for one in parameters if one.default is one.empty]
        if open_ended := [one for one in needed if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]:
            raise ValueError(f"{WHERE}: f: {name_of(f)} takes {open_ended[0]}; columns= is needed")
        positional = tuple(one.name for one in needed if one.kind is not one.KEYWORD_ONLY)
        named = tuple((one.name, one.name) for one in needed if one.kind is one.KEYWORD_ONLY)
    if not positional and not named:
        raise ValueError(f"{WHERE}: columns: are none; {name_of(f)} must take one at least")
    for name in (*positional, *(column for _, column in named)):
        if not isinstance(name, str):
            raise DTypeError(f"{WHERE}: columns: has {name!r}; names are needed")
    return positional, named


def name_of(f: Any) -> str:
    """Return the name of a function, for messages."""
    while isinstance(f, functools.partial):
        f = f.func
    return getattr(f, "__name__", None) or type(f).__name__


@dataclass(frozen=True, eq=False, repr=False)
class ArrowBatches:
    """A function of record batches, made by `arrow_batches`; its fields are the arguments."""

    __module__ = "lodcore.interop"

    f: Callable[..., Any]
    positional: tuple[str, ...]
    named: tuple[tuple[str, str], ...]
    keep: bool | tuple[str, ...]
    schema: Any
    max_rows: int | None
    nulls: Any
    path: str
    row: str
    options: tuple[tuple[str, Any], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, each once."""
        return tuple(dict.fromkeys((*self.positional, *(column for _, column in self.named))))

    def __repr__(self) -> str:
        return f"{WHERE}({name_of(self.f)}, columns={self.columns})"

    def __call__(self, batches: Any) -> Any:
        """Call the function on a batch, or on each batch of an iterator, and return the same kind."""
        pyarrow = library("pyarrow", "arrow", WHERE)
        if isinstance(batches, pyarrow.RecordBatch):
            return _as_batch(pyarrow, self._table(pyarrow, pyarrow.Table.from_batches([batches])))
        if isinstance(batches, pyarrow.Table):
            return self._table(pyarrow, batches)
        if type(batches).__module__.partition(".")[0] == "pandas" and hasattr(batches, "dtypes"):
            return self._frame(pyarrow, batches)
        if isinstance(batches, (Iterator, list, tuple, pyarrow.RecordBatchReader)):
            return self._stream(pyarrow, batches)
        if hasattr(batches, "__arrow_c_stream__") or hasattr(batches, "__arrow_c_array__"):
            return self._table(pyarrow, pyarrow.table(batches))
        raise DTypeError(f"{WHERE}: batches: is {type(batches).__name__}; a Table, RecordBatch or iterator is needed")

    # -- kinds of batches ----------------------------------------------------------------------------------------------

    def _stream(self, pyarrow: Any, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield a result for each batch; rows are numbered across batches."""
        first = 0
        for batch in batches:
            if not isinstance(batch, (pyarrow.RecordBatch, pyarrow.Table)):
                raise DTypeError(f"{WHERE}: batches: holds {type(batch).__name__}; RecordBatches are needed")
            table = batch if isinstance(batch, pyarrow.Table) else pyarrow.Table.from_batches([batch])
            for piece in self._pieces(table):
                yield _as_batch(pyarrow, self._checked(pyarrow, piece, first))
                first += piece.num_rows

    def _table(self, pyarrow: Any, table: Any) -> Any:
        if self.max_rows is None or table.num_rows <= self.max_rows:
            return self._checked(pyarrow, table, 0)
        starts = range(0, table.num_rows, self.max_rows)
        pieces = zip(self._pieces(table), starts, strict=True)
        return pyarrow.concat_tables([self._checked(pyarrow, piece, first) for piece, first in pieces])

    def _frame(self, pyarrow: Any, frame: Any) -> Any:
        """Compute a pandas DataFrame; its index is kept if the number of rows is."""
        pandas = library("pandas", "pandas", WHERE)
        for name, dtype in frame.dtypes.items():
            if name in self.columns and getattr(dtype, "hasobject", False):
                raise DTypeError(
                    f"{WHERE}: column {name!r}: has dtype {dtype}; ArrowDtype is needed, as dtype_backend='pyarrow' "
                    "makes it"
                )
        table = self._table(pyarrow, pyarrow.Table.from_pandas(frame, preserve_index=False))
        made = table.replace_schema_metadata(None).to_pandas(types_mapper=pandas.ArrowDtype)
        return made.set_axis(frame.index) if len(made) == len(frame) else made

    def _pieces(self, table: Any) -> Iterator[Any]:
        """Divide a table into pieces of at most `max_rows` rows; an empty one is one piece."""
        most = self.max_rows or max(table.num_rows, 1)
        for start in range(0, max(table.num_rows, 1), most):
            yield table.slice(start, most)

    # -- one batch -----------------------------------------------------------------------------------------------------

    def _checked(self, pyarrow: Any, table: Any, first: int) -> Any:
        """Compute a batch; name its rows if that fails."""
        if missing := [name for name in self._wanted() if name not in table.column_names]:
            raise KeyError(f"{WHERE}: {missing[0]!r} is not a column of the batch; {', '.join(table.column_names)} are")
        if not table.num_rows and self.schema is not None:
            return self.schema.empty_table()
        try:
            return self._computed(pyarrow, table)
        except Exception as error:
            start, stop = self._failing(pyarrow, table)
            raise failure(self, table, first, start, stop, error) from error

    def _wanted(self) -> tuple[str, ...]:
        """Return the required columns."""
        return self.columns if isinstance(self.keep, bool) else (*self.columns, *self.keep)

    def _computed(self, pyarrow: Any, table: Any) -> Any:
        given = self._tensors(table)
        positional = [given[name] for name in self.positional]
        found = self.f(*positional, **{name: given[column] for name, column in self.named})
        made = found if isinstance(found, Mapping) else {self.columns[0]: found}
        arrays = {name: self._array(pyarrow, name, column, table) for name, column in made.items()}
        return self._joined(pyarrow, table, arrays)

    def _tensors(self, table: Any) -> dict[str, Any]:
        """Convert the columns that the function needs; those with one structure share one LoD."""
        names, options = self.columns, dict(self.options)
        if not isinstance(self.nulls, Mapping):
            found = from_arrow(table.select(list(names)), self.nulls, **options)
            if isinstance(found, tuple):
                return {name: (found[0][name], found[1][name]) for name in names}
            return dict(found)
        policies = {name: self.nulls.get(name, "error") for name in names}
        given = {}
        for name, policy in policies.items():
            found = from_arrow(table.select([name]), policy, **options)
            given[name] = (found[0][name], found[1][name]) if isinstance(found, tuple) else found[name]
        return given

    def _array(self, pyarrow: Any, name: str, column: Any, table: Any) -> Any:
        """Convert a column of the result to an Arrow array of the requested type."""
        if isinstance(column, np.ndarray):
            if not column.ndim:
                raise ShapeError(f"{name_of(self.f)}: returned one number for column {name!r}; one per row is needed")
        elif not (hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")):
            kind = type(column).__name__
            raise DTypeError(f"{name_of(self.f)}: returned {kind} for column {name!r}; a LoDTensor or array is needed")
        wanted = None
        if self.schema is not None:
            if name not in self.schema.names:
                raise KeyError(f"{name_of(self.f)}: returned {name!r}; schema has {', '.join(self.schema.names)}")
            wanted = self.schema.field(name).type
        elif name in table.column_names and _is_text(column, table.schema.field(name).type, pyarrow):
            wanted = table.schema.field(name).type
        return _of_type(pyarrow, f"{name_of(self.f)}: column {name!r}", column, wanted)

    def _joined(self, pyarrow: Any, table: Any, arrays: dict[str, Any]) -> Any:
        """Join the columns that are passed through and those of the result."""
        count = len(next(iter(arrays.values()))) if arrays else table.num_rows
        for name, array in arrays.items():
            if len(array) != count:
                other = next(iter(arrays))
                raise LoDError(f"{name_of(self.f)}: returned {len(array)} rows for {name!r}, {count} for {other!r}")
        others = [name for name in table.column_names if name not in arrays]
        if not isinstance(self.keep, bool):
            others = [name for name in others if name in self.keep]
        elif not self.keep:
            others = []
        if self.schema is not None:
            others = [name for name in others if name in self.schema.names]
        if others and count != table.num_rows:
            raise LoDError(
                f"{name_of(self.f)}: returned {count} rows for {table.num_rows}, so {others[0]!r} cannot be passed "
                "on; keep=False leaves the other columns out"
            )
        joined = {name: table.column(name) for name in others} | arrays
        order = [name for name in table.column_names if name in joined]
        order += [name for name in arrays if name not in order]
        if self.schema is None:
            return pyarrow.table({name: joined[name] for name in order})
        if lacking := [name for name in self.schema.names if name not in joined]:
            raise KeyError(f"{name_of(self.f)}: returned no column {lacking[0]!r}, which schema has")
        return pyarrow.table([joined[name] for name in self.schema.names], names=self.schema.names).cast(self.schema)

    # -- failures ------------------------------------------------------------------------------------------------------

    def _failing(self, pyarrow: Any, table: Any) -> tuple[int, int]:
        """Bisect a failing batch as long as a half fails, too; return the range of rows that fails.

        If the first and the last row fail alone, the failure does not depend on rows, and the whole batch is returned.
        """
        start, stop = 0, table.num_rows
        if stop > 1 and self._fails(pyarrow, table, 0, 1) and self._fails(pyarrow, table, stop - 1, stop):
            return start, stop
        while stop - start > 1:
            middle = (start + stop) // 2
            halves = [(start, middle), (middle, stop)]
            failed = next((half for half in halves if self._fails(pyarrow, table, *half)), None)
            if failed is None:
                break
            start, stop = failed
        return start, stop

    def _fails(self, pyarrow: Any, table: Any, start: int, stop: int) -> bool:
        try:
            self._computed(pyarrow, table.slice(start, stop - start))
        except Exception:
            return True
        return False


def failure(batches: ArrowBatches, table: Any, first: int, start: int, stop: int, error: Exception) -> BatchError:
    """Return the error of a batch: the rows, their file, and the cause.

    Parameters
    ----------
    batches : ArrowBatches
    table : pyarrow.Table
        The batch.
    first : int
        The number of its first row, if no column has it.
    start, stop : int
        The rows of the batch that fail.
    error : Exception

    Returns
    -------
    BatchError
    """
    path = _entry(table, batches.path, start)
    whole = (_place(table, batches.row, 0, first), _place(table, batches.row, table.num_rows - 1, first))
    low, high = (_place(table, batches.row, k, first) for k in (start, stop - 1))
    rows = f"row {low}" if stop - start == 1 else f"rows {low} .. {high}" if stop > start else "no rows"
    of = "" if (low, high) == whole else f" of the batch of rows {whole[0]} .. {whole[1]}"
    place = rows + of if path is None else f"{path}, {rows}{of}"
    said = error.args[0] if isinstance(error, KeyError) and error.args else error
    made = BatchError(f"{WHERE}: {name_of(batches.f)}: {place}: {type(error).__name__}: {said}")
    made.path, made.rows = path, (low, high + 1)
    return made


def _entry(table: Any, name: str, k: int) -> Any:
    """Return an entry of a column as a Python object; None if there is no such column or entry."""
    if table.column_names.count(name) != 1 or not 0 <= k < table.num_rows:
        return None
    return table.column(name)[k].as_py()


def _place(table: Any, name: str, k: int, first: int) -> int:
    """Return the position of a row in its file if a column has it, otherwise its number in the input."""
    found = _entry(table, name, k)
    return found if isinstance(found, int) else first + k


def _is_text(column: Any, kind: Any, pyarrow: Any) -> bool:
    """Return whether a column of bytes replaces a text column with as many levels."""
    if not isinstance(column, LoDTensor) or column.dtype != np.uint8 or column.values.ndim != 1:
        return False
    levels = 1
    while pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        kind, levels = kind.value_type, levels + 1
    return levels == column.num_levels and bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


def _of_type(pyarrow: Any, where: str, column: Any, wanted: Any) -> Any:
    """Return an array of a type, requested by the interface, and cast if that does not suffice."""
    if isinstance(column, (np.ndarray, LoDTensor)):
        wish = None if wanted is None else wish_of(wanted.__arrow_c_schema__())
        array = pyarrow.array(Spoken(node_of(column, wish, where=where)))
    else:
        array = pyarrow.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pyarrow.array(column)
    return array if wanted is None or array.type == wanted else array.cast(wanted)


def _as_batch(pyarrow: Any, table: Any) -> Any:
    """Convert a table to one RecordBatch."""
    columns = [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in table.columns]
    if columns:
        return pyarrow.RecordBatch.from_arrays(columns, schema=table.schema)
    return table.to_batches()[0]
