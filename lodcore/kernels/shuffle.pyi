import numpy as np
import numpy.typing as npt

def shuffle_places(
    offsets: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    random: npt.NDArray[np.float64],
    work: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
