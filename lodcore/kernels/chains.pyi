from typing import Any

import numpy as np
import numpy.typing as npt

def run_chain(
    arrays: list[Any],
    ufuncs: list[Any],
    operands: npt.NDArray[np.int64],
    instructions: npt.NDArray[np.int64],
    count: int,
) -> int: ...
