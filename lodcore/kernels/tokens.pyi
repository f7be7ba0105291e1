from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Cell = TypeVar("_Cell", np.float32, np.float64, np.uint8, np.uint16, np.uint32, np.uint64)
_Number = TypeVar("_Number", np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)

def drop_tokens(
    x: npt.NDArray[_Number],
    offsets: npt.NDArray[np.int64],
    tokens: npt.NDArray[np.int64],
    out: npt.NDArray[_Number],
    out_offsets: npt.NDArray[np.int64],
) -> None: ...
def add_at(
    updates: npt.NDArray[_Cell],
    ids: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    n_columns: int,
    out: npt.NDArray[_Cell],
) -> int: ...
def take_at(
    rows: npt.NDArray[np.uint8],
    ids: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    n_columns: int,
    out: npt.NDArray[np.uint8],
) -> int: ...
