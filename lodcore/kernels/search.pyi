from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Double = npt.NDArray[np.float64]
_Int64 = npt.NDArray[np.int64]

def search_rows(
    x: npt.NDArray[_Number], offsets: _Int64, v: npt.NDArray[_Number], wanted: _Int64, right: bool, out: _Int64
) -> None: ...
def interpolate_rows(
    x: _Double,
    wanted: _Int64,
    xp: _Double,
    fp: _Double,
    offsets: _Int64,
    out: _Double,
    places: _Int64,
    weights: _Double,
) -> None: ...
