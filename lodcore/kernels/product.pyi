from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Real = TypeVar("_Real", np.float32, np.float64)

def multiply_rows(x: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Number]) -> None: ...
def multiply_others(
    x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], rows: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> None: ...
def true_sequences(
    x: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], every: bool, out: npt.NDArray[np.uint8]
) -> None: ...
