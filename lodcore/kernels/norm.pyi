from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def normalize_rows(
    x: npt.NDArray[_Real],
    scale: npt.NDArray[_Real],
    shift: npt.NDArray[_Real],
    eps: float,
    out: npt.NDArray[_Real],
    means: npt.NDArray[_Real],
    factors: npt.NDArray[_Real],
) -> None: ...
def normalize_rows_back(
    d: npt.NDArray[_Real],
    x: npt.NDArray[_Real],
    scale: npt.NDArray[_Real],
    means: npt.NDArray[_Real],
    factors: npt.NDArray[_Real],
    d_x: npt.NDArray[_Real],
    d_scale: npt.NDArray[_Real],
    d_shift: npt.NDArray[_Real],
) -> None: ...
