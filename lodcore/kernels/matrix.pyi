from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

__pyx_capi__: dict[str, Any]  # functions for other modules

def is_fast() -> bool: ...
def is_zero(matrix: npt.NDArray[Any]) -> bool: ...
def pack_columns(matrix: npt.NDArray[_Real], transposed: bool, out: npt.NDArray[_Real]) -> None: ...
def multiply_packed(
    left: npt.NDArray[_Real], packed: npt.NDArray[_Real], adding: bool, out: npt.NDArray[_Real]
) -> None: ...
def multiply_pairs(
    left: npt.NDArray[_Real],
    left_index: npt.NDArray[np.int64] | None,
    right: npt.NDArray[_Real],
    right_index: npt.NDArray[np.int64] | None,
    adding: bool,
    out: npt.NDArray[_Real],
) -> None: ...
