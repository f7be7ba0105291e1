from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Real = TypeVar("_Real", np.float32, np.float64)
_Small = TypeVar("_Small", np.uint8, np.uint16, np.uint32, np.int8, np.int16, np.int32)

__pyx_capi__: dict[str, Any]  # functions for other modules

def sum_rows(
    x: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], divide: int, out: npt.NDArray[_Number]
) -> None: ...
def best_rows(
    x: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], least: bool, out: npt.NDArray[_Number]
) -> None: ...
def sum_small_rows(x: npt.NDArray[Any], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint64]) -> None: ...
def best_small_rows(
    x: npt.NDArray[_Small], offsets: npt.NDArray[np.int64], least: bool, out: npt.NDArray[_Small]
) -> None: ...
def find_best_rows(
    x: npt.NDArray[_Number],
    offsets: npt.NDArray[np.int64],
    least: bool,
    out: npt.NDArray[_Number],
    index: npt.NDArray[np.int64],
) -> None: ...
def spread_rows(
    rows: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], divide: int, out: npt.NDArray[_Real]
) -> None: ...
def scatter_cells(
    rows: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], index: npt.NDArray[np.int64], out: npt.NDArray[_Real]
) -> None: ...
def pick_rows(
    rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], last: bool, out: npt.NDArray[np.uint8]
) -> None: ...
def place_rows(
    rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], last: bool, out: npt.NDArray[np.uint8]
) -> None: ...
def fill_empty(row: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]) -> None: ...
def sum_empty(rows: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Real]) -> None: ...
