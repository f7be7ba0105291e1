from typing import Any

import numpy as np
import numpy.typing as npt

__pyx_capi__: dict[str, Any]  # functions for other modules

def run_steps(
    arrays: list[Any],
    weights: list[Any],
    ufuncs: list[Any],
    operands: npt.NDArray[np.int64],
    instructions: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    stride: int,
    n_rows: int,
    back: bool,
) -> int: ...
def is_below(matrix: npt.NDArray[Any], limit: float) -> bool: ...
