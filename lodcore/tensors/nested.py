"""Conversion of nested lists to values and offsets, and back."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers, dtypes
from lodcore.base.articles import with_article
from lodcore.base.dtypes import native_dtype
from lodcore.base.memory import check_size
from lodcore.base.missing import complete, is_column
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import lod_body
from lodcore.tensors.foreign_columns import array_of_text, dtype_for, is_array
from lodcore.tensors.lod import LoD
from lodcore.tensors.python_dates import MOMENTS, dates_of, nat_of_none, refuse_far
from lodcore.tensors.text import refuse_changed, refuse_kinds, refuse_nul, refuse_numbers, shortened

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "DEEPEST",
    "as_values",
    "error_of_objects",
    "guarded_values",
    "has_leaves",
    "is_view",
    "join_arrays",
    "join_rows",
    "levels_and_leaves",
    "nest",
    "new_joined",
    "no_number",
    "refuse_conversion",
    "values_and_lender",
    "values_of_leaves",
]

DEEPEST = 64  # levels; a deeper list contains itself
Array = np.ndarray[Any, Any]


def levels_and_leaves(
    where: str, nested: list[Any], num_levels: int | None, of_records: bool = False
) -> tuple[list[Array], list[Any], bool]:
    """Return the offsets and leaves of nested lists.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    nested : list
        The batch.
    num_levels : int or None
        The number of levels to make, if given.
    of_records : bool
        Whether tuples are records, as in NumPy for a dtype with fields.

    Returns
    -------
    (list of ndarray, list, bool)
        The offsets of each level of lists; all leaves in order; whether the leaves are sequences. If not, arrays are
        rows, each with a first axis of 1.
    """
    levels: list[Array] = []
    nodes = nested
    trail = [nested]  # one list of each depth, and all lists from the third depth on
    while True:
        a_list, an_array, other = kernels.gather.kinds(nodes)
        if other >= 0 and is_array(nodes[other]):
            nodes = [_as_leaf(where, j, node) if is_array(node) else node for j, node in enumerate(nodes)]
            a_list, an_array, other = kernels.gather.kinds(nodes)
        found = sorted(at for at in (a_list, an_array, other) if at >= 0)
        if len(found) > 1:
            kind = type(nodes[found[1]]).__name__
            raise ShapeError(
                f"{where}: entry {found[1]} at depth {len(levels) + 1} is {kind}, "
                f"entry {found[0]} {type(nodes[found[0]]).__name__}; all entries at one depth must be of one kind"
            )
        if a_list < 0 or (of_records and all(type(node) is tuple for node in nodes)):
            break
        _refuse_loops(where, nodes, trail, len(levels))
        check_size(where, sum(map(len, nodes)), 8)
        offsets = buffers.new_int64(len(nodes) + 1)
        nodes = kernels.gather.chain(nodes, offsets)
        levels.append(offsets)
    arrays = an_array >= 0
    if arrays and num_levels is not None and num_levels == len(levels) > 0:
        return levels, [node[None] for node in nodes], False  # each array is one row
    depth = len(levels) + arrays
    if num_levels is not None and depth != num_levels:
        if nodes or depth > num_levels:
            raise LoDError(f"{where}: has num_levels {depth}; {num_levels} is given")
        levels += [buffers.new_int64(1) for _ in range(num_levels - depth)]
        for k in range(depth, num_levels):
            levels[k][:] = 0
    elif not depth and nodes:
        raise LoDError(
            f"{where}: entry 0 is {type(nodes[0]).__name__}; each entry must be a sequence, as in [[1, 2], [3]]"
        )
    elif not depth:
        levels.append(np.zeros(1, np.int64))
    return levels, nodes, arrays


def _as_leaf(where: str, at: int, node: Any) -> Array:
    """Return an array of another library that is a sequence of a list."""
    try:
        made = as_array(f"{where}: entry {at}", node)
    except (TypeError, RuntimeError) as error:  # of torch: gradients, other devices, dtypes of its own
        if isinstance(error, DTypeError):
            raise
        raise DTypeError(f"{where}: entry {at} is {type(node).__name__}: {error}") from None
    if made.dtype.hasobject:
        raise error_of_objects(f"{where}: entry {at}: has dtype", made.dtype)
    return made


def has_leaves(nested: Any) -> bool:
    """Return whether nested lists contain anything but lists."""
    _, leaves, arrays = levels_and_leaves("lodcore.array: obj", list(nested), None)
    return arrays or len(leaves) > 0


def _refuse_loops(where: str, nodes: list[Any], trail: list[Any], depth: int) -> None:
    """Raise if a nonempty list is at two depths, as is one that contains itself."""
    if depth >= DEEPEST:
        raise LoDError(f"{where}: has more than {DEEPEST} levels; does a list contain itself?")
    if depth < 2:
        again = any(nodes[0] is list_above and nodes[0] for list_above in trail)
        trail.append(nodes[0])
    else:
        above = {id(entry) for entry in trail}
        again = any(id(node) in above and node for node in nodes)
        trail += nodes
    if again:
        raise LoDError(f"{where}: a list is at two depths (depth {depth + 1} is one); does it contain itself?")


def values_of_leaves(where: str, leaves: list[Any], dtype: npt.DTypeLike | None) -> Array:
    """Convert scalars to an array.

    Parameters
    ----------
    where : str
        The names of the function and its argument, for the message.
    leaves : list
        Numbers, strings, NumPy scalars.
    dtype : dtype_like or None
        By default that found by NumPy; float64 without leaves.

    Returns
    -------
    ndarray
        shape (len(leaves),).
    """
    dtype = as_dtype(where, dtype)
    if leaves and isinstance(leaves[0], dict):
        return _records(where, leaves, dtype)
    try:
        values = np.array(leaves, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise DTypeError(f"{where}: {error}") from None
    if values.dtype.hasobject and leaves and isinstance(leaves[0], MOMENTS):
        values = dates_of(where, leaves)
    if values.dtype.kind in "mM":
        refuse_far(where, leaves, values.dtype)
    if values.dtype.kind in "US" and (dtype is None or not dtype.itemsize):
        refuse_nul(where, leaves)
    if values.ndim != 1 or len(values) != len(leaves):
        raise DTypeError(f"{where}: its entries have shape {values.shape[1:]}; scalars or ndarrays are needed")
    if dtype is None and values.dtype.kind in "US":
        refuse_numbers(where, leaves, values.dtype.kind)
    return values


def _records(where: str, leaves: list[Any], dtype: np.dtype[Any] | None) -> Array:
    """Convert dicts with the same keys to records, whose fields are in the order of the first one."""
    names = list(leaves[0]) if dtype is None or dtype.names is None else list(dtype.names)
    if dtype is not None and dtype.names is None:
        raise DTypeError(f"{where}: dtype: is {dtype}, which has no fields; dicts become records")
    for j, leaf in enumerate(leaves):
        if not isinstance(leaf, dict):
            raise DTypeError(f"{where}: value {j} is {type(leaf).__name__} among dicts; values are of one kind")
        if leaf.keys() != set(names) or not names or not all(isinstance(name, str) for name in leaf):
            has = ", ".join(map(repr, leaf)) or "no key"
            raise DTypeError(f"{where}: value {j} has {has}; all dicts need the same keys, which are text")
    columns = []
    for name in names:
        kind = None if dtype is None or dtype.fields is None else dtype.fields[name][0]
        column = values_of_leaves(f"{where}: {name!r}", [leaf[name] for leaf in leaves], kind)
        if column.dtype.hasobject:
            raise no_number(f"{where}: {name!r}", [], [leaf[name] for leaf in leaves])
        columns.append(column)
    made = np.empty(len(leaves), [(name, column.dtype) for name, column in zip(names, columns, strict=True)])
    for name, column in zip(names, columns, strict=True):
        made[name] = column
    return made if dtype is None else made.astype(dtype)


def no_number(where: str, levels: list[Array], leaves: list[Any]) -> DTypeError:
    """Return the error for the first entry of nested lists that does not have a dtype of a fixed size."""
    j = next((j for j, leaf in enumerate(leaves) if np.asarray(leaf).dtype.hasobject), 0)
    value, path = leaves[j], []
    for offsets in reversed(levels):
        above = int(np.searchsorted(offsets, j, "right")) - 1
        path.append(j - int(offsets[above]))
        j = above
    place = "".join([f"[{at}]" for at in [j, *reversed(path)]])
    needed = (
        _instead_of_none(leaves)
        if value is None
        else f"what is of type {type(value).__name__} has no dtype of a fixed size"
    )
    return DTypeError(f"{where}{place}: is {shortened(value)}; {needed}")


def _instead_of_none(leaves: list[Any]) -> str:
    """Return the advice for a missing value among others."""
    other = next((leaf for leaf in leaves if leaf is not None), 0)
    if isinstance(other, (str, bytes)):
        return f"text has no value that is missing: write {type(other)()!r}, or leave the entry out"
    if isinstance(other, (bool, np.bool_)):
        return "bools have no value that is missing: write False, or leave the entry out"
    if isinstance(other, (datetime.date, datetime.timedelta)):
        return nat_of_none(other)
    makes = ", which makes floats of integers" if isinstance(other, (int, np.integer)) else ""
    return f"write nan for a value that is missing{makes}"


def join_arrays(
    where: str, arrays: Sequence[Any], dtype: npt.DTypeLike | None, out: Array | None = None
) -> tuple[Array, Array]:
    """Concatenate the rows of arrays.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    arrays : list
        ndarrays with at least one axis and equal row shapes.
    dtype : dtype_like or None
        By default the dtype to which NumPy promotes.
    out : ndarray, optional
        The array to write the rows to.

    Returns
    -------
    (ndarray, ndarray)
        The rows, and their int64 offsets for `make_lod`.
    """
    offsets = buffers.new_offsets(len(arrays) + 1)
    bad = kernels.gather.count_rows(arrays, offsets)
    if bad >= 0 or dtype is not None or not len(arrays) or not _is_native(arrays[0].dtype):
        joined = _joined_numbers(where, arrays, as_dtype(where, dtype)) if out is None else None
        if joined is not None:
            return joined
        arrays = _converted(where, list(arrays), dtype)
        offsets = buffers.new_offsets(len(arrays) + 1)
        if kernels.gather.count_rows(arrays, offsets) >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows")
        if not len(arrays):
            arrays = [np.empty(0, as_dtype(where, dtype))]
    return join_rows(where, arrays, offsets.item(len(offsets) - 1), out), offsets


def _joined_numbers(where: str, arrays: Sequence[Any], dtype: np.dtype[Any] | None) -> tuple[Array, Array] | None:
    """Concatenate the rows of arrays of numbers, which NumPy converts; None if there are others, or none fit."""
    if not len(arrays) or not all(map(buffers.is_plain, arrays)):
        return None
    given = dict.fromkeys([array.dtype for array in arrays])
    if not all(kind.kind in "biufc" for kind in (*given, *(() if dtype is None else (dtype,)))):
        return None
    common = np.result_type(*given) if dtype is None else dtype
    lengths = [len(array) for array in arrays]
    if sum(lengths) > np.iinfo(np.int64).max:
        return None
    offsets = buffers.new_offsets(len(arrays) + 1)
    offsets[0] = 0
    np.cumsum(lengths, out=offsets[1:])
    rows = buffers.new_rows(where, np.empty((0, *arrays[0].shape[1:]), common), offsets.item(len(arrays)), None)
    try:
        return np.concatenate(arrays, out=rows, casting="unsafe"), offsets
    except ValueError:  # of other shapes
        return None


def join_rows(where: str, arrays: Sequence[Any], num_rows: int, out: Array | None) -> Array:
    """Concatenate the rows of arrays that `count_rows` found to have equal dtypes and row shapes.

    Parameters
    ----------
    where : str
        The name of the function, for the message.
    arrays : list of ndarray
        At least one.
    num_rows : int
        The total number of rows.
    out : ndarray or None
        The array to write the rows to.

    Returns
    -------
    ndarray
    """
    joined = new_joined(where, arrays, num_rows, out)
    if kernels.gather.join_rows(arrays, buffers.as_bytes(joined)) >= 0:
        raise ShapeError(f"{where}: arrays: changed while they were read")
    return joined


def new_joined(where: str, arrays: Sequence[Any], num_rows: int, out: Array | None) -> Array:
    """Make, or check, the array for the concatenated rows of such arrays."""
    joined: Array = buffers.new_rows(where, arrays[0], num_rows, out)
    if out is not None and kernels.gather.first_overlap(arrays, buffers.as_bytes(joined)) >= 0:
        raise ValueError(f"{where}: out: overlaps an input; it must have memory of its own")
    return joined


def _is_native(dtype: np.dtype[Any]) -> bool:
    return dtypes.is_native(dtype) and not dtype.hasobject


def _converted(where: str, arrays: Sequence[Any], dtype: npt.DTypeLike | None) -> list[Array]:
    """Convert arrays to plain C-contiguous ones with one dtype and row shape."""
    plain: list[Array] = [as_values(f"{where}: arrays[{j}]", array) for j, array in enumerate(arrays)]
    for j, array in enumerate(plain):
        if array.shape[1:] != plain[0].shape[1:]:
            raise ShapeError(
                f"{where}: arrays[{j}]: has rows of shape {array.shape[1:]}; arrays[0] has {plain[0].shape[1:]}"
            )
    common = as_dtype(where, dtype)
    if common is None:
        refuse_kinds(where, plain)
        try:
            common = dtypes.promoted(*dict.fromkeys(array.dtype for array in plain) or [float])
        except TypeError as error:
            raise DTypeError(f"{where}: arrays: {error}") from None
    native = native_dtype(common)
    if not native.itemsize and native.kind in "US" and plain:  # of any length
        native = np.result_type(*(array[:0].astype(native).dtype for array in plain))
    return [
        np.ascontiguousarray(dtypes.in_unit(f"{where}: arrays[{j}]", array, native), native)
        for j, array in enumerate(plain)
    ]


def as_values(where: str, given: Any) -> Array:
    """Convert a caller's rows to a C-contiguous, aligned, native array with at least one axis.

    An array that is one already is returned itself.
    """
    return values_and_lender(where, given)[0]


def is_view(rows: Array, given: Any) -> bool:
    """Return whether rows share the memory of an array of another class, such as that of a mapped file."""
    if not isinstance(given, np.ndarray) or rows.dtype != given.dtype or rows.shape != given.shape:
        return False
    return buffers.bytes_between(rows, given) == 0 and rows.flags.writeable == given.flags.writeable


def as_array(where: str, given: Any) -> Array:
    """Convert a caller's dense tensor to a plain ndarray."""
    refuse_conversion(where, given)
    given = complete(where, given)
    try:
        made = np.asarray(given, dtype_for(given))
    except ValueError:
        raise ShapeError(
            f"{where}: is nested unevenly; each axis of a dense array has one length; lodcore.array makes sequences"
        ) from None
    except Exception as error:  # of a library that has no such array
        if not is_column(given):
            raise
        raise DTypeError(f"{where}: is {with_article(type(given).__name__)}: {error}") from None
    if made.dtype.kind in "US" and isinstance(given, (list, tuple)):
        refuse_changed(where, given, made.dtype.kind)
    if made.dtype.hasobject and is_column(given):
        text = array_of_text(where, given, made)
        made = made if text is None else text
    made = with_dates(where, made)
    if made.dtype.hasobject and not made.ndim and not isinstance(given, (int, np.ndarray, type(None))):
        raise DTypeError(f"{where}: is {with_article(type(given).__name__)}; a LoDTensor or an array is needed")
    return made


def with_dates(where: str, made: Array) -> Array:
    """Convert an array of dates, times or durations of the standard library; return any other one unchanged."""
    if (
        not made.dtype.hasobject
        or made.dtype.names is not None
        or not made.size
        or not isinstance(made.flat[0], MOMENTS)
    ):
        return made
    return dates_of(where, made.ravel().tolist()).reshape(made.shape)


def is_moment(x: Any) -> bool:
    """Return whether this is a date, a time or a duration of the standard library."""
    return isinstance(x, (datetime.date, datetime.timedelta))


def refuse_conversion(where: str, given: Any) -> None:
    """Raise if a tensor, or its kind, must not be converted to a dense array silently; the kind provides the advice."""
    kind = given if isinstance(given, type) else type(given)
    instead = getattr(kind, "instead_of_dense", None)
    if instead is not None:
        raise DTypeError(f"{where}: is {with_article(kind.__name__)}; {instead}")


def as_dtype(where: str, dtype: npt.DTypeLike | None) -> np.dtype[Any] | None:
    """Return a caller's dtype, which must not have Python objects."""
    if dtype is None:
        return None
    made = dtypes.as_dtype(f"{where}: dtype", dtype)
    if made.hasobject:
        raise error_of_objects(f"{where}: dtype: is", made)
    return native_dtype(made)


def error_of_objects(has: str, dtype: np.dtype[Any]) -> DTypeError:
    """Return the error for a dtype of Python objects; the message begins with what has it."""
    advice = "; lodcore.encode_utf8 makes bytes of strings" if dtype.kind == "T" else ""
    if dtype.kind == "O" and has.endswith(": has dtype"):
        advice = '; .astype("U") makes text of them'
    return DTypeError(f"{has} {dtype}; Python objects have no fixed size{advice}")


def values_and_lender(where: str, given: Any) -> tuple[Array, bool]:
    """Return the result of `as_values`, and whether its memory belongs to the caller."""
    if buffers.is_plain(given):
        return given, True
    lent = not isinstance(given, (list, tuple))
    if type(given) is not np.ndarray:
        given = as_array(where, given)
    if given.ndim == 0:
        raise ShapeError(f"{where}: has no axis; its first axis counts the rows")
    if given.dtype.hasobject:
        raise error_of_objects(f"{where}: has dtype", given.dtype)
    check_size(where, given.size, given.itemsize)  # a broadcast array has few bytes, but a copy of it has many
    if not dtypes.is_native(given.dtype):
        given, lent = given.astype(native_dtype(given.dtype)), False
    if not (given.flags.c_contiguous and given.flags.aligned):
        given, lent = np.array(given, order="C"), False
    return given, lent


def nest(flat: list[Any], lod: LoD, first: int = 0) -> list[Any]:
    """Convert a flat list to nested lists.

    Parameters
    ----------
    flat : list
        One entry per element of the last level.
    lod : LoD
    first : int
        The level whose sequences the outermost list holds.

    Returns
    -------
    list
    """
    for k in reversed(range(first, lod.num_levels)):
        flat = kernels.gather.nest(flat, lod_body.offsets_view(lod, k))
    return flat


def guarded_values(where: str, given: Any) -> Array:
    """Return a caller's rows, read-only if they share memory with it."""
    if buffers.is_plain(given):  # the general way takes a tenth of `LoDTensor.from_lengths`
        return buffers.guarded(given)
    rows, lent = values_and_lender(where, given)
    return buffers.guarded(rows) if lent else rows
