from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Real = TypeVar("_Real", np.float32, np.float64)

def prefix_keys(x: npt.NDArray[np.uint8], unit: int, out: npt.NDArray[np.uint64]) -> bool: ...
def order_ties(
    x: npt.NDArray[np.uint8],
    unit: int,
    keys: npt.NDArray[np.uint64],
    offsets: npt.NDArray[np.int64],
    descending: bool,
    positions: npt.NDArray[np.int64],
) -> None: ...
def take_cells(
    x: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> int: ...
def count_numbers(x: npt.NDArray[Any], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> None: ...
def mix_rows(
    x: npt.NDArray[_Number],
    offsets: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    out: npt.NDArray[_Number],
) -> None: ...
def spread_mixed(
    rows: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    low: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    out: npt.NDArray[_Real],
) -> None: ...
def fill_nan(x: npt.NDArray[_Real], value: float, out: npt.NDArray[_Real]) -> None: ...
