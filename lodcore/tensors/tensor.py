"""Tensors: the interface, and dense and nested ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.tensors import core, tensor_core
from lodcore.tensors.doors import Doors, taken
from lodcore.tensors.lod import LoD
from lodcore.tensors.making import Makers, guarded_values
from lodcore.tensors.nested import (
    DEEPEST,
    as_array,
    as_dtype,
    as_values,
    has_leaves,
    join_arrays,
    levels_and_leaves,
    values_of_leaves,
)
from lodcore.tensors.padding import Conversions
from lodcore.tensors.structure import concat_lods

if TYPE_CHECKING:
    import numpy.typing as npt

    from lodcore.numpy_api.methods import Face
else:
    Face = object  # `lodcore.numpy_api.methods` attaches it when a method is first used

__all__ = ["DenseTensor", "LoDTensor", "Spec", "Tensor", "array", "as_nested", "as_nested_index", "exactly"]

Array = np.ndarray[Any, Any]


class Tensor(ABC):
    """What all tensors have: a shape, a dtype, and a copy of their own.

    `numpy.ndarray` is registered as one. A new kind of tensor implements this interface.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int | None, ...]:
        """Lengths of the axes, None where they differ."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    @abstractmethod
    def clone(self) -> Tensor:
        """Make a copy that shares no values."""


Tensor.register(np.ndarray)


class DenseTensor(Tensor):
    """The holder of a dense array.

    Parameters
    ----------
    values : array_like

    Examples
    --------
    >>> from lodcore import DenseTensor
    >>> DenseTensor([[1, 2], [3, 4]]).shape
    (2, 2)
    """

    __slots__ = ("values",)

    def __init__(self, values: npt.ArrayLike) -> None:
        self.values: Array = as_array("DenseTensor: values", values)
        if self.values.dtype.hasobject:
            raise DTypeError(f"DenseTensor: values: have dtype {self.values.dtype}; Python objects have no fixed size")

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        shape: tuple[int, ...] = self.values.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    def clone(self) -> DenseTensor:
        """Make a copy that shares no values."""
        return DenseTensor(self.values.copy())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __repr__(self) -> str:
        return f"DenseTensor(shape={self.shape}, dtype={self.dtype})"


class Spec(NamedTuple):
    """What is known of a tensor before it has values.

    Parameters
    ----------
    shape : tuple of int or None
        Shape of the values, None for a number of rows that is not known yet.
    dtype : dtype
    num_levels : int
    kind : type
        The class of the tensor.
    """

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]
    num_levels: int = 0
    kind: type = np.ndarray


class LoDTensor(tensor_core.LoDTensorBody, Makers, Conversions, Doors, Tensor, Face):
    """Sequences of different lengths, nested to any depth: the rows behind each other, and their structure.

    Parameters
    ----------
    values : array_like, shape (num_rows, ...)
        Any dtype without Python objects. Shared and read-only where it is a C-contiguous array.
    lod : LoD
    share : bool, default False
        Keep `values` itself, writable if it is: what one side writes the other sees.

    Raises
    ------
    LoDError
        If the structure does not have as many rows.
    DTypeError, ShapeError
        If the values are Python objects, or have no axis.

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

    __slots__ = ()

    def __new__(cls, values: npt.ArrayLike, lod: LoD, *, share: bool = False) -> LoDTensor:  # noqa: D102
        if not isinstance(lod, LoD):
            raise DTypeError(f"LoDTensor: lod: is {type(lod).__name__}; a LoD is needed")
        rows = as_values("LoDTensor: values", values) if share else guarded_values("LoDTensor: values", values)
        if len(rows) != lod.num_rows:
            raise LoDError(f"LoDTensor: values: have {len(rows)} rows; the structure has {lod.num_rows}")
        if share and rows is not values:
            raise ValueError("LoDTensor: values: cannot be shared; a C-contiguous, aligned, native ndarray is needed")
        x: LoDTensor = tensor_core.new_of_class(cls, rows, lod)
        return x

    # -- questions -----------------------------------------------------------------------------------------

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Lengths of the outermost level: int64."""
        lengths: npt.NDArray[np.int64] = self.lod.lengths(0)
        return lengths

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The ragged shape: number of outermost sequences, None for each ragged axis, shape of a row."""
        return (len(self), *(None,) * self.lod.num_levels, *self.values.shape[1:])

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.values.size)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return int(self.values.nbytes)

    def equals(self, other: Any) -> bool:
        """Tell whether another LoDTensor has the same structure, dtype and values (nan equals nan).

        Parameters
        ----------
        other : object

        Returns
        -------
        bool
        """
        if not isinstance(other, LoDTensor) or self.lod != other.lod or self.dtype != other.dtype:
            return False
        mine, theirs = self.values, other.values
        if mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes():
            return True
        return np.array_equal(mine, theirs, equal_nan=self.dtype.kind in "fcmM")

    # -- protocols -----------------------------------------------------------------------------------------

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if self.values.size == 1:
            return bool(self.values.item())
        raise ValueError(
            "LoDTensor: the truth value of several values, or of none, is ambiguous; use x.any(), x.all(), len(x), "
            "x.size or x.equals(y)"
        )

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        if self.lod.num_levels:
            raise ShapeError(
                "LoDTensor: sequences of different lengths are no dense array; use to_padded (filled up), to_regular "
                "(all equally long), to_arrays (one array a sequence) or .values (all rows)"
            )
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __copy__(self) -> LoDTensor:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> LoDTensor:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.values, self.lod, *[type(self)] * (type(self) is not LoDTensor))

    def __repr__(self) -> str:
        from lodcore.tensors.show import tensor_text

        return tensor_text(self)

    def _repr_html_(self) -> str:
        from lodcore.tensors.show import tensor_html

        return tensor_html(self)


def _restore(values: Array, lod: LoD, kind: type[LoDTensor] | None = None) -> LoDTensor:
    """Make a LoDTensor, or one of a subclass, of what `pickle` kept, checking all of it."""
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, LoDTensor)):
        raise DTypeError(f"LoDTensor: kind: is {kind!r}; a subclass of LoDTensor is needed")
    return (kind or LoDTensor)(values, lod, share=type(values) is np.ndarray)


def array(obj: Any, dtype: npt.DTypeLike | None = None, num_levels: int | None = None) -> LoDTensor:
    """Make a LoDTensor of nested lists, copied.

    Parameters
    ----------
    obj : list
        The batch. Each list below is a sequence; an ndarray is one sequence of rows. The width of a row comes from
        ndarrays only, never from lengths that happen to be equal. `[]` is zero sequences. A LoDTensor is copied; in a
        list each is one sequence, with levels of its own. Arrays of Arrow, torch, awkward, pandas, Polars,
        TensorFlow, SciPy and thinc come in through their doors, such as `lodcore.from_torch`, which share memory
        where they can.
    dtype : dtype_like, optional
        What NumPy finds, if not given; float64 for no rows.
    num_levels : int, optional
        Must agree with the depth of the lists, and decides where empty lists leave it open.

    Returns
    -------
    LoDTensor

    Raises
    ------
    ShapeError, LoDError, DTypeError
        Naming the entry that does not fit.

    Examples
    --------
    >>> import lodcore
    >>> lodcore.array([[1, 2, 3], [], [4, 5]])
    LoDTensor(3 sequences of lengths 0..3, int64: [[1, 2, 3], [], [4, 5]])
    >>> lodcore.array([[[1, 2], []], [[3]]]).shape
    (2, None, None)
    """
    where = "lodcore.array"
    if isinstance(obj, LoDTensor):
        made = _as_asked(where, obj, dtype, num_levels)
        if made is obj:
            return obj.clone()
        return made
    if isinstance(obj, np.ndarray) and obj.dtype == object and obj.ndim == 1:
        obj = obj.tolist()
    if not isinstance(obj, (list, tuple, np.ndarray)) or hasattr(obj, "_fields"):
        found = taken(obj)
        if isinstance(found, LoDTensor):
            return _as_asked(where, found, dtype, num_levels)
        if found is not None:
            raise DTypeError(f"{where}: obj: makes {type(found).__name__}, no LoDTensor; take it through its own door")
    if not isinstance(obj, (list, tuple)):
        hint = ", as LoDTensor.from_arrays(obj) makes of one array" if isinstance(obj, np.ndarray) else ""
        raise DTypeError(f"{where}: obj: is {type(obj).__name__}; a list of sequences is needed{hint}")
    if num_levels is not None and (not hasattr(num_levels, "__index__") or not 1 <= num_levels <= DEEPEST):
        raise LoDError(f"{where}: num_levels: is {num_levels!r}; 1 .. {DEEPEST} is valid")
    return _of_lists(f"{where}: obj", obj, as_dtype(where, dtype), num_levels)


def _as_asked(where: str, x: LoDTensor, dtype: npt.DTypeLike | None, num_levels: int | None) -> LoDTensor:
    """Give a LoDTensor another dtype, if that is asked for, and check its levels."""
    if num_levels is not None and num_levels != x.num_levels:
        raise LoDError(f"{where}: obj: has num_levels {x.num_levels}; {num_levels} is given")
    made = as_dtype(where, dtype)
    if made is None or made == x.dtype:
        return x
    converted: LoDTensor = tensor_core.new_tensor(x.values.astype(made), x.lod)
    return converted


def _of_lists(where: str, nested: Any, dtype: np.dtype[Any] | None = None, num_levels: int | None = None) -> LoDTensor:
    """Make a LoDTensor of nested lists."""
    if len(nested) and isinstance(nested[0], LoDTensor):
        return _of_sequences(where, list(nested), dtype, num_levels)
    levels, leaves, arrays = levels_and_leaves(where, list(nested), num_levels)
    if arrays:
        values, offsets = join_arrays(where, leaves, dtype)
        levels.append(offsets)
    else:
        values = values_of_leaves(where, leaves, dtype)
        if values.dtype.hasobject:
            raise DTypeError(f"{where}: its values make dtype {values.dtype}; Python objects have no fixed size")
    x: LoDTensor = tensor_core.new_tensor(values, core.make_lod(levels, len(values)))
    return x


def _of_sequences(where: str, xs: list[Any], dtype: np.dtype[Any] | None, num_levels: int | None) -> LoDTensor:
    """Make a LoDTensor of sequences that have levels of their own, as iterating over a deeper one gives them."""
    for j, x in enumerate(xs):
        if not isinstance(x, LoDTensor):
            raise ShapeError(f"{where}: entry {j} is {type(x).__name__}, entry 0 LoDTensor; all are of one kind")
        if x.num_levels != xs[0].num_levels:
            raise LoDError(f"{where}: entry {j} has num_levels {x.num_levels}, entry 0 {xs[0].num_levels}")
    if num_levels not in (None, xs[0].num_levels + 1):
        raise LoDError(f"{where}: has num_levels {xs[0].num_levels + 1}; {num_levels} is given")
    inner = concat_lods(where, [x.lod for x in xs])
    outer = LoD.from_lengths([len(x) for x in xs]).offsets()
    values, _ = join_arrays(where, [x.values for x in xs], dtype)
    levels = [outer, *(inner.offsets(k) for k in range(inner.num_levels))]
    made: LoDTensor = tensor_core.new_tensor(values, core.make_lod(levels, len(values)))
    return made


def exactly(x: LoDTensor) -> LoDTensor:
    """Take a LoDTensor; one of a subclass, which may say anything of itself, as what it is made of."""
    return x if type(x) is LoDTensor else tensor_core.body_of(x)


def as_nested(where: str, x: Any) -> LoDTensor:
    """Take a LoDTensor, or make one of nested lists."""
    if isinstance(x, LoDTensor):
        return exactly(x)
    if isinstance(x, (list, tuple)):
        return _of_lists(where, x)
    raise DTypeError(f"{where}: is {type(x).__name__}; a LoDTensor or nested lists are needed")


def as_nested_index(where: str, x: Any) -> LoDTensor:
    """Take a LoDTensor of integers, or make one of nested lists: of int64, if there is nothing in them."""
    made = as_nested(where, x)
    if isinstance(x, LoDTensor) or made.num_rows or has_leaves(x):
        return made
    return tensor_core.new_tensor(np.empty(0, np.int64), made.lod)


class _Later:
    """A method that `lodcore.numpy_api.methods` puts in the place of this when one of them is first used."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        import_module("lodcore.numpy_api.methods")
        return getattr(owner if instance is None else instance, self.name)


#: Operators of Python that have a reflected form, and other special methods.
BINARY = "add sub mul truediv matmul floordiv mod divmod pow and or xor lshift rshift"
SPECIAL = "lt le gt ge eq ne neg pos abs invert round delitem contains setitem array_ufunc array_function"
METHODS = (
    "_select sum prod mean var std max min any all argmax argmin clip cumsum round astype copy "
    "per_sequence with_values pool softmax logsumexp topk expand expand_as reverse gather"
)
FACE = [
    *(f"__{form}{name}__" for name in BINARY.split() for form in ("", "r")),
    *(f"__{name}__" for name in SPECIAL.split()),
    *METHODS.split(),
]
for _name in FACE:
    setattr(LoDTensor, _name, _Later(_name))
tensor_core.register(LoDTensor)
