import numpy as np
import numpy.typing as npt

def number_keys(
    keys: npt.NDArray[np.uint8],
    seed: int,
    table: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
    firsts: npt.NDArray[np.int64],
) -> int: ...
def number_texts(
    source: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    seed: int,
    table: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
    firsts: npt.NDArray[np.int64],
) -> int: ...
def find_runs(keys: npt.NDArray[np.uint8], out: npt.NDArray[np.int64]) -> int: ...
def order_by_id(ids: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> int: ...
