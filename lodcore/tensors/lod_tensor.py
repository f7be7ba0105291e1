"""LoDTensor: rows and their structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from lodcore import kernels
from lodcore.base import buffers
from lodcore.base.memory import flag, integer, is_iterable, unharmed
from lodcore.base.other_names import explained
from lodcore.errors import DTypeError, LevelError, LoDError, ShapeError
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.conversions import ConversionMethods, for_caller
from lodcore.tensors.joining import checked_lod, checked_lod_of_lengths
from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor_body import LoDTensorBody
from lodcore.tensors.methods import TensorMethods, method
from lodcore.tensors.nested import as_values, guarded_values, is_view, join_arrays, nest
from lodcore.tensors.padding import fill_row, is_left, lines_of, mask_of, padded, padded_lengths, unpadded
from lodcore.tensors.sequences import sequences_like
from lodcore.tensors.tensor import DenseTensor, Tensor, attributes_of, register_parents, take_attributes

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.tensors.typed_methods import S, T
else:
    S = Any

__all__ = ["LoDTensor", "of_class_of"]

Array = np.ndarray[Any, Any]


class LoDTensor(lod_tensor_body.LoDTensorBody[S], ConversionMethods, Tensor, TensorMethods):
    """Sequences of different lengths, nested to any depth: contiguous rows and their structure.

    Parameters
    ----------
    values : array_like, shape (num_rows, ...)
        The rows, with any dtype without Python objects. A C-contiguous array is shared and read-only in the tensor.
    lod : LoD
    share : bool, default False
        Whether to share the memory of `values`, or of a `numpy.memmap`, writable if it is, so that both see all
        changes.

    Raises
    ------
    LoDError
        If the structure does not have as many rows.
    DTypeError, ShapeError
        If the values are Python objects or a SparseTensor, or have no axis.

    Examples
    --------
    >>> import numpy as np
    >>> from lodcore import LoD, LoDTensor
    >>> x = LoDTensor(np.arange(5.0), LoD.from_lengths([2, 0, 3]))
    >>> x
    LoDTensor(3 sequences of lengths 0..3, float64: [[0., 1.], [], [2., 3., 4.]])
    >>> x[2]
    array([2., 3., 4.])
    """

    __module__ = "lodcore"

    __slots__ = ()

    instead_of_dense = None

    @overload
    def __new__(cls, values: npt.NDArray[T], lod: LoD, *, share: bool = False) -> LoDTensor[T]: ...
    @overload
    def __new__(cls, values: npt.ArrayLike, lod: LoD, *, share: bool = False) -> LoDTensor: ...
    def __new__(cls, values: npt.ArrayLike, lod: LoD = None, *, share: bool = False) -> LoDTensor:  # type: ignore[assignment]  # noqa: D102
        if share is False and (made := lod_tensor_body.over_plain(cls, values, lod)) is not None:
            return made
        share = flag("LoDTensor: share", share)
        if not isinstance(lod, LoD):
            given = "missing, or NoneType" if lod is None else type(lod).__name__
            raise DTypeError(
                f"LoDTensor: lod: is {given}; a LoD is needed: lodcore.array(lists) takes nested lists, "
                "LoDTensor.from_lengths(values, lengths) rows and their numbers"
            )
        rows = as_values("LoDTensor: values", values) if share else guarded_values("LoDTensor: values", values)
        if len(rows) != lod.num_rows:
            raise LoDError(f"LoDTensor: values: have {len(rows)} rows; the structure has {lod.num_rows}")
        if share and rows is not values and not is_view(rows, values):
            raise ValueError("LoDTensor: values: cannot be shared; a C-contiguous, aligned, native ndarray is needed")
        return lod_tensor_body.new_of_class(cls, rows, lod)

    # -- construction --------------------------------------------------------------------------------------------------

    @overload
    @classmethod
    def from_offsets(cls, values: npt.NDArray[T], *offsets: npt.ArrayLike) -> LoDTensor[T]: ...
    @overload
    @classmethod
    def from_offsets(cls, values: npt.ArrayLike, *offsets: npt.ArrayLike) -> LoDTensor: ...
    @classmethod
    def from_offsets(cls, values: npt.ArrayLike, *offsets: npt.ArrayLike) -> LoDTensor:
        """Make a LoDTensor from rows and offsets, coarse first; see `LoD.from_offsets`."""
        rows = guarded_values("LoDTensor.from_offsets: values", values)
        return lod_tensor_body.owned_of_class(cls, rows, checked_lod(offsets, len(rows)))

    from_row_splits = from_offsets

    @overload
    @classmethod
    def from_lengths(cls, values: npt.NDArray[T], *lengths: npt.ArrayLike) -> LoDTensor[T]: ...
    @overload
    @classmethod
    def from_lengths(cls, values: npt.ArrayLike, *lengths: npt.ArrayLike) -> LoDTensor: ...
    @classmethod
    def from_lengths(cls, values: npt.ArrayLike, *lengths: npt.ArrayLike) -> LoDTensor:
        """Make a LoDTensor from rows and lengths, coarse first; see `LoD.from_lengths`."""
        rows = guarded_values("LoDTensor.from_lengths: values", values)
        return lod_tensor_body.owned_of_class(cls, rows, checked_lod_of_lengths(lengths, len(rows)))

    @classmethod
    def from_segment_ids(
        cls, values: npt.NDArray[T] | npt.ArrayLike, ids: npt.ArrayLike, num_sequences: int | None = None
    ) -> LoDTensor[T]:
        """Make a LoDTensor from rows and the sequence number of each; see `LoD.from_segment_ids`."""
        rows = guarded_values("LoDTensor.from_segment_ids: values", values)
        lod = LoD.from_segment_ids(ids, num_sequences)
        if len(rows) != lod.num_rows:
            raise LoDError(f"LoDTensor.from_segment_ids: ids: has {lod.num_rows} entries; values has {len(rows)} rows")
        return lod_tensor_body.new_of_class(cls, rows, lod)

    @classmethod
    def from_starts_stops(
        cls, values: npt.NDArray[T] | npt.ArrayLike, starts: npt.ArrayLike, stops: npt.ArrayLike
    ) -> LoDTensor[T]:
        """Make a LoDTensor from ranges of rows, which may overlap and leave gaps.

        Parameters
        ----------
        values : array_like, shape (num_rows, ...)
        starts, stops : array_like of integers, shape (n,), in rows
            0 <= start <= stop <= num_rows.

        Returns
        -------
        LoDTensor
            n sequences, copied.

        Raises
        ------
        IndexError
            If a range exceeds the rows; the message names the first one.

        Examples
        --------
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_starts_stops([10, 11, 12, 13], [2, 0], [4, 3])
        LoDTensor(2 sequences of lengths 2..3, int64: [[12, 13], [10, 11, 12]])
        """
        where = "LoDTensor.from_starts_stops"
        rows = buffers.private(as_values(f"{where}: values", values))
        first = buffers.as_int64(starts, f"{where}: starts", IndexError)
        last = buffers.as_int64(stops, f"{where}: stops", IndexError)
        if len(first) != len(last):
            raise ShapeError(f"{where}: stops: has {len(last)} entries; starts has {len(first)}")
        first, last = buffers.private(first), buffers.private(last)
        ranges = buffers.new_int64(len(first), 2)
        bad = kernels.gather.check_ranges(first, last, len(rows), ranges)
        if bad >= 0:
            raise IndexError(
                f"{where}: starts, stops: are {first[bad]}, {last[bad]} at position {bad}; "
                f"0 <= start <= stop <= {len(rows)} is needed"
            )
        offsets = buffers.new_offsets(len(ranges) + 1)
        if kernels.gather.count_ranges(ranges, offsets) >= 0:
            raise MemoryError(f"{where}: the result has more than 2**63 - 1 rows")
        total = offsets.item(len(ranges))
        taken = buffers.new_rows(where, rows, total)
        kernels.gather.copy_ranges(buffers.as_bytes(rows), ranges, buffers.as_bytes(taken))
        return lod_tensor_body.new_of_class(cls, taken, lod_body.make_lod([offsets], total))

    @classmethod
    def from_arrays(cls, arrays: Any, dtype: npt.DTypeLike | None = None, *, out: Array | None = None) -> LoDTensor:
        """Make a LoDTensor from one array per sequence, which are copied.

        Parameters
        ----------
        arrays : list of array_like, shape (length, ...)
            Arrays with equal row shapes.
        dtype : dtype_like, optional
            By default the dtype to which NumPy promotes; float64 without arrays.
        out : ndarray, optional
            shape (num_rows, ...): the array to write the rows to.

        Returns
        -------
        LoDTensor
            Has one level.

        Raises
        ------
        ShapeError, DTypeError
            If an array does not fit; the message names it.

        Examples
        --------
        >>> import numpy as np
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_arrays([np.zeros((2, 3)), np.ones((1, 3))]).shape
        (2, None, 3)
        """
        if type(arrays) is not list:
            if isinstance(arrays, (str, bytes)) or not is_iterable(arrays):
                raise DTypeError(f"LoDTensor.from_arrays: arrays: is {type(arrays).__name__}; a list is needed")
            arrays = list(arrays)
        rows, offsets = join_arrays("LoDTensor.from_arrays", arrays, dtype, out)
        x: LoDTensor = lod_tensor_body.new_of_class(cls, rows, lod_body.make_lod([offsets], len(rows)))
        lod_tensor_body.hand_out(x, out)
        return x

    @classmethod
    def from_padded(
        cls,
        dense: npt.NDArray[T] | npt.ArrayLike,
        lengths: npt.ArrayLike | LoDTensor | None = None,
        *,
        mask: npt.ArrayLike | None = None,
        side: Literal["right", "left"] = "right",
    ) -> LoDTensor[T]:
        """Make a LoDTensor from a padded array.

        Parameters
        ----------
        dense : array_like, shape (n, padded_length, ...)
            With several levels, shape (n, longest, ..., padded_length, ...).
        lengths : array_like of integers, shape (n,), or LoDTensor of integers, optional
            The number of rows of each line. A LoDTensor has the lengths of the last level, nested like the coarser
            ones: `x.num(-1)` of the tensor before padding. A bool array is used as the mask.
        mask : array_like of bool, or of integers that are 0 or 1, shape (n, padded_length), optional
            Instead of lengths: selects the rows where it is true, in any positions, as the attention mask of a
            tokenizer does. With more axes, the result has more levels; a line of lines ends after its last row, so
            empty sequences at its end are lost.
        side : {"right", "left"}
            The side of the padding.

        Returns
        -------
        LoDTensor
            n sequences, copied.

        Raises
        ------
        ShapeError, DTypeError, LoDError
            If a length, or the shape of the mask, does not fit; the message names it.
        ValueError
            If not exactly one of lengths and mask is given, or side is unknown.

        Examples
        --------
        >>> import lodcore
        >>> from lodcore import LoDTensor
        >>> LoDTensor.from_padded([[1, 2, 0], [3, 0, 0]], [2, 1])
        LoDTensor(2 sequences of lengths 1..2, int64: [[1, 2], [3]])
        >>> x = lodcore.array([[[1, 2], []], [], [[4]]])
        >>> LoDTensor.from_padded(x.to_padded(levels=2), x.num(-1)).tolist()
        [[[1, 2], []], [], [[4]]]
        """
        rows, lod = unpadded("LoDTensor.from_padded", dense, lengths, mask, side)
        return lod_tensor_body.new_of_class(cls, rows, lod)

    # -- properties ----------------------------------------------------------------------------------------------------

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The lengths of the outermost level: int64."""
        return self.lod.lengths(0)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The ragged shape: the number of outermost sequences, None for each ragged axis, the shape of a row."""
        return (len(self), *(None,) * self.lod.num_levels, *self.values.shape[1:])

    @property
    def size(self) -> int:
        """The number of values."""
        return int(self.values.size)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the values."""
        return int(self.values.nbytes)

    def equals(self, other: Any) -> bool:
        """Return whether another LoDTensor has the same structure, dtype and values (nan equals nan).

        Parameters
        ----------
        other : object
            Nested lists are accepted, too; they have no dtype, so `x.equals(x.tolist())` is true unless values are NaT,
            or dates that Python does not have, such as those in nanoseconds.

        Returns
        -------
        bool

        Examples
        --------
        >>> import lodcore
        >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
        >>> x.equals([[1, 2], [], [3]]), x.equals([[1, 2, 3]])
        (True, False)
        """
        listed = isinstance(other, (list, tuple))
        if listed:
            other = sequences_like(other, self.num_levels, self.values.shape[1:], self.dtype)
        if not isinstance(other, LoDTensorBody) or self.lod != other.lod:
            return False
        mine, theirs = self.values, other.values
        if not listed and mine.dtype != theirs.dtype:
            return False
        if mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes():
            return True
        return np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fcmM" and theirs.dtype.kind in "fcmM")

    # -- conversions ---------------------------------------------------------------------------------------------------

    def tolist(self) -> list[Any]:
        """Return nested lists of Python objects.

        Returns
        -------
        list
            `lodcore.array` turns it back into the same sequences if each row is a number, text or a date; a dtype that
            NumPy does not choose by itself must be given again. Rows with axes are lists, records tuples, NaT is None,
            and dates that Python does not have, such as those in nanoseconds, are integers.
        """
        return nest(lod_tensor_body.private_values(self).tolist(), self.lod)

    def to_arrays(self) -> list[Any]:
        """Return a list of one array per sequence (views), nested as the levels are.

        Returns
        -------
        list of ndarray, or of such lists
        """
        lod, values = self.lod, lod_tensor_body.private_values(self)
        if not lod.num_levels:
            return list(values)
        last = lod_tensor_body.new_tensor(values, lod_body.slice_levels(lod, lod.num_levels - 1, lod.num_levels))
        return nest(list(last), lod_body.slice_levels(lod, 0, lod.num_levels - 1))

    def to_regular(self) -> npt.NDArray[S]:
        """Return a dense array (a view) if all sequences of each level are equally long.

        Returns
        -------
        ndarray
            shape (n, length, ...), with one axis per level.

        Raises
        ------
        ShapeError
            If lengths differ; the message names the level and the first sequence that differs.
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
        values = lod_tensor_body.private_values(self)
        return values.reshape(*shape, *values.shape[1:])

    @overload
    def to_padded(
        self,
        fill_value: npt.ArrayLike = 0,
        side: Literal["right", "left"] = "right",
        length: int | tuple[int | None, ...] | None = None,
        multiple_of: int | tuple[int, ...] = 1,
        return_mask: Literal[False] = False,
        out: Array | None = None,
        levels: int = 1,
        *,
        min_length: int | tuple[int | None, ...] | None = None,
        mode: Literal["constant", "replicate"] = "constant",
        keep_levels: Literal[False] = False,
    ) -> npt.NDArray[S]: ...
    @overload
    def to_padded(
        self,
        fill_value: npt.ArrayLike = 0,
        side: Literal["right", "left"] = "right",
        length: int | tuple[int | None, ...] | None = None,
        multiple_of: int | tuple[int, ...] = 1,
        *,
        return_mask: Literal[True],
        out: Array | None = None,
        levels: int = 1,
        min_length: int | tuple[int | None, ...] | None = None,
        mode: Literal["constant", "replicate"] = "constant",
        keep_levels: Literal[False] = False,
    ) -> tuple[npt.NDArray[S], npt.NDArray[np.bool_]]: ...
    @overload
    def to_padded(
        self,
        fill_value: npt.ArrayLike = 0,
        side: Literal["right", "left"] = "right",
        length: int | tuple[int | None, ...] | None = None,
        multiple_of: int | tuple[int, ...] = 1,
        return_mask: bool = False,
        out: Array | None = None,
        levels: int = 1,
        *,
        min_length: int | tuple[int | None, ...] | None = None,
        mode: Literal["constant", "replicate"] = "constant",
        keep_levels: Literal[True],
    ) -> Any: ...
    def to_padded(
        self,
        fill_value: Any = 0,
        side: str = "right",
        length: int | tuple[int | None, ...] | None = None,
        multiple_of: int | tuple[int, ...] = 1,
        return_mask: bool = False,
        out: Array | None = None,
        levels: int = 1,
        *,
        min_length: int | tuple[int | None, ...] | None = None,
        mode: str = "constant",
        keep_levels: bool = False,
    ) -> Any:
        """Return a dense array with the sequences of the last level padded to one length.

        Parameters
        ----------
        fill_value : scalar or array_like of one row's shape
            For dates and durations a number counts units, so 0 is 1970-01-01; for text it is written out, as "0".
        side : {"right", "left"}
            The side of the padding.
        length : int, optional
            The length, at least that of the longest sequence of the last level, which is the default. A tuple has one
            entry for each of `levels`, coarse ones first.
        multiple_of : int, or tuple of int
            The length is rounded up to a multiple of this number.
        return_mask : bool
            Whether to return a bool array of shape (n, padded_length), too, which is true where there is a row.
        out : ndarray, optional
            shape (n, padded_length, ...): the array to write to.
        levels : int
            How many of the last levels become axes: with 2, sequences of sequences are also padded with sequences, to
            the longest.
        min_length : int, or tuple of int, optional
            The minimum length.
        mode : {"constant", "replicate"}
            The padding: `fill_value`, or the last row of the sequence (the first one, on the left); an empty sequence
            is padded with `fill_value` in both cases.
        keep_levels : bool
            Whether to return a LoDTensor with the levels before these, whose rows are the padded sequences.

        Returns
        -------
        ndarray, or (ndarray, ndarray)
            shape (n, padded_length, ...) for n sequences of the last level; with more levels (n, longest, ...,
            padded_length, ...) for n sequences of the first of them. The mask has the same first axes. LoDTensors if
            levels are kept and exist.

        Raises
        ------
        ValueError
            If `length` is below the longest, or `side`, `mode`, `multiple_of` or `levels` are out of range.
        ShapeError
            If a tuple does not have one entry for each of `levels`.
        MemoryError
            If the result does not fit in memory.

        Examples
        --------
        >>> import lodcore
        >>> lodcore.array([[1, 2], [], [3]]).to_padded(fill_value=-1, side="left")
        array([[ 1,  2],
               [-1, -1],
               [-1,  3]])
        >>> x = lodcore.array([[[1, 2], [3]], [], [[4]]])
        >>> x.to_padded(levels=2, min_length=(3, 0)).shape
        (3, 3, 2)
        >>> x.to_padded(mode="replicate", keep_levels=True)
        LoDTensor(3 sequences of lengths 0..2, rows of shape (2,), int64: [[[1, 2], [3, 3]], [], [[4, 4]]])
        """
        where, lod, values = "LoDTensor.to_padded", self.lod, lod_tensor_body.private_values(self)
        depth = 1 if type(levels) is int and levels == 1 else integer(f"{where}: levels", levels, bools=True)
        first = lod_body.normalize_level(lod, -1, where) + 1 - depth
        if not 0 <= first < lod.num_levels:
            raise LevelError(f"{where}: levels: is {depth}; 1 .. {lod.num_levels} is valid")
        if depth == 1 and length is None and min_length is None and type(multiple_of) is int and multiple_of == 1:
            sizes = [kernels.lod.max_length(lod_body.offsets_view(lod, first))]
        else:
            sizes = padded_lengths(where, lod, first, length, multiple_of, min_length)
        left = is_left(where, side)
        if not isinstance(mode, str) or mode not in ("constant", "replicate"):
            raise ValueError(f'{where}: mode: is {mode!r}; "constant" or "replicate" is needed')
        fill = fill_row("LoDTensor.to_padded: fill_value", fill_value, values)
        offsets = lod_body.offsets_view(lod, first) if depth == 1 else lines_of(where, lod, first, sizes[:-1], left)
        shape = (lod.num_sequences(first), *sizes)
        mask: Any = None
        if flag(f"{where}: return_mask", return_mask):  # checked before anything is written
            mask = mask_of(where, offsets, sizes[-1], left, values.nbytes // max(1, len(values))).reshape(shape)
        dense: Any = padded(where, self, offsets, shape, fill, left, mode == "replicate", out)
        if flag(f"{where}: keep_levels", keep_levels) and first:
            upper = lod_body.slice_levels(lod, 0, first)
            dense = lod_tensor_body.new_tensor(dense, upper)
            mask = mask if mask is None else lod_tensor_body.new_tensor(mask, upper)
        return dense if mask is None else (dense, mask)

    def to_packed(self) -> LoDTensor[S]:
        """Return a copy that does not keep other memory alive, unlike a slice of a large batch."""
        return self.clone()

    def clone(self) -> LoDTensor[S]:
        """Return a copy of the values; the structure is shared."""
        values = lod_tensor_body.private_values(self)
        rows = buffers.new_rows("LoDTensor.clone", values, self.lod.num_rows)
        unharmed(kernels.gather.join_rows([values], buffers.as_bytes(rows)))
        return of_class_of(self, rows, self.lod)

    # -- protocols -----------------------------------------------------------------------------------------------------

    __hash__ = None  # type: ignore[assignment]

    @method
    def _select(self, key: Any) -> Any: ...  # x[key] for keys that the compiled body does not handle

    def __bool__(self) -> bool:
        if self.values.size == 1:
            return bool(self.values.item())
        raise ValueError(
            "LoDTensor: the truth value of several values, or of none, is ambiguous; use x.any(), x.all(), len(x), "
            f"x.size or x.equals(y){for_caller()}"
        )

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[S]:
        if self.lod.num_levels:
            table = ""
            if self.dtype.kind in "iu":  # perhaps numbers of rows, for np.take or an index
                table = ", and of a table of rows lookup_table(table, x), or x.with_values(table[x.values])"
            raise ShapeError(
                "LoDTensor: sequences of different lengths are not a dense array; use to_padded (padded), to_regular "
                f"(all equally long), to_arrays (one array per sequence) or .values (all rows){table}{for_caller()}"
            )
        return np.array(self.values, dtype, copy=copy)

    def __copy__(self) -> LoDTensor[S]:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> LoDTensor[S]:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        made = type(self)._restored, (self.values, self.lod)
        attributes = attributes_of(self) if type(self) is not LoDTensor else {}
        return (*made, (None, attributes)) if attributes else made

    @classmethod
    def _restored(cls, values: Array, lod: LoD) -> LoDTensor:
        """Make a tensor from pickled data, which are checked."""
        made = LoDTensor(values, lod, share=type(values) is np.ndarray)
        return made if cls is LoDTensor else lod_tensor_body.new_of_class(cls, made.values, made.lod)

    if not TYPE_CHECKING:  # a type checker knows all names

        def __getattr__(self, name: str) -> Any:
            """Raise the error of Python, or of a property, with what to use instead of a name of another library."""
            try:
                return object.__getattribute__(self, name)
            except AttributeError as error:
                raise explained(error, self, name) from None

    def __repr__(self) -> str:
        from lodcore.tensors.show import tensor_text

        return tensor_text(self)

    def _repr_html_(self) -> str:
        from lodcore.tensors.show import tensor_html

        return tensor_html(self)


def _general_item(x: LoDTensor, key: Any) -> Any:
    """Return x[key] for a key that the compiled body does not handle."""
    return LoDTensor._select(x, key)  # found sooner in the class than as a method of x


lod_tensor_body.register(LoDTensor, _general_item)


register_parents(LoDTensor, DenseTensor)


def of_class_of(x: LoDTensor, rows: Array, lod: LoD) -> LoDTensor:
    """Make a tensor of the class of another one, with its attributes, over a private array."""
    made = lod_tensor_body.owned_of_class(type(x), rows, lod)
    if type(x) is not LoDTensor:
        take_attributes(made, x)
    return made
