"""Operators that select, slice and join whole sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_apart, unharmed
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.operators.arguments import level_of, list_of
from lodcore.operators.copies import (
    add_back,
    as_rows_or_nested,
    put_together,
    row_ranges,
    spec_rows,
)
from lodcore.operators.lod_rules import first_levels, levels_of, outer
from lodcore.operators.operands import Array
from lodcore.operators.registry import Saved, operator
from lodcore.operators.roles import Batches, Index, Nested, NestedIndex, Rows, as_batches
from lodcore.tensors import fast_paths, lod_body, lod_tensor_body
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.joining import check_coarser, concat_lods
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import join_rows, new_joined
from lodcore.tensors.padding import hold
from lodcore.tensors.tensor import Spec

__all__ = ["concat_batches", "gather_nested", "gather_sequences", "sequence_concat", "sequence_slice"]


@operator(x=Nested, index=Index, lod_rule="what is taken, without the levels of `x` before `level`")
def gather_sequences(x: Any, index: Any, level: int = 0, out: Array | None = None, *, saved: Saved = None) -> LoDTensor:
    """Select sequences, with their contents, by their numbers.

    Parameters
    ----------
    x : LoDTensor or nested lists
        `lookup_table` takes the rows of an array.
    index : array_like of integers, shape (n,)
        Numbers of sequences of `level`, counted over the whole batch. They may repeat; negative ones count from the
        end.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        n sequences, without the levels before `level`.

    Raises
    ------
    IndexError
        If an index is out of range; the message names it and its position.
    DTypeError, ShapeError, LevelError
        If the index is not a vector of integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_sequences([[1, 2], [], [3]], [2, 0, 0])
    LoDTensor(3 sequences of lengths 1..2, int64: [[3], [1, 2], [1, 2]])
    """
    if out is not None:
        check_apart("gather_sequences", out, index)
    if saved is not None:
        index = saved["places"] = buffers.as_int64(index, "gather_sequences: index", IndexError).copy()
    return lod_tensor_body.gather(x, "gather_sequences", level, index, out)


@gather_sequences.define_infer
def _(x: Spec, index: Any, level: int) -> Spec:
    return Spec(spec_rows(x), x.dtype, x.num_levels - level_of("gather_sequences", x.num_levels, level))


@gather_sequences.define_vjp
def _(d: Array, x: LoDTensor, level: int, places: Array, context: Any) -> tuple[Array, None]:
    return add_back(d, row_ranges(x.lod, lod_body.normalize_level(x.lod, level), places), context.new("x")), None


@operator(xs=Batches, lod_rule="the sequences of all batches")
def concat_batches(xs: Any, out: Array | None = None) -> LoDTensor:
    """Concatenate batches.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one; all must have equally many levels, equal dtype and equal row shape. Lists without values take
        these from the first of the others.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor

    Raises
    ------
    LoDError, DTypeError, ShapeError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.concat_batches([lodcore.array([[1], []]), lodcore.array([[2, 3]])])
    LoDTensor(3 sequences of lengths 0..2, int64: [[1], [], [2, 3]])
    """
    where = "concat_batches"
    batches = _batches(where, xs)
    lod = concat_lods(where, [x.lod for x in batches])
    values = _checked_values(where, batches)
    rows = join_rows(where, values, lod.num_rows, out)
    return lod_tensor_body.owned_tensor(rows, lod)


@concat_batches.define_infer
def _(xs: list[Spec]) -> Spec:
    _check_specs("concat_batches", xs)
    return xs[0]._replace(shape=spec_rows(xs[0]))


@concat_batches.define_vjp
def _(d: Array, xs: list[LoDTensor]) -> list[Array]:
    return np.split(d, np.cumsum([x.lod.num_rows for x in xs])[:-1])


def _batches(where: str, xs: Any) -> list[LoDTensor]:
    """Return a list of batches, converted from lists."""
    if not list_of(f"{where}: xs", xs):
        raise LoDError(f"{where}: xs: is empty; at least one batch is needed")
    given: list[Any] = list(xs)  # copied once, since it may change meanwhile
    for x in given:
        if type(x) is not LoDTensor:
            break
    else:
        return given
    made = as_batches(f"{where}: xs", given)
    return [as_nested(f"{where}: xs[{j}]", x) for j, x in enumerate(made)]


def _checked_values(where: str, batches: list[LoDTensor]) -> list[Array]:
    """Return the values of batches, whose dtypes and row shapes must be equal."""
    values = [x.values for x in batches]
    bad = kernels.gather.count_rows(values, buffers.new_int64(len(values) + 1))
    if bad >= 0:
        raise _unlike(where, bad, values[bad], values[0])
    return values


def _unlike(where: str, j: int, odd: Any, first: Any) -> DTypeError | ShapeError:
    """Return the error for a batch whose dtype or row shape differs from that of the first."""
    if odd.dtype != first.dtype:
        return DTypeError(f"{where}: xs[{j}]: has dtype {odd.dtype}; xs[0] has {first.dtype}")
    return ShapeError(f"{where}: xs[{j}]: has rows of shape {odd.shape[1:]}; xs[0] has {first.shape[1:]}")


def _check_specs(where: str, xs: list[Spec]) -> None:
    """Raise if Specs show that batches with equally many levels have different dtypes or row shapes."""
    if any(x.kind is object or x.num_levels != xs[0].num_levels or None in x.shape[1:] for x in xs):
        return
    for j, x in enumerate(xs):
        if (x.dtype, x.shape[1:]) != (xs[0].dtype, xs[0].shape[1:]):
            raise _unlike(where, j, x, xs[0])


@operator(xs=Batches, lod_rule=outer("level", "xs"))
def sequence_concat(xs: Any, level: int = -1, out: Array | None = None) -> LoDTensor:
    """Join the sequences number s of all batches to one sequence number s.

    Parameters
    ----------
    xs : list of LoDTensor or nested lists
        At least one; all must have equally many levels, equal levels before `level`, equally many sequences at `level`,
        equal dtype and equal row shape. Lists without values take these from the first of the others.
    level : int
        The level of the sequences that are joined; their elements are kept whole.
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has as many levels as each batch.

    Raises
    ------
    LoDError, DTypeError, ShapeError, LevelError
        If a batch does not fit; the message names it.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_concat([[[1, 2], []], [[3], [4, 5]]])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2, 3], [4, 5]])
    """
    where = "sequence_concat"
    batches: list[LoDTensor] = []
    alike = fast_paths.uniform_parts(xs) if type(xs) is list else None
    if alike is None:
        batches = _batches(where, xs)
    values, lods = alike or ([], [x.lod for x in batches])
    first = lods[0]
    k = lod_body.normalize_level(first, level, where)
    total = check_coarser(where, lods, "xs[{}]".format, k)
    if batches:
        values = _checked_values(where, batches)
    rows = new_joined(where, values, total, out)
    count = first.num_sequences(k)
    levels = put_together(where, lods, k, count, values, rows, kernels.expand.join_sequences)
    if k:
        levels = [*(first.offsets(j) for j in range(k)), *levels]
    return lod_tensor_body.owned_tensor(rows, lod_body.make_lod(levels, total))


@sequence_concat.define_infer
def _(xs: list[Spec], level: int) -> Spec:
    _check_specs("sequence_concat", xs)
    return xs[0]._replace(shape=spec_rows(xs[0]))


@sequence_concat.define_vjp
def _(d: Array, xs: list[LoDTensor], level: int) -> list[Array]:
    found = [np.empty_like(x.values) for x in xs]
    levels = [x.lod.row_offsets(level) for x in xs]
    kernels.expand.split_sequences(buffers.as_bytes(d), levels, [buffers.as_bytes(one) for one in found])
    return found


@operator(x=Nested, offset=Index, length=Index, lod_rule=outer("level"))
def sequence_slice(
    x: Any, offset: Any, length: Any, level: int = -1, out: Array | None = None, *, saved: Saved = None
) -> LoDTensor:
    """Slice each sequence.

    Parameters
    ----------
    x : LoDTensor or nested lists
    offset, length : array_like of integers, shape (n,) or (n, 1), or a scalar for all
        Start and length of the slice of each of the n sequences of `level`, in elements of that level: 0 <= offset,
        0 <= length, offset + length <= the length of the sequence.
    level : int
    out : ndarray, optional
        shape (number of rows, ...): the array to write the rows to.

    Returns
    -------
    LoDTensor
        Has as many levels as x.

    Raises
    ------
    IndexError
        If a slice exceeds its sequence; the message names the first such sequence.
    ShapeError, DTypeError, LevelError
        If offset or length are not vectors of n integers, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.sequence_slice([[1, 2, 3], [4, 5]], [1, 0], [2, 1])
    LoDTensor(2 sequences of lengths 1..2, int64: [[2, 3], [4]])
    """
    where = "sequence_slice"
    lod = x.lod
    k = lod_body.normalize_level(lod, level, where)
    offsets = lod_body.offsets_view(lod, k)
    count = len(offsets) - 1
    starts = buffers.for_each(offset, "sequence_slice: offset", count)
    sizes = buffers.for_each(length, "sequence_slice: length", count)
    ranges = buffers.new_int64(count, 2)
    cut = buffers.new_offsets(count + 1)
    if out is not None:
        check_apart(where, out, offset, length)
    bad = kernels.gather.slice_ranges(offsets, starts, sizes, ranges, cut)
    if bad >= 0:
        raise IndexError(
            f"{where}: offset, length: are {starts[bad]}, {sizes[bad]} for sequence {bad}; "
            f"it has {offsets[bad + 1] - offsets[bad]} elements"
        )
    levels = [*(lod.offsets(j) for j in range(k)), cut] if k else [cut]
    sliced: LoDTensor = lod_tensor_body.take_ranges(x, where, k + 1, ranges, cut.item(count), out, levels)
    if saved is not None:
        saved["ranges"] = ranges
    return sliced


@sequence_slice.define_infer
def _(x: Spec, offset: Any, length: Any, level: int) -> Spec:
    return x._replace(shape=spec_rows(x))


@sequence_slice.define_vjp
def _(d: Array, ranges: Array, context: Any) -> tuple[Array, None, None]:
    return add_back(d, ranges, context.new("x")), None, None


@operator(
    x=Rows,
    index=NestedIndex,
    lod_rule="that of `index`, and below it those of `x`",
)
def gather_nested(x: Any, index: Any, default: Any = None, *, saved: Saved = None) -> Any:
    """Gather rows, or outermost sequences, by their numbers in the batch; the result has the structure of the numbers.

    Parameters
    ----------
    x : LoDTensor, nested lists, ndarray or flat list
        Its outermost sequences are gathered, or its rows if it has no level.
    index : LoDTensor or array_like of integers, nested lists
        One number per row, in any order; numbers may repeat.
    default : scalar or array_like of one row's shape, or [], optional
        The result for numbers that are negative or out of range; for sequences only an empty one, []. By default,
        negative numbers count from the end.

    Returns
    -------
    LoDTensor, or ndarray if neither has levels
        Has the levels of index, and below them those of x.

    Raises
    ------
    IndexError
        If a number is out of range and there is no default; the message names its position.
    DTypeError, ShapeError
        If the index does not hold integers, or x cannot hold the default.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.gather_nested([10, 20, 30], [[2, 0], [], [-1]]).tolist()
    [[30, 10], [], [30]]
    >>> lodcore.gather_nested([10, 20, 30], [[2, 5], [-1]], default=0).tolist()
    [[30, 0], [0]]
    >>> lodcore.gather_nested([[1, 2], [3]], [1, 7, 0], default=[]).tolist()
    [[3], [], [1, 2]]
    """
    where = "gather_nested"
    if saved is None and default is None and type(x) is np.ndarray:
        at_once = _taken_at_once(x, index)
        if at_once is not None:
            return at_once
    x = as_rows_or_nested(f"{where}: x", x)
    given = index.values if isinstance(index, LoDTensor) else index
    lod = index.lod if isinstance(index, LoDTensor) and index.num_levels else None
    places = buffers.as_int64(given, f"{where}: index", IndexError).copy()
    count = len(x)
    if kernels.embedding.check_index(places, count) < 0:
        pass  # the usual case
    elif default is None:
        places[places < 0] += count
        bad = (places < 0) | (places >= count)
        if bad.any():
            at = int(np.argmax(bad))
            number = buffers.as_int64(given, f"{where}: index", IndexError)[at]
            raise IndexError(f"{where}: index: is {number} at position {at}; there are {count} {_things(x)}")
    else:
        places[(places < 0) | (places >= count)] = -1
    if saved is not None:
        saved["places"] = places
    if isinstance(x, LoDTensor):
        if default is not None and not _is_empty(default):
            raise DTypeError(f"{where}: default: is {default!r}; x has levels, so it can only be an empty sequence, []")
        upper = [] if lod is None else [lod.offsets(j) for j in range(lod.num_levels)]
        if lod is None and len(places) == count and bool((places == np.arange(count)).all()):
            return x  # all sequences, in their order
        wide = _with_empty(x)
        taken = lod_tensor_body.gather(wide, where, 0, np.where(places < 0, count, places), None, upper)
        return taken
    return _rows_taken(where, x, places, default, lod)


def _taken_at_once(x: Array, index: Any) -> Any:
    """Gather rows by numbers; return None if a number is negative or too large."""
    given = index.values if isinstance(index, LoDTensor) else index
    places = buffers.as_int64(given, "gather_nested: index", IndexError)
    if not (x.flags.c_contiguous and x.ndim) or x.dtype.hasobject:
        return None
    taken = buffers.new_rows("gather_nested", x, len(places))
    if kernels.embedding.take_rows(buffers.as_bytes(x), places, -1, buffers.as_bytes(taken)) >= 0:
        return None
    return lod_tensor_body.new_tensor(taken, index.lod) if isinstance(index, LoDTensor) and index.num_levels else taken


def _things(x: Any) -> str:
    return "sequences" if isinstance(x, LoDTensor) else "rows"


def _is_empty(default: Any) -> bool:
    return isinstance(default, (list, tuple, np.ndarray)) and len(default) == 0


def _with_empty(x: LoDTensor) -> LoDTensor:
    """Append an empty sequence; the values are shared."""
    levels = [x.lod.offsets(j) for j in range(x.lod.num_levels)]
    levels[0] = np.append(levels[0], levels[0][-1])
    return lod_tensor_body.new_tensor(x.values, lod_body.make_lod(levels, x.lod.num_rows))


def _rows_taken(where: str, x: Array, places: Array, default: Any, lod: LoD | None) -> Any:
    """Gather rows; the number -1 selects the default."""
    taken = buffers.new_rows(where, x, len(places))
    missing = places < 0
    some = default is not None and bool(missing.any())
    if default is not None:
        row = buffers.new_rows(where, x, 1)
        hold(f"{where}: default", default, row)
    if some:
        taken[~missing] = x[places[~missing]]
        taken[missing] = row[0]
    else:
        unharmed(kernels.embedding.take_rows(buffers.as_bytes(x), places, -1, buffers.as_bytes(taken)))
    return taken if lod is None else lod_tensor_body.new_tensor(taken, lod)


@gather_nested.define_infer
def _(x: Spec, index: Any, default: Any) -> Spec:
    if index.dtype.kind not in "iu" and index.shape != (0,):
        raise DTypeError(f"gather_nested: index: has dtype {index.dtype}; integers are needed")
    if x.num_levels:
        return Spec(spec_rows(x), x.dtype, first_levels(index, levels_of(index), x.num_levels))
    return Spec(spec_rows(x), x.dtype, index if levels_of(index) else 0)


@gather_nested.define_vjp
def _(d: Array, x: Any, places: Array, context: Any) -> tuple[Array, None]:
    if isinstance(x, LoDTensor) and x.num_levels:
        wide = _with_empty(x)
        ranges = row_ranges(wide.lod, 0, np.where(places < 0, len(x), places))
        return add_back(d, ranges, context.new("x")), None
    known = places >= 0
    if not known.all():
        d, places = d[known], places[known]
    return add_back(np.ascontiguousarray(d), np.stack([places, places + 1], axis=1), context.new("x")), None
