from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)

def count_positions(
    outer: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> None: ...
def count_elements(
    outer: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
def order_by_position(
    outer: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    next_places: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
def add_positions(
    x: npt.NDArray[_Number],
    outer: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[_Number],
) -> None: ...
def best_positions(
    x: npt.NDArray[_Number],
    outer: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    least: bool,
    out: npt.NDArray[_Number],
    index: npt.NDArray[np.int64],
) -> None: ...
def spread_positions(
    x: npt.NDArray[_Number],
    outer: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[_Number],
) -> None: ...
