from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Int64 = npt.NDArray[np.int64]

def count_positions(outer: _Int64, offsets: _Int64, out: _Int64) -> None: ...
def count_elements(outer: _Int64, offsets: _Int64, positions: _Int64, out: _Int64) -> None: ...
def order_by_position(outer: _Int64, offsets: _Int64, positions: _Int64, next_places: _Int64, out: _Int64) -> None: ...
def add_positions(
    x: npt.NDArray[_Number], outer: _Int64, offsets: _Int64, positions: _Int64, out: npt.NDArray[_Number]
) -> None: ...
def best_positions(
    x: npt.NDArray[_Number],
    outer: _Int64,
    offsets: _Int64,
    positions: _Int64,
    least: bool,
    out: npt.NDArray[_Number],
    index: _Int64,
) -> None: ...
def spread_positions(
    x: npt.NDArray[_Number], outer: _Int64, offsets: _Int64, positions: _Int64, out: npt.NDArray[_Number]
) -> None: ...
