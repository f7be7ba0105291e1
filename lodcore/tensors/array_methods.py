"""Declarations of the methods that TensorArrays and the Variables of recorded arrays share, which are operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from lodcore.base.dispatch import Symbol
from lodcore.base.later import later, operators
from lodcore.errors import GraphError

if TYPE_CHECKING:
    from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["ArrayMethods"]

Array = np.ndarray[Any, Any]


class ArrayMethods:
    """The methods of TensorArrays, also of recorded ones: operators, attached by name."""

    __slots__ = ()

    @later("tensor_array_write")
    def write(self, index: Any, value: Any, data_shared: bool = True) -> None:
        """Write an element: `tensor_array_write`."""

    @later("tensor_array_read")
    def read(self, index: Any, default: Any = None, *, name: str | None = None) -> Any:
        """Read an element: `tensor_array_read`."""

    @later("tensor_array_size")
    def size(self, *, name: str | None = None) -> Any:
        """Count the slots: `tensor_array_size`."""

    @later("tensor_array_sizes")
    def sizes(self, axis: int = 0, *, name: str | None = None) -> Any:
        """Return the length of each element along an axis: `tensor_array_sizes`."""

    @later("tensor_array_stack")
    def stack(self, axis: int = 0, *, name: str | None = None) -> Any:
        """Join the elements along a new axis: `tensor_array_stack`."""

    @later("tensor_array_concat")
    def concat(self, axis: int = 0, *, name: str | None = None) -> Any:
        """Join the elements along an existing axis: `tensor_array_concat`."""

    @later("tensor_array_pack")
    def pack(self, level: int, indices_map: Any, out: Array | None = None, *, name: str | None = None) -> LoDTensor:
        """Join steps into sequences, the inverse of `unpack`: `tensor_array_pack`."""

    @later("tensor_array_read")
    def __getitem__(self, index: Any) -> Any: ...
    @later("tensor_array_write")
    def __setitem__(self, index: Any, value: Any) -> None: ...

    @property
    def rank(self) -> Any:
        """The order of the sequences in the steps that `unpack` made: an IndicesMap.

        It is an argument of `reorder_by_rank`, `shrink_memory` and `pack`.
        """
        return operators.tensor_array_rank(self)

    def boot(self, state: Any) -> Any:
        """Reorder a state with one row (or sequence) per sequence from the order of the batch to that of the steps.

        Examples
        --------
        >>> import numpy as np
        >>> import lodcore
        >>> steps, _ = lodcore.TensorArray.unpack([[1], [2, 3, 4], [], [5, 6]], 0)
        >>> steps.boot(np.array([10, 20, 30, 40]))
        array([20, 40, 10, 30])
        """
        return operators.reorder_by_rank(state, self.rank)

    def __len__(self) -> int:
        size = self.size()
        if isinstance(size, Symbol) and not size.has_value:  # type: ignore[attr-defined]
            name = getattr(self, "name", "array")
            raise GraphError(
                f"TensorArray {name}: its length is a number that is known only at run time; use array.size(), "
                "while_loop and break_if for control flow"
            )
        return int(size)

    def __iter__(self) -> Iterator[Any]:
        return (self.read(at) for at in range(len(self)))
