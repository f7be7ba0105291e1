"""Rows and sequences by key: grouped, joined, exploded, and imploded."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.dispatch import Symbol
from lodcore.base.dtypes import common_dtype, in_unit, native_dtype
from lodcore.base.naming import named, with_arguments
from lodcore.errors import DTypeError, ShapeError
from lodcore.operators.arguments import choice_of, dense_of
from lodcore.operators.copies import nested_operand
from lodcore.operators.lod_rules import levels_of, no_lod
from lodcore.operators.operands import Array, nothing_of
from lodcore.operators.registry import operator
from lodcore.operators.roles import Dense
from lodcore.ops.elementwise.convert import rows
from lodcore.ops.move.checked import check, one_per_key
from lodcore.ops.move.expand import sequence_expand_as
from lodcore.ops.move.gather import gather_nested
from lodcore.ops.move.structure import lod_reset
from lodcore.ops.order.keys import check_keys, is_several, keys_of, listed, numbered, records_of_keys, sorting_of
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["explode", "group_by", "group_rows", "implode", "join_by_key", "match_keys"]

ORDERS = ("sorted", "first", "runs")
WAYS = ("inner", "left", "right", "outer")

# -- equal keys --------------------------------------------------------------------------------------------------------


def _is_narrow(keys: Array) -> bool:
    """Return whether keys are integers in a range so small that counting sort is worth it."""
    if keys.dtype.kind not in "iub" or not len(keys):
        return False
    return int(keys.max()) - int(keys.min()) < 2 * len(keys)


def _counted(keys: Array) -> tuple[Array, LoDTensor]:
    """Group rows by integers in a small range, by counting sort."""
    least = keys.min()
    ids = (keys - least).astype(np.int64) if keys.dtype == np.uint64 else keys.astype(np.int64) - int(least)
    count = int(ids.max()) + 1
    offsets, places = listed(ids, count)
    there = np.flatnonzero(offsets[1:] > offsets[:-1])
    bounds = np.append(offsets[there], len(keys))
    groups: LoDTensor = lod_tensor_body.new_tensor(places, lod_body.make_lod([bounds], len(keys)))
    return keys[places[bounds[:-1]]], groups


@operator(
    key=Dense,
    lod_rule="of the keys none, of the groups one level",
    results=2,
    differentiable=False,
)
def group_rows(key: Any, order: str = "sorted") -> tuple[Array, LoDTensor]:
    """Group rows by a key column.

    Parameters
    ----------
    key : array_like, shape (n,)
        Integers, floats, dates or text, or records of these. nan equals nan, and 0.0 equals -0.0.
    order : {"sorted", "first", "runs"}
        The order of the groups: by key, with nan last; by first row; or one group per run of equal keys, so that a key
        may occur several times.

    Returns
    -------
    keys : ndarray, shape (number of groups,)
    groups : LoDTensor
        int64: the numbers of the rows of each group, in increasing order.

    Raises
    ------
    ShapeError, DTypeError, ValueError
        If the key is not a vector of keys, or the order is unknown.

    Examples
    --------
    >>> import lodcore
    >>> keys, groups = lodcore.group_rows([3, 1, 3, 2])
    >>> keys, groups.tolist()
    (array([1, 2, 3]), [[1], [3], [0, 2]])
    """
    where = "group_rows"
    choice_of(f"{where}: order", order, ORDERS)
    keys = buffers.private(keys_of(f"{where}: key", key))
    n_rows = len(keys)
    if order == "runs":
        found = buffers.new_int64(n_rows)
        firsts = found[: kernels.group.find_runs(buffers.as_bytes(keys), found)]
        offsets, places = np.append(firsts, n_rows), np.arange(n_rows)
    elif order == "sorted" and _is_narrow(keys):
        return _counted(keys)
    else:
        ids, firsts = numbered(keys)
        if order == "sorted":
            sorting = sorting_of(keys[firsts])
            ranks = np.empty_like(sorting)
            ranks[sorting] = np.arange(len(sorting))
            ids, firsts = ranks.take(ids), firsts[sorting]
        offsets, places = listed(ids, len(firsts))
    groups: LoDTensor = lod_tensor_body.new_tensor(places, lod_body.make_lod([offsets], n_rows))
    return keys[firsts], groups


@group_rows.define_infer
def _(key: Spec, order: str) -> tuple[Spec, Spec]:
    choice_of("group_rows: order", order, ORDERS)
    dense_of("group_rows: key", key)
    check_keys("group_rows: key", key.shape, key.dtype)
    return Spec((None,), native_dtype(key.dtype)), Spec((None,), np.dtype(np.int64), 1)


@named
def group_by(key: Any, *columns: Any, order: str = "sorted") -> tuple[Any, ...]:
    """Group rows by one or several key columns into one sequence per key.

    Parameters
    ----------
    key : array_like, shape (n,), or tuple or list of these
        Integers, floats, dates or text. Rows are in one group if all of several keys are equal; the groups are sorted
        by the first key, then by the next.
    *columns : array_like of shape (n, ...), or LoDTensor of n sequences
        The columns to group.
    order : {"sorted", "first", "runs"}
        The order of the groups: by key, with nan last; by first row; or one group per run of equal keys, so that a key
        may occur several times.

    Returns
    -------
    keys : ndarray, shape (number of groups,), or tuple of these
    *grouped : LoDTensor
        One per column; the rows of a group keep their order. Gradients are passed to the column.

    Raises
    ------
    ShapeError, DTypeError, ValueError
        If a key is not a vector of keys, a column or key has another length, or the order is unknown.

    Examples
    --------
    >>> import lodcore
    >>> keys, prices = lodcore.group_by(["pear", "fig", "pear"], [1.5, 2.0, 2.5])
    >>> keys.tolist(), prices.tolist()
    (['fig', 'pear'], [[2.0], [1.5, 2.5]])
    >>> (names, days), prices = lodcore.group_by((["pear", "fig", "pear"], [2, 1, 1]), [1.5, 2.0, 2.5])
    >>> names.tolist(), days.tolist(), prices.tolist()
    (['fig', 'pear', 'pear'], [1, 1, 2], [[2.0], [2.5], [1.5]])
    """
    several = is_several(key)
    if several:
        key = _joint_key(key)
    keys, groups = group_rows(key, order)
    if several:
        keys = tuple(np.ascontiguousarray(keys[name]) for name in keys.dtype.names)
    given = [_column("group_by", f"column {j}", key, column) for j, column in enumerate(columns)]
    in_runs = order == "runs" and not any(column.num_levels for column in given if not isinstance(column, np.ndarray))
    return keys, *((lod_reset if in_runs else gather_nested)(column, groups) for column in given)


def _joint_key(given: Any) -> Array:
    """Return several keys as one of records."""
    keys = [keys_of(f"group_by: key[{j}]", one) for j, one in enumerate(given)]
    for j, one in enumerate(keys):
        if len(one) != len(keys[0]):
            raise ShapeError(f"group_by: key[{j}]: has {len(one)} entries; key[0] has {len(keys[0])}")
    return records_of_keys(keys, [f"key_{j}" for j in range(len(keys))])


def _column(where: str, name: str, key: Any, column: Any) -> Any:
    """Return a column with one row, or sequence, per key; checked at run time if both are known only then."""
    if not isinstance(column, (Symbol, LoDTensor)):
        convert = nested_operand if levels_of_given(column) else dense_of
        column = convert(f"{where}: {name}", column)
    if not column.ndim:
        raise ShapeError(f"{where}: {name}: has no axis; one row per key is needed")
    return check(one_per_key, column, key, where=where, name=name)


@named
def explode(x: Any, *columns: Any, level: int = -1) -> tuple[Any, ...]:
    """Concatenate the rows of all sequences, and repeat columns with one entry per sequence for these rows.

    Parameters
    ----------
    x : LoDTensor or nested lists
    *columns : array_like of shape (n, ...)
        One row per sequence of `level`.
    level : int

    Returns
    -------
    rows : ndarray
        The rows of x; an empty sequence has none.
    *repeated : ndarray
        One per column, with one entry per row. `implode` is the inverse, except for empty sequences.

    Raises
    ------
    LoDError, LevelError
        If a column does not have one row per sequence, or the level does not exist.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.explode([[1, 2], [], [3]], ["a", "b", "c"])
    (array([1, 2, 3]), array(['a', 'a', 'c'], dtype='<U1'))
    """
    x = nested_operand("explode: x", x)
    repeated = []
    for j, column in enumerate(columns):
        names = {"x": f"column {j}", "y": "x"}
        repeated.append(rows(with_arguments(names, sequence_expand_as, column, x, level)))
    return rows(x), *repeated


@named
def implode(key: Any, *columns: Any) -> tuple[Any, ...]:
    """Return one sequence per run of rows with equal keys: the inverse of `explode`.

    Parameters
    ----------
    key : array_like, shape (n,)
    *columns : array_like of shape (n, ...)

    Returns
    -------
    keys : ndarray, shape (number of runs,)
    *sequences : LoDTensor
        One per column.

    Examples
    --------
    >>> import lodcore
    >>> keys, x = lodcore.implode(["a", "a", "c"], [1, 2, 3])
    >>> keys.tolist(), x.tolist()
    (['a', 'c'], [[1, 2], [3]])
    """
    return group_by(key, *columns, order="runs")


# -- joins -------------------------------------------------------------------------------------------------------------


@operator(x_keys=Dense, y_keys=Dense, lod_rule=no_lod, results=3, differentiable=False)
def match_keys(x_keys: Any, y_keys: Any, how: str = "inner") -> tuple[Array, Array, Array]:
    """Return the pairs of equal keys of two columns.

    Parameters
    ----------
    x_keys, y_keys : array_like, shape (n,) and (m,)
        NumPy must promote their dtypes to one of the same kind; integers and floats are compared as floats. nan
        equals nan.
    how : {"inner", "left", "right", "outer"}
        Which keys without a partner are kept: none, those of x, those of y, or those of both.

    Returns
    -------
    keys : ndarray, shape (number of pairs,)
    x_places, y_places : int64, shape (number of pairs,)
        The positions of the key, -1 where it is missing. They are sorted by position in x, then in y, followed by keys
        of y alone; with "right" by position in y, then in x.

    Raises
    ------
    ShapeError, DTypeError, ValueError
        If an argument is not a vector of keys, there is no common dtype, or `how` is unknown.

    Examples
    --------
    >>> import lodcore
    >>> keys, x_places, y_places = lodcore.match_keys([7, 8, 9], [9, 7, 7], how="left")
    >>> keys.tolist(), x_places.tolist(), y_places.tolist()
    ([7, 7, 8, 9], [0, 0, 1, 2], [1, 2, -1, 0])
    """
    where = "match_keys"
    choice_of(f"{where}: how", how, WAYS)
    x_keys, y_keys = keys_of(f"{where}: x_keys", x_keys), keys_of(f"{where}: y_keys", y_keys)
    dtype = _common_dtype(x_keys.dtype, y_keys.dtype)
    if how == "right":
        keys, y_places, x_places = _matched(y_keys, x_keys, "left", dtype)
        return keys, x_places, y_places
    return _matched(x_keys, y_keys, how, dtype)


def _matched(x_keys: Array, y_keys: Array, how: str, dtype: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """Pair equal keys, in the order of x."""
    n = len(x_keys)
    both = np.concatenate([in_unit("match_keys: keys", keys, dtype) for keys in (x_keys, y_keys)])
    ids, firsts = numbered(both)
    offsets, order = listed(ids[n:], len(firsts))
    counts = np.diff(offsets)[ids[:n]]
    taken = np.maximum(counts, 1) if how != "inner" else counts
    x_places = np.repeat(np.arange(n), taken)
    bounds = np.cumsum(taken) - taken
    within = np.arange(len(x_places)) - bounds[x_places]
    alone = (counts == 0)[x_places]
    places = (offsets[:-1][ids[:n]])[x_places] + within
    y_places = np.full(len(x_places), -1)
    y_places[~alone] = order[places[~alone]]
    if how == "outer":
        known = np.zeros(len(firsts), bool)
        known[ids[:n]] = True
        left = np.flatnonzero(~known[ids[n:]])
        x_places = np.concatenate([x_places, np.full(len(left), -1)])
        y_places = np.concatenate([y_places, left])
    return both[np.where(x_places >= 0, x_places, n + y_places)], x_places, y_places


def _common_dtype(x: np.dtype[Any], y: np.dtype[Any]) -> np.dtype[Any]:
    """Return the common dtype of two dtypes of keys."""
    numbers = "biuf"
    alike = x == y if x.names else x.kind == y.kind or (x.kind in numbers and y.kind in numbers)
    if alike:
        common = common_dtype("match_keys", {"x_keys": x, "y_keys": y})
        if common.kind != "f" or "f" in (x.kind, y.kind):  # only float64 holds both uint64 and signed integers
            return common
    raise DTypeError(f"match_keys: y_keys: has dtype {y}; x_keys has {x}, and they have no exact common one")


@match_keys.define_infer
def _(x_keys: Spec, y_keys: Spec, how: str) -> tuple[Spec, Spec, Spec]:
    choice_of("match_keys: how", how, WAYS)
    for name, keys in (("x_keys", x_keys), ("y_keys", y_keys)):
        dense_of(f"match_keys: {name}", keys)
        check_keys(f"match_keys: {name}", keys.shape, keys.dtype)
    dtypes = [native_dtype(keys.dtype) for keys in (x_keys, y_keys)]
    place = Spec((None,), np.dtype(np.int64))
    return Spec((None,), _common_dtype(dtypes[0], dtypes[1])), place, place


@named
def join_by_key(x: Any, y: Any, x_keys: Any, y_keys: Any, how: str = "inner", default: Any = 0) -> tuple[Any, Any, Any]:
    """Join two batches by a key of each sequence, as tables are joined.

    Parameters
    ----------
    x, y : LoDTensor, nested lists or ndarray
        Sequences; an ndarray has one row per key.
    x_keys, y_keys : array_like, shape (len(x),) and (len(y),)
        Repeated keys are paired with all equal keys of the other batch.
    how : {"inner", "left", "right", "outer"}
        Which sequences without a partner are kept: none, those of x, those of y, or those of both.
    default : scalar
        The row of an ndarray where there is no partner; 0 means NaT for dates and durations, and empty text. A missing
        sequence is empty.

    Returns
    -------
    keys : ndarray, shape (number of pairs,)
    x, y : LoDTensor or ndarray
        One sequence, or row, per key. Gradients are passed through.

    Raises
    ------
    ShapeError, DTypeError, ValueError
        As in `match_keys`.

    Examples
    --------
    >>> import lodcore
    >>> keys, x, y = lodcore.join_by_key([[1, 2], [3]], [[10], [20, 30]], ["a", "b"], ["b", "c"], how="outer")
    >>> keys.tolist(), x.tolist(), y.tolist()
    (['a', 'b', 'c'], [[1, 2], [3], []], [[], [10], [20, 30]])
    """
    keys, x_places, y_places = match_keys(x_keys, y_keys, how)

    def taken(name: str, key: Any, x: Any, places: Any) -> Any:
        column = _column("join_by_key", name, key, x)
        zero = isinstance(default, (int, float)) and default == 0
        missing = [] if levels_of_given(column) else nothing_of(column.dtype) if zero else default
        return gather_nested(column, places, missing)

    return keys, taken("x", x_keys, x, x_places), taken("y", y_keys, y, y_places)


def levels_of_given(x: Any) -> int:
    """Count the levels of a tensor, a Variable, or nested lists."""
    if isinstance(x, (list, tuple)):
        return int(bool(x) and isinstance(x[0], (list, tuple, np.ndarray)))
    return int(getattr(x, "num_levels", 0)) or levels_of(x)
