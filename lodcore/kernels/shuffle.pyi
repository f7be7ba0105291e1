import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]

def shuffle_places(
    offsets: _Int64, sizes: _Int64, random: npt.NDArray[np.float64], work: _Int64, out: _Int64
) -> None: ...
