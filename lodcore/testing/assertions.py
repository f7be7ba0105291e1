"""Assertions for users' tests: two batches are equal, or approximately equal; errors name the first difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.articles import with_article, with_number
from lodcore.base.dispatch import Symbol
from lodcore.errors import DTypeError
from lodcore.tensors.from_lists import array
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.nested import as_array
from lodcore.tensors.sequences import sequences_like
from lodcore.tensors.tensor import is_holder

__all__ = ["assert_allclose", "assert_equal"]

Array = np.ndarray[Any, Any]


def assert_equal(actual: Any, desired: Any, *, check_dtype: bool = True) -> None:
    """Raise an AssertionError unless two batches have the same structure, dtype and values; nan equals nan.

    Parameters
    ----------
    actual, desired : LoDTensor, nested lists or array_like
        Nested lists compared with a LoDTensor are sequences; they have no dtype.
    check_dtype : bool
        Whether dtypes must be equal.

    Raises
    ------
    AssertionError
        If they differ; the message names the first sequence that differs in structure or value, or the dtypes.
    DTypeError
        If an argument is not a tensor.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.testing.assert_equal(x * 2, [[2, 4], [], [6]])
    >>> lodcore.testing.assert_equal(x, lodcore.array([[1.0, 2.0], [], [4.0]]))
    Traceback (most recent call last):
    ...
    AssertionError: assert_equal: actual[2][0]: is 3.0; desired has 4.0 (1 of 3 rows differ, in 1 of 3 sequences)
    """
    where = "assert_equal"
    found, wanted, plain = _taken(where, actual, desired)
    if check_dtype and not plain and found.dtype != wanted.dtype:
        raise AssertionError(f"{where}: actual: has dtype {found.dtype}; desired has {wanted.dtype}")
    _refuse(where, found, wanted, _same(_values(found), _values(wanted)))


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-7,
    atol: float = 0.0,
    *,
    equal_nan: bool = True,
    check_dtype: bool = False,
) -> None:
    """Raise an AssertionError unless two batches have the same structure and approximately equal values.

    Parameters
    ----------
    actual, desired : LoDTensor, nested lists or array_like
        As in `assert_equal`.
    rtol, atol : float
        ``abs(actual - desired) <= atol + rtol * abs(desired)``, as in `numpy.testing.assert_allclose`.
    equal_nan : bool
        Whether nan equals nan.
    check_dtype : bool
        Whether dtypes must be equal.

    Raises
    ------
    AssertionError
        If they differ; the message names the first sequence that differs in structure or value, or the dtypes.
    DTypeError
        If an argument is not a tensor, or has values that are not numbers.

    Examples
    --------
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.testing.assert_allclose(x / 3 * 3, x)
    >>> lodcore.testing.assert_allclose(x, [[1.0], [2.0], [3.0]])
    Traceback (most recent call last):
    ...
    AssertionError: assert_allclose: actual[0]: has length 2; desired has 1
    """
    where = "assert_allclose"
    found, wanted, plain = _taken(where, actual, desired)
    if check_dtype and not plain and found.dtype != wanted.dtype:
        raise AssertionError(f"{where}: actual: has dtype {found.dtype}; desired has {wanted.dtype}")
    mine, theirs = _values(found), _values(wanted)
    for name, values in (("actual", mine), ("desired", theirs)):
        if values.dtype.kind not in "biufc":
            raise DTypeError(f"{where}: {name}: has dtype {values.dtype}; numbers are needed, or assert_equal")
    with np.errstate(all="ignore"):
        same = np.isclose(mine, theirs, rtol, atol, equal_nan)
    _refuse(where, found, wanted, np.asarray(same), f" within rtol {rtol:g}, atol {atol:g}")


# -- arguments ---------------------------------------------------------------------------------------------------------


def _taken(where: str, actual: Any, desired: Any) -> tuple[Any, Any, bool]:
    """Return both arguments converted, and whether one was given as lists, which have no dtype."""
    sides = {"actual": actual, "desired": desired}
    for name, given in sides.items():
        if isinstance(given, Symbol):
            raise DTypeError(f"{where}: {name}: is {with_article(type(given).__name__)}; give its value, {name}.get()")
    listed = [isinstance(given, (list, tuple)) for given in sides.values()]
    found = _side(where, "actual", actual, desired)
    wanted = _side(where, "desired", desired, actual)
    levels = [isinstance(x, LoDTensor) and x.num_levels > 0 for x in (found, wanted)]
    if levels[0] != levels[1]:
        has = [f"is {'sequences' if one else 'a dense array'}" for one in levels]
        raise AssertionError(f"{where}: actual: {has[0]}; desired {has[1]}")
    if levels[0]:
        _check_structure(where, found.lod, wanted.lod)
    mine, theirs = _values(found).shape[levels[0] :], _values(wanted).shape[levels[0] :]
    if mine != theirs:
        what = "rows of shape" if levels[0] else "shape"
        raise AssertionError(f"{where}: actual: has {what} {mine}; desired has {theirs}")
    return found, wanted, any(listed)


def _side(where: str, name: str, given: Any, other: Any) -> Any:
    """Return one argument converted; lists are sequences if the other is a LoDTensor, or they are nested unevenly."""
    if isinstance(given, (LoDTensor, np.ndarray)) and not getattr(given, "dtype", np.dtype(object)).hasobject:
        return given
    if isinstance(given, (list, tuple)):
        if isinstance(other, LoDTensor) and other.num_levels:
            like = sequences_like(given, other.num_levels, other.values.shape[1:], other.dtype)
            return array(list(given)) if like is None else like
        if isinstance(other, (list, tuple)) and any(isinstance(one, (list, tuple)) for one in given):
            return array(list(given))
    made = as_array(f"{where}: {name}", given.values if is_holder(given) else given)
    if made.dtype.hasobject:
        raise DTypeError(
            f"{where}: {name}: is {with_article(type(given).__name__)}; a LoDTensor, nested lists or an array is needed"
        )
    return made


def _check_structure(where: str, found: LoD, wanted: LoD) -> None:
    """Raise if two structures differ; the message names the first sequence that does."""
    if found == wanted:
        return
    if found.num_levels != wanted.num_levels:
        raise AssertionError(
            f"{where}: actual: has {with_number(found.num_levels, 'level')}; desired has {wanted.num_levels}"
        )
    for k in range(found.num_levels):
        mine, theirs = found.lengths(k), wanted.lengths(k)
        common = min(len(mine), len(theirs))
        differ = mine[:common] != theirs[:common]
        if differ.any():
            s = int(np.argmax(differ))
            raise AssertionError(
                f"{where}: actual{_path(_place(found, s, k))}: has length {mine[s]}; desired has {theirs[s]}"
            )
        if len(mine) != len(theirs):  # in the batch only; deeper, lengths above would differ
            longer = "actual" if len(mine) > common else "desired"
            raise AssertionError(
                f"{where}: actual: has {len(mine)} sequences; desired has {len(theirs)}, and {longer}[{common}] is more"
            )


def _values(x: Any) -> Array:
    return x.values if isinstance(x, LoDTensor) else x


# -- differences -------------------------------------------------------------------------------------------------------


def _same(mine: Array, theirs: Array) -> Array:
    """Compare values of one shape one by one; nan equals nan."""
    names = mine.dtype.names
    if names and names == theirs.dtype.names:
        fields = [_same(mine[name], theirs[name]) for name in names]
        return np.asarray(np.logical_and.reduce([field.reshape(*mine.shape, -1).all(axis=-1) for field in fields]))
    if names != theirs.dtype.names:
        return np.zeros(mine.shape, bool)
    kinds = {mine.dtype.kind, theirs.dtype.kind}
    if len(kinds) > 1 and not kinds <= set("biufc"):
        return np.zeros(mine.shape, bool)  # text compared with numbers
    same: Array = np.asarray(mine == theirs)
    if kinds <= set("fcmM"):
        same |= (mine != mine) & (theirs != theirs)
    return same


def _refuse(where: str, found: Any, wanted: Any, same: Array, rule: str = "") -> None:
    """Raise if a value differs; the message names the first one."""
    if same.all():
        return
    first = tuple(np.argwhere(~same)[0].tolist())
    mine, theirs = _values(found)[first], _values(wanted)[first]
    if not isinstance(found, LoDTensor) or not found.num_levels:
        differ = f"{np.count_nonzero(~same)} of {same.size} values differ"
        raise AssertionError(f"{where}: actual{_path(first)}: is {mine}; desired has {theirs} ({differ}{rule})")
    rows = np.flatnonzero(~same.reshape(len(same), -1).all(axis=1))
    offsets = found.lod.row_offsets(0)
    sequences = len(np.unique(np.searchsorted(offsets, rows, "right")))
    path = [*_place(found.lod, first[0]), *first[1:]]
    raise AssertionError(
        f"{where}: actual{_path(path)}: is {mine}; desired has {theirs} ({len(rows)} of {len(same)} rows differ{rule}, "
        f"in {sequences} of {len(found)} sequences)"
    )


def _path(numbers: Any) -> str:
    return "".join([f"[{number}]" for number in numbers])


def _place(lod: LoD, at: int, level: int | None = None) -> list[int]:
    """Return the indices of a sequence of a level, or of a row, in nested lists."""
    path: list[int] = []
    for k in reversed(range(lod.num_levels if level is None else level)):
        offsets = lod.offsets(k)
        above = int(np.searchsorted(offsets, at, "right")) - 1
        path.insert(0, at - int(offsets[above]))
        at = above
    return [at, *path]
