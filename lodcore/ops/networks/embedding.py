"""Lookup of rows of a table by their numbers, one by one or pooled."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers, threads
from lodcore.base.memory import check_apart, check_out, check_size, integer, unharmed
from lodcore.base.threads import get_num_threads, in_parts, over_sequences, parts
from lodcore.errors import DTypeError, LevelError, ShapeError
from lodcore.operators.arguments import dense_of, given_of
from lodcore.operators.operands import Array, check_equal, with_levels
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Dense, NestedIndex, Rows, spec_of
from lodcore.ops.reduce.pool import (
    DIVIDE,
    ZERO,
    cells_for,
    cells_of,
    convert_into,
    name_of,
    numbers_of,
    pool,
    result_rows,
    spread,
)
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array, as_values
from lodcore.tensors.sparse_tensor import SparseTensor
from lodcore.tensors.tensor import Spec

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.tensors.lod import LoD

__all__ = ["embedding_bag", "lookup_table"]

INT64 = np.dtype(np.int64)


@operator(table=Dense, ids=NestedIndex)
def lookup_table(table: Any, ids: Any, padding_idx: int | None = None, out: Array | None = None) -> Any:
    """Look up rows of a table by their numbers.

    Parameters
    ----------
    table : array_like, shape (height, ...)
        Also a state with one row per branch, from which ids such as the `parent_idx` of `beam_search` select.
    ids : LoDTensor, nested lists or ndarray of any integer dtype
        0 .. height - 1. A second axis of length 1 is ignored.
    padding_idx : int, optional
        The number whose row is replaced by zeros and has no gradient; a negative one counts from the end.
    out : ndarray, optional
        shape (number of ids, ...): the array to write to.

    Returns
    -------
    LoDTensor or ndarray
        Has the LoD of ids; the shape of its values is that of ids followed by that of a row. The gradient of the table
        is a SparseTensor.

    Raises
    ------
    IndexError
        If a number is out of range; the message names its position (and its sequence).
    DTypeError, ShapeError
        If the numbers are not integers, or the table has no axis.

    Examples
    --------
    >>> import lodcore
    >>> table = [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]
    >>> lodcore.lookup_table(table, [[2, 0], [], [2]]).to_arrays()
    [array([[2. , 2.5],
           [0. , 0.5]]), array([], shape=(0, 2), dtype=float64), array([[2. , 2.5]])]
    """
    where = "lookup_table"
    rows = table_of(where, table)
    numbers, index, lod = numbers_given(where, ids)
    taken = take(where, rows, ids, numbers, index, padding_of(where, padding_idx, len(rows)), out)
    return taken if lod is None or not lod.num_levels else lod_tensor_body.new_tensor(taken, lod)


@lookup_table.define_infer
def _(table: Spec, ids: Spec, padding_idx: int | None) -> Spec:
    where = "lookup_table"
    table = table_of(where, table)
    shape = _shape_of_numbers(where, ids)
    padding_of(where, padding_idx, table.shape[0])
    return Spec((*shape, *table.shape[1:]), table.dtype)


def _shape_of_numbers(where: str, ids: Spec) -> tuple[int | None, ...]:
    """Check that a Spec describes integers; return its shape without an axis of length 1."""
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{where}: ids: has dtype {ids.dtype}; integers are needed")
    return ids.shape[:1] if ids.shape[1:] == (1,) else ids.shape


lookup_table.gradient_in_rows = "table"


@lookup_table.define_vjp
def _(d_out: Array, table: Any, ids: Any, padding_idx: int | None, needs: Any) -> tuple[Any, Any]:
    if not needs.table:
        return None, None
    rows = table_of("lookup_table", table)
    _, index, _ = numbers_given("lookup_table", ids)
    d_rows = d_out.reshape(len(index), *rows.shape[1:])
    skip = padding_of("lookup_table", padding_idx, len(rows))
    if skip >= 0:
        kept = index != skip
        index, d_rows = index[kept], d_rows[kept]
    return SparseTensor(index, d_rows, len(rows)), None


@operator(
    table=Dense,
    ids=NestedIndex,
    per_sample_weights=Rows,
    lod_rule="the levels of `ids` but the last",
)
def embedding_bag(
    table: Any,
    ids: Any,
    pool_type: str = "sum",
    out: Array | None = None,
    *,
    per_sample_weights: Any = None,
    saved: Saved = None,
) -> Any:
    """Pool the rows of a table that each sequence of numbers selects: `lookup_table` and `sequence_pool` in one.

    Parameters
    ----------
    table : array_like, shape (height, ...)
    ids : LoDTensor or nested lists of any integer dtype
        0 .. height - 1. A second axis of length 1 is ignored.
    pool_type : {"sum", "mean", "sqrt", "max", "min", "first", "last"}
        As in `sequence_pool`.
    out : ndarray, optional
        shape (number of sequences, ...): the array to write to.
    per_sample_weights : LoDTensor like ids, or array_like, shape (number of ids,), optional
        Real factors of the selected rows; only for "sum". The result then has a floating-point dtype.

    Returns
    -------
    LoDTensor, or ndarray if ids have one level
        One row per sequence of the last level, with the other levels; zeros for an empty one. The gradient of the table
        is a SparseTensor.

    Raises
    ------
    IndexError
        If a number is out of range; the message names its position and sequence.
    ValueError
        If pool_type is unknown, or is not "sum" although there are weights.
    DTypeError, ShapeError, LevelError, LoDError
        If the numbers are not integers or have no level, the table has no axis, or weights do not match the numbers.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.embedding_bag([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]], [[2, 1], [], [2]])
    array([[3. , 4. ],
           [0. , 0. ],
           [2. , 2.5]])
    >>> lodcore.embedding_bag([[0.0, 0.5], [1.0, 1.5]], [[1, 1], [], [0]], per_sample_weights=[1.0, 0.5, 2.0])
    array([[1.5 , 2.25],
           [0.  , 0.  ],
           [0.  , 1.  ]])
    """
    if per_sample_weights is None:
        return bag(table, ids, pool_type, out, saved)
    return weighted_bag(table, ids, pool_type, out, per_sample_weights)


@embedding_bag.define_infer
def _(table: Spec, ids: Spec, pool_type: str, per_sample_weights: Spec | None) -> Spec:
    where = "embedding_bag"
    table = table_of(where, table)
    shape = _shape_of_numbers(where, ids)
    _check_bags(where, ids.num_levels, shape)
    if per_sample_weights is not None:
        weights = (
            per_sample_weights
            if isinstance(per_sample_weights, Spec)
            else spec_of(dense_of(where, per_sample_weights, True))
        )
        count = None if weights.num_levels else ids.shape[0]
        dtype = _weighted_dtype(name_of(pool_type), table.dtype, weights.shape, weights.dtype, count)
        return Spec((None, *table.shape[1:]), dtype, ids.num_levels - 1)
    dtype = numbers_of(where, name_of(pool_type), table.dtype, "table")[1]
    return Spec((None, *table.shape[1:]), dtype, ids.num_levels - 1)


def _bags_given(table: Any, ids: Any) -> tuple[Array, Array, Any, LoD]:
    """Return the table, the numbers as given, the numbers as an index for kernels, and their LoD."""
    rows = table_of("embedding_bag", table)
    numbers, index, lod = numbers_given("embedding_bag", ids)
    if lod is None or not lod.num_levels or numbers.ndim != 1:
        _check_bags("embedding_bag", 0 if lod is None else lod.num_levels, numbers.shape)
    assert lod is not None
    return rows, numbers, index, lod


def _check_bags(where: str, num_levels: int, shape: tuple[int | None, ...]) -> None:
    """Check that numbers have a level and no axes of rows."""
    if not num_levels:
        raise LevelError(
            f"{where}: ids: has no level; each sequence is a bag, and nested lists or a LoDTensor are needed"
        )
    if len(shape) != 1:
        raise ShapeError(f"{where}: ids: has rows of shape {shape[1:]}; one number per row is needed")


embedding_bag.gradient_in_rows = "table"


@embedding_bag.define_vjp
def _(
    d_out: Array,
    table: Any,
    ids: LoDTensor,
    pool_type: str,
    places: Array | None,
    per_sample_weights: Any,
    needs: Any,
) -> tuple[Any, Any, Any]:
    if per_sample_weights is not None:
        return _weighted_gradients(d_out, table, ids, per_sample_weights, needs)
    if not needs.table:
        return None, None, None
    rows = table_of("embedding_bag", table)
    _, index, _ = numbers_given("embedding_bag", ids)
    check_size("embedding_bag", len(index), *rows.shape[1:], rows.itemsize)
    d_rows = np.empty((len(index), *rows.shape[1:]), rows.dtype)
    spread("embedding_bag", pool_type, d_out, lod_body.offsets_view(ids.lod, ids.num_levels - 1), places, d_rows)
    return SparseTensor(index, d_rows, len(rows)), None, None


# -- weighted bags -----------------------------------------------------------------------------------------------------


def _weighted_dtype(pool_type: str, table: Any, shape: tuple[int | None, ...], dtype: Any, count: int | None) -> Any:
    """Check weights and pool_type; return the dtype of the result."""
    where = "embedding_bag"
    numbers_of(where, pool_type, table, "table")
    if pool_type != "sum":
        raise ValueError(f'{where}: pool_type: is {pool_type!r}; weights go with "sum" only')
    if not shape or shape[1:] not in ((), (1,)):
        raise ShapeError(f"{where}: per_sample_weights: has shape {shape}; (n,) is needed, one for each of n numbers")
    if None not in (shape[0], count) and shape[0] != count:
        raise ShapeError(f"{where}: per_sample_weights: has {shape[0]} entries; ids has {count} numbers")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise DTypeError(f"{where}: per_sample_weights: has dtype {dtype}; real numbers of at most float64 are needed")
    if table.kind == "c":
        raise DTypeError(f"{where}: table: has dtype {table}; real numbers are needed with weights")
    found = np.result_type(table, dtype)
    return found if found.kind == "f" else np.dtype(np.float64)


def _weights_of(ids: Any, given: Any, count: int) -> Array:
    """Return one weight per number, as a vector."""
    where = "embedding_bag: per_sample_weights"
    if isinstance(given, (list, tuple)):
        given = Rows.of_list(where, given)
    if isinstance(given, LoDTensor) and given.num_levels:
        check_equal("embedding_bag", ids.lod, given.lod, "per_sample_weights", "ids")
    weights: Array = dense_of(where, given, levels=True)
    return weights.reshape(-1) if weights.shape == (count, 1) else weights


def weighted_bag(table: Any, ids: Any, pool_type: str, out: Array | None, given: Any) -> Any:
    """Compute the weighted sum of the rows that each bag selects."""
    where = "embedding_bag"
    rows, numbers, index, lod = _bags_given(table, ids)
    weights = _weights_of(ids, given, len(index))
    dtype = _weighted_dtype(name_of(pool_type), rows.dtype, weights.shape, weights.dtype, len(index))
    work = np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    offsets = lod_body.offsets_view(lod, lod.num_levels - 1)
    result = result_rows(where, rows, len(offsets) - 1, dtype, out, numbers, weights)
    target = cells_for(result, work)
    factors = np.array(weights, work)  # a private copy
    source = cells_of(rows, work)

    def weigh(sums: Array) -> int:
        return kernels.embedding.weigh_bags(source, index, offsets, factors, sums)

    bad = run_on_bags(weigh, target, out is None, index, len(rows))
    if bad >= 0:
        raise_outside(where, ids, numbers, index, bad, len(rows))
    convert_into(target, result)
    if lod.num_levels == 1:
        return result if out is None else out
    return with_levels(result, lod, lod.num_levels - 1)


def _weighted_gradients(d_out: Array, table: Any, ids: LoDTensor, given: Any, needs: Any) -> tuple[Any, Any, Any]:
    """Return the gradients of the table, as a SparseTensor, and of the weights."""
    where = "embedding_bag"
    rows = table_of(where, table)
    _, index, _ = numbers_given(where, ids)
    weights = _weights_of(ids, given, len(index))
    offsets = lod_body.offsets_view(ids.lod, ids.num_levels - 1)
    work = np.dtype(np.float64 if d_out.dtype.itemsize == 8 else np.float32)
    given_rows = cells_of(d_out, work)
    d_table = d_weights = None
    if needs.table:
        check_size(where, len(index), *rows.shape[1:], work.itemsize)
        d_rows = np.empty((len(index), given_rows.shape[1]), work)
        kernels.expand.repeat_rows(buffers.as_bytes(given_rows), offsets, buffers.as_bytes(d_rows))
        d_rows *= weights[:, None]
        d_table = SparseTensor(
            index, d_rows.astype(rows.dtype, copy=False).reshape(len(index), *rows.shape[1:]), len(rows)
        )
    if needs.per_sample_weights:
        d_weights = np.empty(len(index), work)
        unharmed(kernels.embedding.product_with_bags(cells_of(rows, work), index, offsets, given_rows, d_weights))
        shown = given.values if isinstance(given, LoDTensor) else np.asarray(given)
        d_weights = d_weights.astype(shown.dtype, copy=False).reshape(shown.shape)
    return d_table, None, d_weights


# -- numbers, and rows of a table --------------------------------------------------------------------------------------


def run_on_bags(kernel: Callable[[Array], int], target: Array, is_new: bool, index: Any, n_rows: int) -> int:
    """Run a kernel that ends where a number is out of range; return the first such position, or -1.

    An array of the caller is written only if all numbers are valid: they are checked before, or, where copying costs
    less than reading them twice, a result is made apart.
    """
    if is_new:
        return kernel(target)
    if target.nbytes > index.nbytes:
        bad = kernels.embedding.check_index(index, n_rows)
        return kernel(target) if bad < 0 else bad
    made = np.empty_like(target)
    bad = kernel(made)
    if bad < 0:
        target[...] = made
    return bad


def pool_bags(kernel: Any, table: Array, index: Any, offsets: Any, argument: int, target: Array) -> int:
    """Run a kernel on bags, in several threads if allowed; return the first bad position, or -1."""
    if get_num_threads() == 1 or len(index) * table[:1].nbytes < threads.WIDE:
        found: int = kernel(table, index, offsets, argument, target)
        return found
    bad = kernels.embedding.check_index(index, len(table))  # so that no thread writes while another finds it
    if bad < 0:
        over_sequences(kernel, ".ro.s", table, index, offsets, argument, target, cost=threads.WIDE)
    return bad


def take_rows(rows: Array, index: Any, skip: int, target: Array) -> int:
    """Gather rows, in several threads if allowed; return the first bad position, or -1."""
    if get_num_threads() == 1 or target.nbytes < threads.WIDE:
        return kernels.embedding.take_rows(rows, index, skip, target)
    bad = kernels.embedding.check_index(index, len(rows))  # so that no thread writes while another finds it
    if bad < 0:

        def take_some(start: int, stop: int) -> None:
            wrong = kernels.embedding.take_rows(rows, index[start:stop], skip, target[start:stop])
            if wrong >= 0:  # another thread has written to the numbers
                raise IndexError(f"lodcore: ids: changed at position {start + wrong} while they were read")

        in_parts(take_some, parts(np.arange(len(index) + 1), target.nbytes))
    return bad


def take(where: str, rows: Array, ids: Any, numbers: Array, index: Any, skip: int, out: Array | None) -> Array:
    """Gather rows by their numbers; the shape is that of the numbers followed by that of a row."""
    if out is not None:
        flat = check_out(where, out, (*numbers.shape, *rows.shape[1:]), rows.dtype, rows, numbers)
        flat = flat if numbers.ndim == 1 else flat.reshape(len(index), *rows.shape[1:])
    else:
        flat = buffers.new_rows(where, rows, len(index))
    bad = kernels.embedding.check_index(index, len(rows)) if out is not None else -1  # before `out` is written
    if bad < 0:
        bad = take_rows(buffers.as_bytes(rows), index, skip, buffers.as_bytes(flat))
    if bad >= 0:
        raise_outside(where, ids, numbers, index, bad, len(rows))
    if out is not None:
        return out
    return flat if numbers.ndim == 1 else flat.reshape((*numbers.shape, *rows.shape[1:]))


def bag(table: Any, ids: Any, pool_type: str, out: Array | None, saved: Saved) -> Any:
    """Pool bags; save the positions of the extremes."""
    where = "embedding_bag"
    rows, numbers, index, lod = _bags_given(table, ids)
    work, dtype = numbers_of(where, name_of(pool_type), rows.dtype, "table")
    if work is None or rows.dtype.char not in "fd":  # gathered first, and then pooled
        if out is not None:
            check_apart(where, out, rows, numbers)
        taken = take(where, rows, ids, numbers, index, -1, None)
        return pool(where, lod_tensor_body.new_tensor(taken, lod), pool_type, ZERO, -1, out, saved)
    offsets = lod_body.offsets_view(lod, lod.num_levels - 1)
    result = result_rows(where, rows, len(offsets) - 1, dtype, out, numbers)
    source, target = cells_of(rows, work), cells_for(result, work)
    kernel, argument = (
        (kernels.embedding.sum_bags, DIVIDE[pool_type])
        if pool_type in DIVIDE
        else (kernels.embedding.best_bags, pool_type == "min")
    )

    if out is None:  # without another function, which takes a tenth of a small call
        bad = pool_bags(kernel, source, index, offsets, argument, target)
    else:
        bad = run_on_bags(partial(pool_bags, kernel, source, index, offsets, argument), target, False, index, len(rows))
    if pool_type not in DIVIDE and saved is not None and bad < 0:
        places = np.empty(target.shape, np.int64)
        bad = kernels.embedding.find_in_bags(source, index, offsets, target, places)
        saved["places"] = places
    if bad >= 0:
        raise_outside(where, ids, numbers, index, bad, len(rows))
    if lod.num_levels == 1:
        return result if out is None else out
    return with_levels(result, lod, lod.num_levels - 1)


def table_of(where: str, table: Any) -> Any:
    """Return a table as a contiguous array, or its Spec."""
    if buffers.is_plain(table):
        return table
    if isinstance(table, LoDTensor) or (type(table) is Spec and table.kind is LoDTensor):
        raise DTypeError(f"{where}: table: is a LoDTensor; an array is needed: its values, or use gather_sequences")
    if type(table) is Spec:
        if not table.shape:
            raise ShapeError(f"{where}: table: has no axis; its first axis counts the rows")
        return table
    return as_values(f"{where}: table", table)


def numbers_given(where: str, ids: Any) -> tuple[Array, npt.NDArray[np.int64], LoD | None]:
    """Return numbers as given (without an axis of length 1), as a vector of int64, and their LoD."""
    if type(ids) is np.ndarray:
        numbers, lod = ids, None
    elif isinstance(ids, LoDTensor):
        numbers, lod = ids.values, ids.lod
    else:
        numbers, lod = as_array(f"{where}: ids", given_of(f"{where}: ids", ids)), None
    if numbers.dtype == INT64 and numbers.ndim == 1:
        return numbers, numbers if lod is not None else buffers.as_int64(numbers, where), lod
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.dtype.kind not in "iu":
        raise DTypeError(f"{where}: ids: has dtype {numbers.dtype}; integers are needed")
    flat = numbers if numbers.ndim == 1 else numbers.reshape(-1)
    return numbers, buffers.as_int64(flat, f"{where}: ids", IndexError), lod


def padding_of(where: str, padding_idx: Any, height: int | None) -> int:
    """Return the number of the row that is replaced by zeros, or -1 if there is none."""
    if padding_idx is None:
        return -1
    number = integer(f"{where}: padding_idx", padding_idx, bools=True)
    if height is None:
        return number
    if not -height <= number < height:
        raise IndexError(f"{where}: padding_idx: is {number}; the table has {height} rows")
    return number % height


def raise_outside(where: str, ids: Any, numbers: Array, index: Any, bad: int, height: int) -> None:
    """Raise for a number that is not a row of the table."""
    at = tuple(map(int, np.unravel_index(bad, numbers.shape)))
    place = f" at position {at[0] if len(at) == 1 else at}" if at else ""
    if isinstance(ids, LoDTensor) and ids.lod.num_levels:
        offsets = ids.lod.offsets(-1)
        sequence = int(np.searchsorted(offsets, at[0], "right")) - 1
        place += f", place {at[0] - offsets[sequence]} of sequence {sequence}"
    raise IndexError(f"{where}: ids: is {index[bad]}{place}; the table has {height} rows")
