"""What a LoDTensor turns into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import check_out, check_size, integer, unharmed
from lodcore.base.threads import over_sequences
from lodcore.errors import DTypeError, LevelError, ShapeError
from lodcore.tensors import tensor_core
from lodcore.tensors.nested import nest

if TYPE_CHECKING:
    from lodcore.tensors.lod import LoD
    from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["NO_FILLING", "Conversions", "filling", "hold", "lines_of", "padded_length"]

Array = np.ndarray[Any, Any]

#: Zero bytes, of whatever size a row has.
NO_FILLING: Array = np.empty(0, np.uint8)
NO_FILLING.flags.writeable = False


class Conversions:
    """The methods of LoDTensor that give its content in another form."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def lod(self) -> LoD: ...  # noqa: D102
        @property
        def values(self) -> Array: ...  # noqa: D102
        def __len__(self) -> int: ...
        def _rows(self) -> Any: ...

    def tolist(self) -> list[Any]:
        """Give nested lists of Python numbers: the inverse of `lodcore.array`.

        Returns
        -------
        list
        """
        return nest(self.values.tolist(), self.lod)

    def to_arrays(self) -> list[Any]:
        """Give a list of one array a sequence (views), nested as the levels are.

        Returns
        -------
        list of ndarray, or of such lists
        """
        if not self.lod.num_levels:
            return list(self.values)
        last = tensor_core.new_tensor(self.values, self.lod._part(self.lod.num_levels - 1, self.lod.num_levels))
        return nest(list(last), self.lod._part(0, self.lod.num_levels - 1))

    def to_regular(self) -> Array:
        """Give a dense array (a view), where all sequences of each level are equally long.

        Returns
        -------
        ndarray
            shape (n, length, ...), an axis for each level.

        Raises
        ------
        ShapeError
            Naming the level and the first sequence that differs.
        """
        shape = [len(self)]
        for level in range(self.lod.num_levels):
            lengths = self.lod.lengths(level)
            if len(lengths) and (lengths != lengths[0]).any():
                j = int(np.argmax(lengths != lengths[0]))
                raise ShapeError(
                    f"LoDTensor.to_regular: sequence {j} of level {level} has length {lengths[j]}, the first one "
                    f"{lengths[0]}; use to_padded, to_arrays or .values"
                )
            shape.append(int(lengths[0]) if len(lengths) else 0)
        return self.values.reshape(*shape, *self.values.shape[1:])

    def to_padded(
        self,
        fill_value: Any = 0,
        side: str = "right",
        length: int | None = None,
        multiple_of: int = 1,
        return_mask: bool = False,
        out: Array | None = None,
        levels: int = 1,
    ) -> Any:
        """Give a dense array, the sequences of the last level filled up to one length.

        Parameters
        ----------
        fill_value : scalar or array_like of one row's shape
        side : {"right", "left"}
            Where the filling goes.
        length : int, optional
            Not below the longest sequence of the last level, whose length is taken if not given.
        multiple_of : int
            The length is rounded up to a multiple of it.
        return_mask : bool
            Give also a bool array, shape (n, padded_length), true where there is a row.
        out : ndarray, optional
            shape (n, padded_length, ...): where to write.
        levels : int
            How many of the last levels get an axis of their own: with 2, sequences of sequences are filled up with
            sequences to the longest, too.

        Returns
        -------
        ndarray, or (ndarray, ndarray)
            shape (n, padded_length, ...), n sequences of the last level; with more levels (n, longest, ...,
            padded_length, ...), n sequences of the first of them. The mask has the same first axes.

        Raises
        ------
        ValueError
            If `length` is below the longest, or `side`, `multiple_of` or `levels` are out of range.
        MemoryError
            If the result does not fit in the machine.

        Examples
        --------
        >>> import lodcore
        >>> lodcore.array([[1, 2], [], [3]]).to_padded(fill_value=-1, side="left")
        array([[ 1,  2],
               [-1, -1],
               [-1,  3]])
        >>> lodcore.array([[[1, 2], [3]], [], [[4]]]).to_padded(levels=2).shape
        (3, 2, 2)
        """
        where = "LoDTensor.to_padded"
        offsets = self.lod._view(self.lod._level(-1, where))
        sizes = None
        if type(levels) is not int or levels != 1:
            offsets, sizes = lines_of(where, self.lod, levels, side == "left")
        padded = kernels.offsets.max_length(offsets)
        if length is not None or type(multiple_of) is not int or multiple_of != 1:
            padded = padded_length(where, "length", padded, length, multiple_of)
        if side not in ("right", "left"):
            raise ValueError(f'{where}: side: is {side!r}; "right" or "left" is needed')
        values = self.values
        fill = filling("LoDTensor.to_padded: fill_value", fill_value, values)
        count = len(offsets) - 1
        shape = None if sizes is None else (*sizes, padded, *values.shape[1:])
        lines = out
        if shape is not None and out is not None:
            lines = check_out(where, out, shape, values.dtype, values).reshape(count, padded, *values.shape[1:])
        mask = None
        if return_mask:  # before anything is written
            check_size(where, count, padded, values.nbytes // max(1, len(values)) + 1)
            steps = np.arange(padded)
            lengths = np.diff(np.asarray(offsets))[:, None]
            mask = steps < lengths if side == "right" else steps >= padded - lengths
        dense: Array = buffers.new_lines(where, values, count, padded, lines)
        over_sequences(
            kernels.pad.pad_rows, "ro..s", self._rows(), offsets, fill, side == "left", buffers.as_lines(dense)
        )
        if out is not None:
            dense = out
        elif shape is not None:
            dense = dense.reshape(shape)
        if mask is None:
            return dense
        return dense, mask if shape is None else mask.reshape(*shape[: len(sizes or ())], padded)

    def flatten(self, level: int = 0) -> Any:
        """Remove a level; see `LoD.drop`.

        Parameters
        ----------
        level : int

        Returns
        -------
        LoDTensor, or ndarray if no level is left
            Shares the values.
        """
        lod = self.lod.drop(level)
        return tensor_core.new_tensor(self.values, lod) if lod.num_levels else self.values

    def to_packed(self) -> LoDTensor:
        """Make a copy that keeps nothing else alive, as a slice of a large batch does."""
        return self.clone()

    def clone(self) -> LoDTensor:
        """Make a copy that shares no values; the structure is shared."""
        rows = buffers.new_rows("LoDTensor.clone", self.values, self.lod.num_rows)
        unharmed(kernels.gather.join_rows([self.values], buffers.as_bytes(rows)))
        x: LoDTensor = tensor_core.new_of_class(type(self), rows, self.lod)
        return x


def lines_of(where: str, lod: LoD, levels: Any, left: bool) -> tuple[Array, list[int]]:
    """Give the lines of a dense array with an axis for each of the last levels: offsets in rows, and its first axes.

    Lines of sequences that are not there are empty; with `left` they come first.
    """
    depth = integer(f"{where}: levels", levels, bools=True)
    if not 1 <= depth <= lod.num_levels:
        raise LevelError(f"{where}: levels: is {depth}; 1 .. {lod.num_levels} is valid")
    first = lod.num_levels - depth
    bounds: Array = lod.offsets(first)
    sizes = [len(bounds) - 1]
    for k in range(first + 1, lod.num_levels):
        lengths = np.diff(bounds)[:, None]
        longest = int(lengths.max(initial=0))
        check_size(where, len(lengths), longest, 8)
        places = np.arange(longest) - (longest - lengths if left else 0)
        begins = bounds[:-1, None] + np.clip(places, 0, lengths)
        bounds = lod.offsets(k)[np.append(begins, bounds[-1])]
        sizes.append(longest)
    return bounds, sizes


def filling(where: str, given: Any, values: Array) -> Array:
    """Make one row, as bytes, of what sequences are filled up with; no bytes at all stand for zeros."""
    if type(given) is int and given == 0 and values.dtype.kind not in "SU":
        return NO_FILLING
    fill: Array = buffers.new_rows(where, values, 1)
    hold(where, given, fill)
    row: Array = buffers.as_bytes(fill)[0]
    return row


def hold(where: str, given: Any, row: Array) -> None:
    """Write what a caller gives for a row into it; what its dtype would make something else of is refused."""
    try:
        made = np.asarray(given)
    except ValueError:
        raise ShapeError(f"{where}: is nested unevenly; a number or a row is needed") from None
    fits = zip(made.shape[::-1], row.shape[::-1], strict=False)
    if made.ndim > row.ndim or any(size not in (1, wide) for size, wide in fits):
        raise ShapeError(f"{where}: has shape {made.shape}; a number or a row of shape {row.shape[1:]} is needed")
    kind = made.dtype.kind
    kept = (kind != "O" or isinstance(given, int)) and (kind != "c" or row.dtype.kind == "c")
    if kept:
        try:
            with np.errstate(all="ignore"):
                row[...] = given
            kept = _kept(made, row)
        except (ValueError, TypeError, OverflowError):
            kept = False
    if not kept:
        raise DTypeError(f"{where}: is {given!r}; {row.dtype} cannot hold it")


def _kept(given: Array, row: Array) -> bool:
    """Tell whether a row holds what was given: whole numbers and text exactly, and no infinity for a number."""
    kind = row.dtype.kind
    if kind in "biu":
        return bool((row == given).all())
    if kind in "US":
        return not row.dtype.itemsize or bool((row == given.astype(kind)).all())
    if kind in "fc" and given.dtype.kind in "fc":
        return bool((np.isfinite(row) | ~np.isfinite(given)).all())
    return True


def padded_length(where: str, name: str, longest: int, length: Any, multiple_of: Any = 1) -> int:
    """Find the length to which sequences are filled up; `name` is that of the argument that may tell it."""
    padded = longest if length is None else integer(f"{where}: {name}", length, bools=True)
    multiple = integer(f"{where}: multiple_of", multiple_of, bools=True)
    if padded < longest:
        raise ValueError(f"{where}: {name}: is {padded}; the longest sequence has {longest} rows")
    if multiple < 1:
        raise ValueError(f"{where}: multiple_of: is {multiple}; 1 or more is needed")
    return -(-padded // multiple) * multiple
