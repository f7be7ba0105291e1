from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def attend_rows(
    query: npt.NDArray[_Real],
    memory: npt.NDArray[_Real],
    values: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    scale: float,
    weights: npt.NDArray[_Real],
    context: npt.NDArray[_Real],
) -> None: ...
def attend_rows_back(
    d_context: npt.NDArray[_Real],
    d_weights: npt.NDArray[_Real],
    query: npt.NDArray[_Real],
    memory: npt.NDArray[_Real],
    values: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    scale: float,
    weights: npt.NDArray[_Real],
    scores: npt.NDArray[_Real],
    d_query: npt.NDArray[_Real],
    d_memory: npt.NDArray[_Real],
    d_values: npt.NDArray[_Real],
    shared: bool,
) -> None: ...
