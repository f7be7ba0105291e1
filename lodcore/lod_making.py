"""How a LoD is made: the only place where offsets are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lodcore import buffers, core, kernels
from lodcore.errors import LoDError
from lodcore.memory import whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.lod import LoD

    Int64 = npt.NDArray[np.int64]

__all__ = ["LoDMakers"]


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
        lod: LoD = core.checked_lod(levels, num_rows)
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
        if num_rows is not None and whole(num_rows, "num_rows") != rows:
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
            rows = rows.copy()  # the greatest id must still be there when they are counted
            count = int(rows.max()) + 1 if len(rows) else 0
            if count > 2**62:
                raise LoDError(f"{where}: ids: is {count - 1} at row {int(rows.argmax())}; 0 .. 2**62 - 1 is valid")
            count = max(count, 0)
        else:
            count = whole(num_sequences, "num_sequences")
        offsets = buffers.new_offsets(count + 1)
        bad = kernels.offsets.offsets_from_segment_ids(rows, offsets)
        if bad >= 0:
            found, before = int(rows[bad]), int(rows[bad - 1]) if bad else 0
            if 0 <= found < count:
                raise LoDError(f"{where}: ids: is {found} at row {bad}, after {before}; ids never fall")
            rule = f"0 .. {count - 1} is valid" if count > 0 else "there are no sequences"
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
        singles = [core.checked_lod((given,), None, "LoD.from_row_offsets", k) for k, given in enumerate(levels)]
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
