from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.int64, np.float64)

def fill_ranges(
    starts: npt.NDArray[_Number], steps: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Number]
) -> None: ...
