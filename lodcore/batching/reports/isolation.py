"""A test that a function of packed documents does not mix documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.base.articles import with_number
from lodcore.batching.limits import Int64
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors.from_lists import as_nested
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["assert_isolated"]

Array = npt.NDArray[Any]


def assert_isolated(
    f: Callable[[LoDTensor], Any],
    packed: Any,
    *,
    change: Callable[[Array, np.random.Generator], Array] | None = None,
    tolerance: float = 1e-5,
    seed: int = 0,
) -> None:
    """Check that in a function of packed documents no document affects the result of another.

    Documents are changed, and the results of the others must stay the same. All pairs of n documents are checked in
    about 2 log2(n) calls: for any two documents, there is a call in which the first is changed and the second is not.

    Parameters
    ----------
    f : callable
        A function of a LoDTensor with the structure of `packed`, which returns one row per token, as a LoDTensor, an
        ndarray or an object that NumPy converts (a torch tensor that requires gradients is detached).
    packed : LoDTensor or nested lists
        Bins of documents of tokens, as `PackPlan.apply` returns them.
    change : callable, optional
        A function of the rows of the documents to change and a generator, which returns other rows with the same shape
        and dtype. By default, floats are drawn at random, and integers are replaced by others that occur.
    tolerance : float
        The allowed difference of rows, relative to the greatest finite number of the result. A leak is much greater;
        sums in another order differ by less.
    seed : int
        The seed of the generator that `change` is given.

    Raises
    ------
    AssertionError
        If a document depends on another one; the message names both, and the size of the difference. Also if the result
        of f does not depend on its input at all, so nothing can be shown.
    LoDError, ShapeError, DTypeError
        If packed has fewer than two levels or no rows, f returns another number of rows, or rows that are not real
        numbers, `change` returns another shape or dtype, or the values of packed cannot be changed without it.

    Examples
    --------
    >>> from lodcore import sequence_softmax
    >>> from lodcore.batching import assert_isolated
    >>> packed = [[[0.5, 1.0], [2.0]], [[3.0, 1.0]]]
    >>> assert_isolated(lambda x: sequence_softmax(x, level=1), packed)
    >>> assert_isolated(lambda x: sequence_softmax(x, level=0), packed)
    Traceback (most recent call last):
        ...
    AssertionError: assert_isolated: document 1 (bin 0) changes document 0 (bin 0) by 0.15
    """
    where = "assert_isolated"
    x = as_nested(f"{where}: packed", packed)
    if x.num_levels < 2:
        raise LoDError(f"{where}: packed: has {with_number(x.num_levels, 'level')}; bins of documents have 2 or more")
    if not x.num_rows:
        raise LoDError(f"{where}: packed: has no rows; documents with at least one are needed")
    owners = x.lod.segment_ids(1)
    count = x.lod.num_sequences(1)
    random = np.random.default_rng(seed)
    other = _changed(where, x, change or _drawn_anew, random)
    base = _rows(where, f, x, x.values)
    scale = float(np.abs(base[np.isfinite(base)]).max(initial=0)) or 1.0

    def differences(chosen: Array) -> npt.NDArray[np.float64]:
        """Change some documents; return by how much the result of each document changes."""
        mask = chosen[owners].reshape(-1, *(1,) * (x.values.ndim - 1))
        rows = _rows(where, f, x, np.where(mask, other, x.values))
        same = (rows == base) | (np.isnan(rows) & np.isnan(base))
        moved = np.abs(np.subtract(rows, base, where=~same, out=np.zeros_like(base))).reshape(len(owners), -1)
        by_row = np.nan_to_num(moved, nan=np.inf).max(axis=1, initial=0)
        found = np.zeros(count)
        np.maximum.at(found, owners, by_row)
        return found

    numbers = np.arange(count)
    depends = False
    for chosen in _separating(numbers):
        found = differences(chosen)
        depends |= bool(found[chosen].max(initial=0) > 0)
        leaks = np.where(chosen, 0, found) > tolerance * scale
        if leaks.any():
            victim = int(np.argmax(leaks))
            source = _source(differences, victim, tolerance * scale, np.flatnonzero(chosen), count)
            bins = LoD.from_offsets(x.lod.offsets(0)).segment_ids()
            raise AssertionError(
                f"{where}: document {source} (bin {bins[source]}) changes document {victim} (bin {bins[victim]}) "
                f"by {found[victim]:.2g}"
            )
    if not depends and count:
        raise AssertionError(f"{where}: f returns the same result when documents change, so nothing can be shown")


def _separating(numbers: Int64) -> list[Array]:
    """Return sets of numbers such that, for any two numbers, one set has the first and not the second."""
    if len(numbers) <= 1:
        return [np.ones(len(numbers), bool)]
    bits = [(numbers >> bit & 1).astype(bool) for bit in range(int(len(numbers) - 1).bit_length())]
    return [one for bit in bits for one in (bit, ~bit)]


def _source(
    differences: Callable[[Array], npt.NDArray[np.float64]], victim: int, limit: float, suspects: Int64, count: int
) -> int:
    """Bisect the changed documents until one is left that changes the victim."""
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        leaks = differences(np.isin(np.arange(count), half))[victim] > limit
        suspects = half if leaks else suspects[len(half) :]
    return int(suspects[0])


def _drawn_anew(rows: Array, random: np.random.Generator) -> Array:
    """Draw other rows: floats of similar size, or other ones of the integers that occur."""
    if not rows.size:
        return rows
    if rows.dtype.kind == "f":
        moved = rows + random.uniform(0.5, 1.5, rows.shape) * (1 + np.abs(rows).mean())
        return np.asarray(moved, rows.dtype)
    known, places = np.unique(rows, return_inverse=True)
    if rows.dtype.kind not in "iu" or len(known) < 2:
        kinds = f"{rows.dtype}" if len(known) > 1 else "one value only"
        raise DTypeError(f"assert_isolated: packed: has {kinds}; change= must say how it is changed")
    other: Array = known[(places.reshape(rows.shape) + random.integers(1, len(known), rows.shape)) % len(known)]
    return other


def _changed(
    where: str, x: LoDTensor, change: Callable[[Array, np.random.Generator], Array], random: np.random.Generator
) -> Array:
    """Return changed rows, checked."""
    other = np.asarray(change(x.values.copy(), random))
    if other.shape != x.values.shape or other.dtype != x.values.dtype:
        raise ShapeError(
            f"{where}: change: returned shape {other.shape} of {other.dtype}; "
            f"{x.values.shape} of {x.values.dtype} is needed"
        )
    return other


def _rows(where: str, f: Callable[[LoDTensor], Any], x: LoDTensor, values: Array) -> Array:
    """Call the function; return its checked rows."""
    given = f(LoDTensor(values, x.lod))
    given = given.detach() if hasattr(given, "detach") else given
    rows = given.values if isinstance(given, LoDTensor) else np.asarray(given)
    if rows.ndim == 0 or len(rows) != x.num_rows:
        raise ShapeError(f"{where}: f: returned shape {rows.shape}; one row for each of {x.num_rows} tokens is needed")
    if rows.dtype.kind not in "biuf":
        raise DTypeError(f"{where}: f: returned dtype {rows.dtype}; real numbers are needed")
    return rows.astype(np.float64)
