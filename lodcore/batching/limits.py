"""Checks of arguments that the functions of this package share: lengths, budgets, limits, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.articles import with_article
from lodcore.base.dispatch import Symbol
from lodcore.base.memory import integer, unharmed
from lodcore.errors import DTypeError, GraphError, LoDError
from lodcore.operators.operands import known_value
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = [
    "MOST",
    "Int64",
    "as_choice",
    "as_count",
    "as_lengths",
    "as_rank",
    "longest_first",
    "sealed",
    "size_counts",
]

Int64 = npt.NDArray[np.int64]

#: The largest budget, which also means no limit.
MOST = 2**62

#: Lengths up to this one are not counted by a table.
SMALL = 2**16
AT_ONCE = 2**17  # the number of lengths whose copy fits in cache


class PlanOfBins(Protocol):
    """The data of a packing plan that is applied, stored and reported."""

    lengths: Int64
    budget: int
    method: str
    max_items: int | None
    multiple_of: int
    shards: int
    is_part: bool

    @property
    def num_documents(self) -> int: ...
    @property
    def num_bins(self) -> int: ...
    @property
    def documents(self) -> Int64: ...
    @property
    def starts(self) -> Int64: ...
    @property
    def sizes(self) -> Int64: ...
    @property
    def places(self) -> Int64: ...
    @property
    def bins(self) -> LoD: ...
    @property
    def lod(self) -> LoD: ...
    @property
    def is_cut(self) -> bool: ...
    @property
    def is_whole(self) -> bool: ...


def as_count(where: str, number: Any, least: int = 1) -> int:
    """Check and return an integer from `least` to `MOST`."""
    count = integer(where, number)
    if not least <= count <= MOST:
        raise ValueError(f"{where}: is {count}; {least} .. 2**62 is valid")
    return count


def as_choice(where: str, given: Any, choices: tuple[str, ...]) -> str:
    """Check and return one of several words."""
    if isinstance(given, str) and given in choices:
        return given
    names = ", ".join(repr(choice) for choice in choices[:-1]) + f" or {choices[-1]!r}"
    raise ValueError(f"{where}: is {given!r}; {names} is needed")


def as_rank(where: str, rank: Any, count: int, name: str) -> int:
    """Check and return a rank, which must be less than the number of ranks."""
    number = integer(f"{where}: rank", rank)
    if not 0 <= number < count:
        raise IndexError(f"{where}: rank: is {number}; {name} is {count}")
    return number


def as_lengths(where: str, lengths: Any) -> Int64:
    """Return a checked copy of the lengths of sequences.

    Parameters
    ----------
    where : str
        The names of function and argument, for the message.
    lengths : array_like of integers, shape (n,), or LoD or LoDTensor
        For a structure, the rows of each outermost sequence are counted. A Variable with a value counts as its value,
        since lengths have no gradient.

    Returns
    -------
    ndarray
        int64, shape (n,), read-only; 0 or more, with a sum that fits in int64.

    Raises
    ------
    LoDError
        If a length is negative or makes the sum overflow; the message names the first one.
    DTypeError, ShapeError
        If the argument is not a vector of integers.
    GraphError
        If the argument is a Variable without a value.
    """
    if isinstance(lengths, Symbol):
        lengths = known_value(lengths)
        if lengths is None:
            raise GraphError(f"{where}: is a Variable without a value; a plan is made of lengths that are known")
    if isinstance(lengths, LoDTensor):
        lengths = lengths.lod
    if isinstance(lengths, LoD):
        if not lengths.num_levels:
            raise DTypeError(f"{where}: has no levels; sequences are needed")
        lengths = np.diff(lengths.row_offsets(0))
    elif isinstance(lengths, (list, tuple)) and any(isinstance(one, (list, tuple, np.ndarray)) for one in lengths[:1]):
        raise DTypeError(f"{where}: holds sequences; their lengths are needed, as lodcore.array(sequences) has them")
    elif not hasattr(lengths, "__array__") and not isinstance(lengths, Sequence):
        raise DTypeError(f"{where}: is {with_article(type(lengths).__name__)}; an array or a list of lengths is needed")
    own = buffers.as_int64(lengths, where, LoDError)
    own = np.array(own, np.int64)
    total = int(own.sum(dtype=np.float64)) if len(own) else 0
    if len(own) and (own.min() < 0 or total >= MOST):
        bad = int(np.argmax(own < 0)) if own.min() < 0 else int(own.argmax())
        rule = "a length is not negative" if own[bad] < 0 else "their sum must be below 2**62"
        raise LoDError(f"{where}: is {own[bad]} at position {bad}; {rule}")
    return sealed(own)


def sealed(array: Int64) -> Int64:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def size_counts(lengths: Int64) -> tuple[Int64, Int64]:
    """Return the distinct lengths, longest first, and their counts."""
    most = int(lengths.max(initial=0))
    if most > SMALL and most > 4 * len(lengths):
        sizes, counts = np.unique(lengths, return_counts=True)
    else:
        table = np.zeros(most + 1, np.int64)
        part = max(AT_ONCE, most + 1)
        for start in range(0, len(lengths), part):  # NumPy copies a read-only argument of bincount
            table += np.bincount(lengths[start : start + part], minlength=most + 1)
        sizes = np.flatnonzero(table)
        counts = table[sizes]
    return np.ascontiguousarray(sizes[::-1]), np.ascontiguousarray(counts[::-1])


def longest_first(lengths: Int64) -> Int64:
    """Return the order of items by length, longest first; equal lengths keep their order."""
    most = int(lengths.max(initial=0))
    if most > SMALL and most > 4 * len(lengths):
        return np.argsort(-lengths, kind="stable")
    offsets = buffers.new_int64(len(lengths) + 1)
    unharmed(kernels.lod.offsets_from_lengths(lengths, offsets))
    steps = buffers.new_int64(most + 1)
    kernels.rank_table.step_offsets(offsets, steps)
    order: Int64 = buffers.new_int64(len(lengths))
    kernels.rank_table.rank_by_length(offsets, steps, order)
    return order
