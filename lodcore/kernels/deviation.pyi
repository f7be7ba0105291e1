from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)
_Double = npt.NDArray[np.float64]

def vary_rows(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], ddof: float, means: _Double, out: _Double
) -> None: ...
def spread_distances(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], means: _Double, scales: _Double, out: npt.NDArray[_Real]
) -> None: ...
