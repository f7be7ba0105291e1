from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Position = TypeVar("_Position", np.float64, np.int64, np.uint64)

def search_rows(
    x: npt.NDArray[_Number],
    offsets: npt.NDArray[np.int64],
    v: npt.NDArray[_Number],
    wanted: npt.NDArray[np.int64],
    right: bool,
    out: npt.NDArray[np.int64],
) -> None: ...
def interpolate_rows(
    x: npt.NDArray[_Position],
    wanted: npt.NDArray[np.int64],
    xp: npt.NDArray[_Position],
    fp: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
    places: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
) -> None: ...
