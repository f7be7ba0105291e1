from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def vary_rows(
    x: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    ddof: float,
    means: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None: ...
def spread_distances(
    x: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    means: npt.NDArray[np.float64],
    scales: npt.NDArray[np.float64],
    out: npt.NDArray[_Real],
) -> None: ...
