from typing import Any

import numpy as np
import numpy.typing as npt

def copy_offsets(offsets: npt.NDArray[Any], first: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> int: ...
def checksum(data: npt.NDArray[np.uint8], before: int) -> int: ...
