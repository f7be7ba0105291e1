import numpy as np
import numpy.typing as npt

def number_words(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    start: int,
    known: int,
    seed: int,
    table: npt.NDArray[np.int64],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
) -> tuple[int, int]: ...
def fill_table(
    text: npt.NDArray[np.uint8],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    seed: int,
    table: npt.NDArray[np.int64],
) -> int: ...
def look_up(
    text: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    known: npt.NDArray[np.uint8],
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    seed: int,
    table: npt.NDArray[np.int64],
    unknown: int,
    ids: npt.NDArray[np.int64],
) -> int: ...
