from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.uint8, np.uint16, np.uint32, np.uint64)
_Ordered = TypeVar("_Ordered", np.float32, np.float64, np.int64, np.uint64)
_Real = TypeVar("_Real", np.float32, np.float64)

def subtract_rows(
    x: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], kept: npt.NDArray[np.int64], out: npt.NDArray[_Number]
) -> None: ...
def spread_differences(
    rows: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], kept: npt.NDArray[np.int64], out: npt.NDArray[_Real]
) -> None: ...
def shift_rows(
    x: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    n: int,
    fill: npt.NDArray[np.uint8],
    out: npt.NDArray[np.uint8],
) -> None: ...
def accumulate_rows(
    x: npt.NDArray[_Ordered], offsets: npt.NDArray[np.int64], kind: int, out: npt.NDArray[_Ordered]
) -> None: ...
def spread_accumulated(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], kind: int, rows: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> None: ...
def decay_rows(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], share: float, reverse: bool, out: npt.NDArray[_Real]
) -> None: ...
