"""LoD: the structure of nested sequences, as immutable offsets, coarse first.

Offsets are checked only here; every existing LoD is valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_out, integer, whole
from lodcore.errors import LevelError, LoDError
from lodcore.tensors import lod_body
from lodcore.tensors.joining import checked_lod, checked_lod_of_lengths, concat_lods

if TYPE_CHECKING:
    import numpy.typing as npt

    Int64 = npt.NDArray[np.int64]

__all__ = ["LoD"]

#: With more sequences than this, and fewer rows per sequence than 1 / this, their number must be given.
MANY_SEQUENCES, FEW_ROWS = 2**20, 100


class LoD(lod_body.LoDBody):
    """Levels of detail: how rows form sequences, and sequences form sequences of sequences.

    Level `k` counts sequences of level `k + 1`; the last level counts rows. Lengths 2, 3, 4 are the offsets
    0, 2, 5, 9. Zero levels, zero sequences and zero rows are all valid. Levels may count from the last (-1).

    A LoD is immutable, hashable, and shared: results with an unchanged structure have the same object.

    Notes
    -----
    The SeqPos of "RNN variable-length input design" and the LoD of PaddlePaddle, with offsets of each level
    relative to the next one.

    Examples
    --------
    >>> from lodcore import LoD
    >>> lod = LoD.from_lengths([2, 1], [2, 0, 3])       # two documents, of two sentences and of one
    >>> lod
    LoD([[xx] []] [[xxx]])
    >>> lod.offsets(0), lod.offsets(1)
    (array([0, 2, 3]), array([0, 2, 2, 5]))
    >>> lod.num_levels, lod.num_rows
    (2, 5)
    """

    __module__ = "lodcore"

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("LoD: use LoD.from_offsets, from_lengths, from_segment_ids or from_row_offsets")

    # -- construction --------------------------------------------------------------------------------------------------

    @classmethod
    def from_offsets(cls, *levels: npt.ArrayLike, num_rows: int | None = None) -> LoD:
        """Make a LoD from offsets, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences + 1,)
            The offsets of each level start at 0, never decrease, and end at the number of sequences of the next level,
            those of the last level at the number of rows. They are copied.
        num_rows : int, optional
            Required with zero levels; otherwise checked against the last offset.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If offsets are invalid; the message names the level, the position and the value.
        DTypeError, ShapeError
            If a level is not a flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_offsets([0, 2, 5, 9])
        LoD([xx] [xxx] [xxxx])
        """
        return checked_lod(levels, num_rows)

    @classmethod
    def from_lengths(cls, *levels: npt.ArrayLike, num_rows: int | None = None) -> LoD:
        """Make a LoD from lengths, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences,)
            The lengths of a level must add up to the number of sequences of the next one.
        num_rows : int, optional
            Required with zero levels; otherwise checked against the sum of the last lengths.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If a length is negative, or the sums overflow or do not match.
        DTypeError, ShapeError
            If a level is not a flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).offsets()
        array([0, 2, 2, 5])
        """
        return checked_lod_of_lengths(levels, num_rows)

    @classmethod
    def from_segment_ids(cls, ids: npt.ArrayLike, num_sequences: int | None = None) -> LoD:
        """Make a LoD of one level from the sequence number of each row.

        Parameters
        ----------
        ids : array_like of integers, shape (num_rows,)
            Must not decrease, in 0 .. num_sequences - 1. Numbers that do not occur are empty sequences.
        num_sequences : int, optional
            By default one more than the last id. It is required if more than 2**20 sequences would have fewer than one
            row per hundred sequences.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If an id decreases, is out of range, or is far beyond the number of rows; the message names the first row.
        DTypeError, ShapeError
            If ids is not a flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_segment_ids([0, 0, 2], 4)
        LoD([xx] [] [x] [])
        """
        where = "LoD.from_segment_ids"
        rows = buffers.as_int64(ids, f"{where}: ids", LoDError)
        if num_sequences is None:
            rows = rows.copy()  # a private copy, so that the greatest id is the same when they are counted
            count = int(rows.max()) + 1 if len(rows) else 0
            count = max(count, 0)
            if count > MANY_SEQUENCES and count // FEW_ROWS > len(rows):
                raise LoDError(
                    f"{where}: ids: is {count - 1} at row {int(rows.argmax())}; {len(rows)} rows would make {count} "
                    "sequences, nearly all of them empty: give num_sequences if these are meant"
                )
        else:
            count = whole(num_sequences, "num_sequences")
        offsets = buffers.new_offsets(count + 1)
        bad = kernels.lod.offsets_from_segment_ids(rows, offsets)
        if bad >= 0:
            found, before = int(rows[bad]), int(rows[bad - 1]) if bad else 0
            if 0 <= found < count:
                raise LoDError(f"{where}: ids: is {found} at row {bad}, after {before}; ids never fall")
            rule = f"0 .. {count - 1} is valid" if count > 0 else "there are no sequences"
            raise LoDError(f"{where}: ids: is {found} at row {bad}; {rule}")
        return lod_body.make_lod([offsets], offsets.item(count))

    @classmethod
    def from_row_offsets(cls, *levels: npt.ArrayLike) -> LoD:
        """Make a LoD from offsets that all count rows, coarse first.

        Parameters
        ----------
        *levels : array_like of integers, shape (number of sequences + 1,), in rows
            Each offset of a level must occur in the next level. Empty sequences at a boundary belong to the sequence
            that begins there, those at the end to the last one.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If offsets are invalid; the message names the level, the position and the value.
        DTypeError, ShapeError
            If a level is not a flat sequence of integers.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_row_offsets([0, 5], [0, 2, 5]).offsets(0)
        array([0, 2])
        """
        if not levels:
            raise LoDError("LoD.from_row_offsets: offsets: none are given; at least one level is needed")
        singles = [checked_lod((given,), None, "LoD.from_row_offsets", k) for k, given in enumerate(levels)]
        made: list[Int64] = []
        for k in range(len(singles) - 1):
            outer, inner = singles[k].offsets(), singles[k + 1].offsets()
            offsets = buffers.new_int64(len(outer))
            bad = kernels.lod.relative(outer, inner, offsets)
            if bad >= 0:
                raise LoDError(
                    f"LoD.from_row_offsets: offsets[{k}]: is {outer[bad]} at position {bad}; "
                    f"each offset is one of level {k + 1}, with the same end ({inner[-1]})"
                )
            made.append(offsets)
        made.append(singles[-1].offsets())
        return cls.from_offsets(*made)

    # -- properties ----------------------------------------------------------------------------------------------------

    def lengths(self, level: int = 0) -> Int64:
        """Return the lengths of a level, in sequences of the next level, or rows at the last.

        Parameters
        ----------
        level : int

        Returns
        -------
        ndarray
            int64, shape (num_sequences(level),), a new array.
        """
        offsets = lod_body.offsets_view(self, lod_body.normalize_level(self, level))
        lengths: Int64 = buffers.new_int64(len(offsets) - 1)
        kernels.lod.lengths_from_offsets(offsets, lengths)
        return lengths

    def row_offsets(self, level: int = 0) -> Int64:
        """Return the offsets of a level in rows.

        Parameters
        ----------
        level : int

        Returns
        -------
        ndarray
            int64, shape (num_sequences(level) + 1,).

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 1], [2, 0, 3]).row_offsets(0)
        array([0, 2, 5])
        """
        k = lod_body.normalize_level(self, level)
        offsets = lod_body.offsets_view(self, k)
        if k == self.num_levels - 1:
            return self.offsets(k)
        for inner in range(k + 1, self.num_levels):
            through = buffers.new_int64(len(offsets))
            kernels.lod.compose(offsets, lod_body.offsets_view(self, inner), through)
            offsets = through
        return through

    def segment_ids(self, level: int = 0, out: Int64 | None = None) -> Int64:
        """Return the number of the sequence of a level that contains each row.

        Parameters
        ----------
        level : int
        out : ndarray, optional
            int64, shape (num_rows,): the array to write to.

        Returns
        -------
        ndarray
            int64, shape (num_rows,).

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).segment_ids()
        array([0, 0, 2, 2, 2])
        """
        return self._per_row(kernels.lod.segment_ids, level, out, "segment_ids")

    def positions(self, level: int = 0, out: Int64 | None = None) -> Int64:
        """Return the position of each row in its sequence of a level, counted in rows.

        Parameters
        ----------
        level : int
        out : ndarray, optional
            int64, shape (num_rows,): the array to write to.

        Returns
        -------
        ndarray
            int64, shape (num_rows,).

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).positions()
        array([0, 1, 0, 1, 2])
        """
        return self._per_row(kernels.lod.positions, level, out, "positions")

    def _per_row(self, kernel: Any, level: int, out: Int64 | None, name: str) -> Int64:
        k = lod_body.normalize_level(self, level)
        offsets = lod_body.offsets_view(self, k) if k == self.num_levels - 1 else self.row_offsets(k)
        if out is None:
            place = out = buffers.new_int64(self.num_rows)
        else:
            place = check_out(f"LoD.{name}", out, (self.num_rows,), np.dtype(np.int64))
        kernel(offsets, place)
        return out

    # -- derived LoDs --------------------------------------------------------------------------------------------------

    def slice(self, start: int | None, stop: int | None, level: int = 0) -> LoD:
        """Return a slice of the sequences of a level, without the levels before it.

        Parameters
        ----------
        start, stop : int or None
            As in a Python slice: negative numbers count from the end, and bounds outside are clipped.
        level : int

        Returns
        -------
        LoD

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 0, 3]).slice(1, 3)
        LoD([] [xxx])
        """
        k = lod_body.normalize_level(self, level)
        first, last, _ = slice(start, stop).indices(self.num_sequences(k))
        return lod_body.cut(self, k, first, max(first, last))[0]

    def prefix(self, num_levels: int) -> LoD:
        """Return the first levels; the elements of the last of them become rows.

        Parameters
        ----------
        num_levels : int
            The number of levels, 0 .. num_levels.

        Returns
        -------
        LoD
            It shares memory; with all levels it is the same object.

        Raises
        ------
        LevelError
            If there are fewer levels.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 1], [2, 0, 3]).prefix(1)
        LoD([xx] [x])
        """
        count = integer("LoD.prefix: num_levels", num_levels)
        if not 0 <= count <= self.num_levels:
            raise LevelError(f"LoD.prefix: num_levels: is {count}; 0 .. {self.num_levels} is valid")
        return self if count == self.num_levels else lod_body.slice_levels(self, 0, count)

    def concat(self, *others: LoD) -> LoD:
        """Concatenate batches.

        Parameters
        ----------
        *others : LoD
            LoDs with as many levels.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If an argument has another number of levels.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2]).concat(LoD.from_lengths([0, 1]))
        LoD([xx] [] [x])
        """
        return concat_lods("LoD.concat", [self, *others])

    def append(self, *, lengths: npt.ArrayLike | None = None, offsets: npt.ArrayLike | None = None) -> LoD:
        """Add a finest level, whose sequences are the previous rows.

        Parameters
        ----------
        lengths : array_like of integers, shape (num_rows,)
        offsets : array_like of integers, shape (num_rows + 1,), in rows
            Exactly one of lengths and offsets must be given.

        Returns
        -------
        LoD

        Raises
        ------
        LoDError
            If the number of new sequences differs from the previous number of rows.

        Examples
        --------
        >>> from lodcore import LoD
        >>> LoD.from_lengths([2, 1]).append(lengths=[1, 0, 3])
        LoD([[x] []] [[xxx]])
        """
        if (lengths is None) == (offsets is None):
            raise LoDError("LoD.append: lengths, offsets: exactly one of the two is needed")
        fresh = LoD.from_lengths(lengths) if lengths is not None else LoD.from_offsets(offsets)  # type: ignore[arg-type]
        if fresh.num_sequences() != self.num_rows:
            argument = "offsets" if lengths is None else "lengths"
            raise LoDError(
                f"LoD.append: {argument}: make {fresh.num_sequences()} sequences; the last level counts {self.num_rows}"
            )
        levels = [self.offsets(k) for k in range(self.num_levels)]
        return lod_body.make_lod([*levels, fresh.offsets()], fresh.num_rows)

    # -- protocols -----------------------------------------------------------------------------------------------------

    def __copy__(self) -> LoD:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> LoD:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return LoD._restored, (self.num_rows, *(self.offsets(k) for k in range(self.num_levels)))

    @classmethod
    def _restored(cls, num_rows: int, *levels: Int64) -> LoD:
        """Make a LoD from pickled offsets, which are checked."""
        return cls.from_offsets(*levels, num_rows=num_rows)

    def __repr__(self) -> str:
        from lodcore.tensors.show import lod_text

        return lod_text(self)


lod_body.register(LoD)
