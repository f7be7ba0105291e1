import numpy as np
import numpy.typing as npt

def pad_rows(
    rows: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    fill: npt.NDArray[np.uint8],
    left: bool,
    out: npt.NDArray[np.uint8],
) -> None: ...
def unpad_rows(
    padded: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], left: bool, out: npt.NDArray[np.uint8]
) -> None: ...
def greatest(lengths: npt.NDArray[np.int64]) -> int: ...
def mask_rows(lengths: npt.NDArray[np.int64], one: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> int: ...
