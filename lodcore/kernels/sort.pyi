from typing import Any

import numpy as np
import numpy.typing as npt

def keep_first(offsets: npt.NDArray[np.int64], k: int, out: npt.NDArray[np.int64]) -> None: ...
def sort_rows(
    x: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    descending: bool,
    out: npt.NDArray[Any],
    positions: npt.NDArray[np.int64] | None,
) -> None: ...
def place_cells(
    cells: npt.NDArray[np.float16],
    offsets: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[Any],
) -> int: ...
