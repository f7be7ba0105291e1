"""Variables that hold a TensorArray, with its methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lodcore import ops
from lodcore.graph.variable import Variable
from lodcore.registry import Spec
from lodcore.tensor_array import TensorArray

__all__ = ["ArrayVariable", "new_variable"]


class ArrayVariable(Variable):
    """A Variable whose value is a TensorArray: what is written makes its next version, which it then stands for."""

    __slots__ = ()

    def write(self, index: Any, value: Any, data_shared: bool = True) -> None:
        """Write an element, as `TensorArray.write`."""
        ops.tensor_array_write(self, index, value, data_shared)

    def read(self, index: Any) -> Any:
        """Read an element, as `TensorArray.read`."""
        return ops.tensor_array_read(self, index)

    def size(self) -> Any:
        """Give the number of elements, as `TensorArray.size`."""
        return ops.tensor_array_size(self)

    def sizes(self, axis: int = 0) -> Any:
        """Give the length of each element, as `TensorArray.sizes`."""
        return ops.tensor_array_sizes(self, axis)

    def stack(self, axis: int = 0) -> Any:
        """Put the elements behind each other along a new axis, as `TensorArray.stack`."""
        return ops.tensor_array_stack(self, axis)

    def concat(self, axis: int = 0) -> Any:
        """Put the elements behind each other, as `TensorArray.concat`."""
        return ops.tensor_array_concat(self, axis)

    def pack(self, level: int, indices_map: Any) -> Any:
        """Bring steps back into sequences, as `TensorArray.pack`."""
        return ops.tensor_array_pack(self, level, indices_map)

    def __len__(self) -> int:
        return int(self.size())

    def __iter__(self) -> Iterator[Any]:
        return (self.read(at) for at in range(len(self)))


def new_variable(name: str | None, value: Any, spec: Spec | None, block: Any) -> Variable:
    """Make a Variable, with the methods of what it holds."""
    kind = type(value) if value is not None else spec.kind if spec is not None else None
    return (ArrayVariable if kind is TensorArray else Variable)(name, value, spec, block)
