from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Cell = TypeVar("_Cell", bound=np.generic)

def keep_first(offsets: npt.NDArray[np.int64], k: int, out: npt.NDArray[np.int64]) -> None: ...
def sort_rows(
    x: npt.NDArray[_Cell],
    offsets: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    descending: bool,
    out: npt.NDArray[_Cell],
    positions: npt.NDArray[np.int64] | None,
) -> None: ...
def place_cells(
    cells: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    kept: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    out: npt.NDArray[Any],
) -> int: ...
