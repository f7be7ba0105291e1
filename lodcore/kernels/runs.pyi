from typing import Any

import numpy as np
import numpy.typing as npt

def find_runs(
    x: npt.NDArray[Any], offsets: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> int: ...
def measure_runs(
    starts: npt.NDArray[np.int64],
    runs: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
def rank_runs(
    starts: npt.NDArray[np.int64],
    runs: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    kind: int,
    out: npt.NDArray[np.int64],
) -> int: ...
def longest_runs(
    starts: npt.NDArray[np.int64],
    runs: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
