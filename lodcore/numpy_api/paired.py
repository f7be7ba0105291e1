"""Several vectors of integers in one index, which by NumPy's rule make one axis of the result together."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.ops.elementwise.convert import rows
from lodcore.ops.index.index_values import index_values
from lodcore.ops.move.lod_data import lod_num, lod_positions, lod_segment_ids
from lodcore.tensors import lod_body

__all__ = ["Group", "check_together", "is_number", "is_vector"]


class Group:
    """The vectors of an index, and the integers among them, which act as vectors with equal entries.

    Parameters
    ----------
    keys : list
        Prepared keys, each for one or more axes. Vectors with one entry are broadcast to the length of the others.

    Attributes
    ----------
    keys : list
    axis : int or None
        The axis of the vectors in the result so far; None before the first vector.
    """

    def __init__(self, keys: list[Any]) -> None:
        vectors = [key for key in keys if is_vector(key)]
        lengths = {length for length in map(_length, vectors) if length is not None}
        sizes = [length for length in lengths if length != 1]
        if len(sizes) > 1:
            raise _mismatch(*sizes[:2])
        size = sizes[0] if sizes and len(vectors) > 1 else None
        self.keys = keys if size is None else [_stretched(key, size) for key in keys]
        self.axis: int | None = None
        self._several = bool(vectors)
        self._last: int | None = None  # the last member's number

    def has(self, key: Any) -> bool:
        """Return whether a key is a member: a vector, or an integer if there are vectors."""
        return self._several and (is_vector(key) or is_number(key))

    def meet(self, j: int, axis: int, vector: bool) -> None:
        """Record that key j, a member, indexes an axis of the result so far."""
        if self._last is not None and j != self._last + 1 and self.axis != 0:
            raise _separated()
        if vector and self.axis is None:
            self.axis = axis
        self._last = j

    def entries(self, x: Any, key: Any, level: int) -> Any:
        """Return the index that a member gives for each element of a level (each sequence of the batch for -1).

        Parameters
        ----------
        x : LoDTensor or Variable
            A tensor with the axis of the group.
        key : int or vector
        level : int
            -1 .. num_levels - 1.
        """
        if is_number(key) or (self.axis == 0 and level < 0):
            return key
        if isinstance(key, Symbol):
            raise TypeError(
                "index: a Variable is one of several vectors, and sequences lie between them; index step by step"
            )
        if isinstance(x, Symbol):
            return self._recorded(x, key, level)
        inner = lod_body.slice_levels(x.lod, 0, level + 1)
        if self.axis == 0:
            if len(key) != len(x):
                raise _mismatch(len(x), len(key))
            return key[inner.segment_ids(0)]
        count = inner.num_rows
        if count and (not len(key) or count % len(key) or inner.lengths(-1)[0] != len(key)):
            raise _mismatch(int(inner.lengths(-1)[0]), len(key))
        return np.tile(key, count // max(len(key), 1))

    def _recorded(self, x: Any, key: Any, level: int) -> Any:
        """Return the entries where the structure is known only at run time."""
        inner = x if level == x.num_levels - 1 else lod_num(x, level + 1)
        places = lod_positions(inner, level) if self.axis else lod_segment_ids(inner, 0)
        return index_values(key, [rows(places)])

    def of_rows(self, j: int, keys: list[Any]) -> str:
        """Return how keys of the axes of rows, from key j of the index on, combine with those before them.

        Returns
        -------
        str
            "alone" if NumPy's own rule applies; "paired" if there is one entry per row; "first" if NumPy puts their
            axis first, before axes that integers have removed.
        """
        places = [k for k, key in enumerate(keys) if self.has(key)]
        if not places or (self.axis is None and self._last is None):
            return "alone"
        together = places == list(range(len(places))) and j == (self._last or 0) + 1
        if self.axis is None:
            return "alone" if together else "first"
        if self.axis and not together:
            raise _separated()
        if any(isinstance(keys[k], np.ndarray) and keys[k].ndim > 1 for k in places):
            raise TypeError("index: has several axes; together with other vectors, one axis is needed")
        return "paired"


def is_number(key: Any) -> bool:
    """Return whether a key is one integer."""
    return type(key) is int or (isinstance(key, Symbol) and key.ndim == 0)  # type: ignore[attr-defined]


def is_vector(key: Any) -> bool:
    """Return whether a key is an array, or a recorded one, without levels."""
    if isinstance(key, Symbol):
        return not getattr(key, "num_levels", 0) and key.ndim > 0  # type: ignore[attr-defined]
    return isinstance(key, np.ndarray)


def check_together(before: list[Any], behind: list[Any]) -> None:
    """Raise if vectors and integers are on both sides of an Ellipsis, so that NumPy would put their axis first."""
    if not any(map(is_vector, [*before, *behind])):
        return
    left, right = ([is_vector(key) or is_number(key) for key in keys] for keys in (before, behind))
    if any(left) and any(right) and not left[0]:
        raise _separated()


def _length(key: Any) -> int | None:
    """Return the number of entries of a vector; None if it is unknown, or there are several axes."""
    if not isinstance(key, np.ndarray) or key.ndim != 1:
        return None
    return int(np.count_nonzero(key)) if key.dtype == np.bool_ else len(key)


def _stretched(key: Any, size: int) -> Any:
    alone = isinstance(key, np.ndarray) and key.shape == (1,) and key.dtype != np.bool_
    return np.broadcast_to(key, (size,)) if alone else key


def _separated() -> TypeError:
    return TypeError(
        "index: vectors and integers are separated by a slice, so that NumPy would put their axis first; index step by "
        "step"
    )


def _mismatch(size: int, other: int) -> IndexError:
    return IndexError(
        f"shape mismatch: indexing arrays could not be broadcast together with shapes ({size},) ({other},)"
    )
