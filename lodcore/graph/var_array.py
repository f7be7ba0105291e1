"""VarArray: a TensorArray with the words of the design of dynamic RNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from lodcore import ops
from lodcore.errors import GraphError
from lodcore.graph.variable import Variable, settled
from lodcore.lod_rules import computed
from lodcore.ops.array import element_spec, number_of, tensor_array_read
from lodcore.registry import Dense, Index, Spec, Steps, operator
from lodcore.symbol import Symbol, open_block
from lodcore.tensor import LoDTensor
from lodcore.tensor_array import TensorArray

__all__ = ["Slot", "VarArray", "tensor_array_get"]


def _num_levels(ta: Any, boot: Any) -> int:
    levels: int = (boot if element_spec(ta).kind is object else ta).num_levels
    return levels


@operator(ta=Steps, index=Index, boot=Dense, lod_rule=computed("that of the elements", _num_levels))
def tensor_array_get(ta: Any, index: Any, boot: Any) -> Any:
    """Read an element of an array, or what stands before the first one.

    Parameters
    ----------
    ta : TensorArray
    index : int
        An integer, or an array of one.
    boot : tensor
        Given back if and only if the index is negative.

    Returns
    -------
    ndarray or LoDTensor

    Raises
    ------
    IndexError
        If the index is past the end, or that of a hole.

    Examples
    --------
    >>> import lodcore
    >>> from lodcore.graph.var_array import tensor_array_get
    >>> tensor_array_get(lodcore.TensorArray(), -1, [1.0, 2.0])
    array([1., 2.])
    """
    if _before(index):
        return boot if isinstance(boot, LoDTensor) else np.asarray(boot)
    return tensor_array_read.__wrapped__(ta, index)  # type: ignore[attr-defined]


def _before(index: Any) -> bool:
    if type(index) is np.int64:  # the number of a step
        return int(index) < 0
    given = np.asarray(index)
    return given.size == 1 and given.dtype.kind == "i" and given.item() < 0


@tensor_array_get.define_infer
def _(ta: Spec, index: Any, boot: Any) -> Spec:
    element = element_spec(ta)
    return boot if element.kind is object and isinstance(boot, Spec) else element


@tensor_array_get.define_vjp
def _(d: Any, index: Any) -> tuple[Any, None, Any]:
    return (None, None, d) if _before(index) else ({number_of(index): d}, None, None)


class Slot(Symbol):
    """A place in a VarArray: read when an operator first uses it, written by `update`; made by `VarArray.get`."""

    __slots__ = ("_array", "_block", "_boot", "_index", "_value")

    def __init__(self, array: VarArray, index: Any, boot: Any) -> None:
        self._array, self._index, self._boot = array, index, boot
        self._value: Any = None
        self._block: Any = None  # where it was read

    def current(self) -> Any:
        """Read it, once in each Block.

        Raises
        ------
        IndexError
            If there is nothing yet.
        """
        block = open_block()
        if self._value is None or self._block is not block:
            array = self._array.array
            if self._boot is None:
                self._value = tensor_array_read(array, self._index)
            else:
                self._value = tensor_array_get(array, self._index, self._boot)
            self._block = block
        return self._value

    def get(self) -> Any:
        """Give the value itself."""
        found = self.current()
        return found.get() if isinstance(found, Variable) else found

    def update(self, value: Any) -> None:
        """Write it."""
        ops.tensor_array_write(self._array.array, self._index, settled(value))
        self._value = None

    def record(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Read what is used, and call the operator on that."""
        return op(*map(settled, args), **{name: settled(given) for name, given in kwargs.items()})

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        found = self.current()
        return found.__array__(*args, **kwargs) if isinstance(found, Variable) else np.asarray(found, *args, **kwargs)

    def __repr__(self) -> str:
        return f"Slot({self._index!r} of {self._array!r})"


class VarArray:
    """An array of Variables: segment a tensor into steps, get and update them.

    Parameters
    ----------
    dynamic : bool, default True
        Grow when something is written past the end.
    size : int, optional
        Number of slots to begin with.

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

    def __init__(self, dynamic: bool = True, size: int | None = None) -> None:
        self.array: Any = TensorArray(size, dynamic)
        self.indices_map: Any = None
        self.level: int | None = None

    def segment(self, x: Any, level: int = 0, sort_by_length: bool = True) -> VarArray:
        """Cut a dense tensor along axis 0, or the sequences of a LoDTensor into steps.

        Parameters
        ----------
        x : tensor
        level : int
            Of a LoDTensor.
        sort_by_length : bool, default True

        Returns
        -------
        VarArray
            Itself.
        """
        x = settled(x)
        levels = x.num_levels if isinstance(x, (LoDTensor, Variable)) else int(isinstance(x, (list, tuple)))
        if levels:
            self.array, self.indices_map = ops.tensor_array_unpack(x, level, sort_by_length)
            self.level = level
        else:
            self.array = ops.tensor_array_unstack(x)
        return self

    def size(self) -> Any:
        """Give the number of slots."""
        return ops.tensor_array_size(self.array)

    def get(self, index: Any, boot: Any = None) -> Slot:
        """Give a slot.

        Parameters
        ----------
        index : Variable or int
        boot : tensor, optional
            Read instead if and only if the index is negative.

        Returns
        -------
        Slot
        """
        return Slot(self, index, boot)

    def update(self, index: Any, value: Any) -> None:
        """Write a slot."""
        self.get(index).update(value)

    def concat(self, axis: int = 0) -> Any:
        """Put the values behind each other along an axis that they have."""
        return ops.tensor_array_concat(self.array, axis)

    def stack(self, axis: int = 0) -> Any:
        """Put the values behind each other along a new axis."""
        return ops.tensor_array_stack(self.array, axis)

    def pack(self, segmented: VarArray) -> Any:
        """Bring the values back into the sequences of an array that was segmented."""
        if segmented.indices_map is None:
            raise GraphError("VarArray.pack: segmented: was not made of a LoDTensor")
        return ops.tensor_array_pack(self.array, segmented.level, segmented.indices_map)

    def __repr__(self) -> str:
        return f"VarArray({self.array!r})"
