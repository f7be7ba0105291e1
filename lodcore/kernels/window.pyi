from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def copy_windows(
    rows: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    padding: npt.NDArray[np.uint8],
    start: int,
    length: int,
    first: int,
    out: npt.NDArray[np.uint8],
) -> None: ...
def correlate_rows(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], filter: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> None: ...
def convolve_rows(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], filter: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> None: ...
def sum_lagged_products(
    x: npt.NDArray[_Real], y: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.float64]
) -> None: ...
def sum_edges(
    x: npt.NDArray[Any], offsets: npt.NDArray[np.int64], before: int, after: int, out: npt.NDArray[np.float64]
) -> None: ...
