"""VarArray: a TensorArray with the methods of the design of dynamic RNN."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, recorder
from lodcore.base.later import operators
from lodcore.errors import GraphError
from lodcore.graph.variable import Variable, resolved
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.methods import TensorMethods
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["Slot", "VarArray"]


def _as_variable(name: str, says: str) -> property:
    """Return a property that reads the property of the slot's value."""
    return property(lambda self: getattr(self.tensor(), name), doc=says)


class Slot(Symbol, TensorMethods):
    """A slot of a VarArray, made by `VarArray.get`: read when an operator uses it, written by `update`."""

    __module__ = "lodcore.graph"

    __slots__ = ("_array", "_boot", "_index", "_read", "_value")

    def __init__(self, array: VarArray, index: Any, boot: Any) -> None:
        self._array, self._index, self._boot = array, index, boot
        self._value: Any = None
        self._read: Any = None  # the Block in which it was read, and the version of the array there

    def current(self) -> Any:
        """Read the slot; while recording, once for each version of the array.

        Raises
        ------
        IndexError
            If the slot is a hole.
        """
        block = recorder([self._array, self._index, self._boot])
        if block is None:
            return operators.tensor_array_read(self._array, self._index, self._boot)
        now = block, block.known(self._array)
        if self._value is None or self._read is None or any(x is not y for x, y in zip(self._read, now, strict=True)):
            self._value, self._read = operators.tensor_array_read(self._array, self._index, self._boot), now
        return self._value

    def tensor(self) -> Any:
        """Read the slot; return a number as an array without axes."""
        found = self.current()
        return found if hasattr(found, "dtype") else np.asarray(found)

    def get(self) -> Any:
        """Return the value itself."""
        found = self.current()
        return found.get() if isinstance(found, Variable) else found

    def update(self, value: Any) -> None:
        """Write the slot."""
        operators.tensor_array_write(self._array, self._index, resolved(value))

    shape = _as_variable("shape", "The shape of the value, with None for each ragged axis.")
    dtype = _as_variable("dtype", "The dtype of the values.")
    ndim = _as_variable("ndim", "The number of axes, levels included.")
    size = _as_variable("size", "The number of values.")
    lod = _as_variable("lod", "The LoD of the value.")
    lengths = _as_variable("lengths", "The lengths of the outermost sequences.")
    num_levels = property(lambda self: getattr(self.tensor(), "num_levels", 0), doc="The number of levels.")

    def __bool__(self) -> bool:
        return bool(self.tensor())

    def __int__(self) -> int:
        return int(self.tensor())

    def __float__(self) -> float:
        return float(self.tensor())

    def __index__(self) -> int:
        found = self.current()
        return operator.index(found.item() if isinstance(found, np.ndarray) else found)

    def __len__(self) -> int:
        return len(self.tensor())

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.asarray(self.tensor(), *args, **kwargs)

    def __repr__(self) -> str:
        return f"Slot({self._index!r} of {self._array!r})"


class VarArray(TensorArray):
    """A TensorArray with further methods: segment a tensor into steps, get and update slots.

    References
    ----------
    "Design of Dynamic RNN with Beamsearch" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph import VarArray
    >>> steps = VarArray().segment(lodcore.array([[1, 2], [], [3, 4, 5]]))
    >>> int(steps.size()), steps.get(0).get()
    (3, array([3, 1]))
    """

    __module__ = "lodcore"

    __slots__ = ("_level",)

    _kind = "VarArray"

    @property
    def level(self) -> int | None:
        """The level at which a LoDTensor was segmented, or None."""
        return getattr(self, "_level", None)

    def _take(self, other: TensorArray) -> None:
        super()._take(other)
        self._level = getattr(other, "level", None)

    def __reduce__(self) -> tuple[Any, ...]:
        return *super().__reduce__(), self.level

    def __setstate__(self, level: Any) -> None:
        self._level = operator.index(level)

    def segment(self, x: Any, level: int = 0, sort_by_length: bool = True) -> VarArray:
        """Cut a dense tensor along axis 0, or the sequences of a LoDTensor into steps.

        Parameters
        ----------
        x : tensor
        level : int
            The level of a LoDTensor.
        sort_by_length : bool, default True

        Returns
        -------
        VarArray
            The array itself.

        Raises
        ------
        DTypeError
            If x is a SparseTensor.
        """
        x = resolved(x)
        levels = x.num_levels if isinstance(x, (LoDTensor, Variable)) else int(isinstance(x, (list, tuple)))
        if levels:
            self.unpack(x, level, sort_by_length)
            self._level = level
        else:
            self.unstack(x)
        return self

    @property
    def indices_map(self) -> Any:
        """The map that `pack` needs to join the steps to sequences."""
        return self.rank

    def get(self, index: Any, boot: Any = None) -> Slot:
        """Return a slot.

        Parameters
        ----------
        index : Variable or int
        boot : tensor or number, optional
            The value if and only if the index is negative.

        Returns
        -------
        Slot
        """
        return Slot(self, index, boot)

    def update(self, index: Any, value: Any) -> None:
        """Write a slot."""
        self.write(index, resolved(value))

    def pack(self, level: Any, indices_map: Any = None, out: Any = None, name: str | None = None) -> Any:
        """Join steps into sequences, given a level and a map, or instead of both an array that was segmented."""
        if isinstance(level, VarArray):
            if level.level is None:
                raise GraphError("VarArray.pack: segmented: was not made of a LoDTensor")
            level, indices_map = level.level, level.rank
        return super().pack(level, indices_map, out=out, name=name)
