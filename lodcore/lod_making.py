"""How a LoD is made: the only place where offsets are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from lodcore import buffers, core, kernels
from lodcore.errors import DTypeError, LoDError

if TYPE_CHECKING:
    from lodcore.lod import LoD

__all__ = ["LoDMakers"]

Int64 = npt.NDArray[np.int64]


class LoDMakers:
    """The class methods of LoD that make one."""

    __slots__ = ()

    @classmethod
    def from_offsets(cls, *levels: npt.ArrayLike, num_rows: int | None = None) -> LoD:
        """Make a LoD of offsets, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences + 1,)
            Each starts at 0, never falls, and ends at the number of sequences of the next level; the last ends at
            the number of rows. They are copied.
        num_rows : int, optional
            Needed with zero levels; otherwise checked against the last offset.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            Naming the level, the position and the value that break the rule.
        DTypeError, ShapeError
            If a level is no flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_offsets([0, 2, 5, 9])
        LoD([xx] [xxx] [xxxx])
        """
        rows = -1 if num_rows is None else _whole(num_rows, "num_rows")
        if not levels and num_rows is None:
            raise LoDError("LoD.from_offsets: num_rows: is missing; without levels the number of rows must be given")
        checked = []
        for k, given in enumerate(levels):
            offsets = buffers.private_offsets(given, "LoD.from_offsets: offsets", k)
            bad = kernels.offsets.first_bad_offset(offsets, -1) if len(offsets) else 0
            if bad >= 0:
                raise _bad_offset(k, offsets, bad)
            checked.append(offsets)
        for k in range(len(checked) - 1):
            _ends_at(k, checked[k], len(checked[k + 1]) - 1, f"the number of sequences of level {k + 1}")
        if checked:
            last = int(checked[-1][-1])
            if rows >= 0:
                _ends_at(len(checked) - 1, checked[-1], rows, "num_rows")
            rows = last
        lod: LoD = core.make_lod(checked, rows)
        return lod

    @classmethod
    def from_lengths(cls, *levels: npt.ArrayLike, num_rows: int | None = None) -> LoD:
        """Make a LoD of lengths, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences,)
            Lengths of a level add up to the number of sequences of the next one.
        num_rows : int, optional
            Needed with zero levels; otherwise checked against the sum of the last lengths.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If a length is negative, or the sums overflow or do not agree.
        DTypeError, ShapeError
            If a level is no flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).offsets()
        array([0, 2, 2, 5])
        """
        if not levels:
            return cls.from_offsets(num_rows=num_rows)
        made = []
        for k, given in enumerate(levels):
            lengths = buffers.as_int64(given, "LoD.from_lengths: lengths", LoDError, k)
            offsets = buffers.new_offsets(len(lengths) + 1)
            bad = kernels.offsets.offsets_from_lengths(lengths, offsets)
            if bad >= 0:
                length = int(lengths[bad])
                problem = "a length is not negative" if length < 0 else "the sum must fit in int64"
                raise LoDError(f"LoD.from_lengths: lengths[{k}]: is {length} at position {bad}; {problem}")
            made.append(offsets)
        for k in range(len(made) - 1):
            if made[k][-1] != len(made[k + 1]) - 1:
                raise LoDError(
                    f"LoD.from_lengths: lengths[{k}]: add up to {made[k][-1]}; "
                    f"level {k + 1} has {len(made[k + 1]) - 1} sequences"
                )
        rows = int(made[-1][-1])
        if num_rows is not None and _whole(num_rows, "num_rows") != rows:
            raise LoDError(f"LoD.from_lengths: lengths[{len(made) - 1}]: add up to {rows}; num_rows is {num_rows}")
        lod: LoD = core.make_lod(made, rows)
        return lod

    @classmethod
    def from_segment_ids(cls, ids: npt.ArrayLike, num_sequences: int | None = None) -> LoD:
        """Make a LoD of one level from the sequence number of each row.

        Parameters
        ----------
        ids : array_like of integers, shape (num_rows,)
            Never falling, in 0 .. num_sequences - 1. Numbers that do not occur are empty sequences.
        num_sequences : int, optional
            One more than the last id, if not given.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            Naming the first row whose id falls or is out of range.
        DTypeError, ShapeError
            If ids is no flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_segment_ids([0, 0, 2], 4)
        LoD([xx] [] [x] [])
        """
        where = "LoD.from_segment_ids"
        rows = buffers.as_int64(ids, f"{where}: ids", LoDError)
        if num_sequences is None:
            rows = rows.copy()
            count = int(rows[-1]) + 1 if len(rows) else 0
            if len(rows) and not 0 <= count - 1 < 2**62:
                raise LoDError(f"{where}: ids: is {count - 1} at row {len(rows) - 1}; ids are not negative nor huge")
        else:
            count = _whole(num_sequences, "num_sequences")
        offsets = buffers.new_offsets(count + 1)
        bad = kernels.offsets.offsets_from_segment_ids(rows, offsets)
        if bad >= 0:
            found, before = int(rows[bad]), int(rows[bad - 1]) if bad else 0
            rule = f"ids never fall ({before} stands before)" if 0 <= found < count else f"0 .. {count - 1} is valid"
            raise LoDError(f"{where}: ids: is {found} at row {bad}; {rule}")
        lod: LoD = core.make_lod([offsets], len(rows))
        return lod

    @classmethod
    def from_row_offsets(cls, *levels: npt.ArrayLike) -> LoD:
        """Make a LoD of offsets that all count rows, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences + 1,), in rows
            Each offset of a level is also one of the next level. Empty sequences at a boundary go to the sequence
            that begins there, those at the end to the last one.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            Naming the level, the position and the value that break the rule.
        DTypeError, ShapeError
            If a level is no flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_row_offsets([0, 5], [0, 2, 5]).offsets(0)
        array([0, 2])
        """
        if not levels:
            raise LoDError("LoD.from_row_offsets: offsets: none are given; at least one level is needed")
        singles = [cls.from_offsets(given) for given in levels]
        made: list[Int64] = []
        for k in range(len(singles) - 1):
            outer, inner = singles[k].offsets(), singles[k + 1].offsets()
            offsets = buffers.new_int64(len(outer))
            bad = kernels.levels.relative(outer, inner, offsets)
            if bad >= 0:
                raise LoDError(
                    f"LoD.from_row_offsets: offsets[{k}]: is {outer[bad]} at position {bad}; "
                    f"each offset is one of level {k + 1}, with the same end ({inner[-1]})"
                )
            made.append(offsets)
        made.append(singles[-1].offsets())
        lod: LoD = cls.from_offsets(*made)
        return lod


def _whole(number: Any, argument: str) -> int:
    """Turn a number that counts things into an int."""
    try:
        count = int(number.__index__())
    except (AttributeError, TypeError):
        raise DTypeError(f"LoD: {argument}: is {number!r}; an integer is needed") from None
    if not 0 <= count < 2**63 - 1:
        raise LoDError(f"LoD: {argument}: is {count}; 0 .. 2**63 - 2 is valid")
    return count


def _bad_offset(k: int, offsets: Int64, bad: int) -> LoDError:
    """Say which offset of level k breaks which rule."""
    where = f"LoD.from_offsets: offsets[{k}]"
    if not len(offsets):
        return LoDError(f"{where}: is empty; offsets have one entry more than there are sequences")
    if bad == 0:
        return LoDError(f"{where}: is {offsets[0]} at position 0; offsets start at 0")
    return LoDError(f"{where}: falls at position {bad} ({offsets[bad - 1]} -> {offsets[bad]}); offsets never fall")


def _ends_at(k: int, offsets: Int64, end: int, meaning: str) -> None:
    """Raise if the offsets of level k do not end where they must."""
    if offsets[-1] != end:
        raise LoDError(
            f"LoD.from_offsets: offsets[{k}]: is {offsets[-1]} at position {len(offsets) - 1}; "
            f"the last offset is {meaning}, {end}"
        )
