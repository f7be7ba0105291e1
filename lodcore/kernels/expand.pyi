from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

def repeat_rows(rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]) -> None: ...
def reverse_rows(rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]) -> None: ...
def join_sequences(
    arrays: Sequence[npt.NDArray[Any]],
    levels: Sequence[Any],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> None: ...
def split_sequences(rows: npt.NDArray[np.uint8], levels: Sequence[Any], arrays: Sequence[npt.NDArray[Any]]) -> None: ...
def split_mask(mask: npt.NDArray[np.uint8], out: npt.NDArray[np.int64]) -> int: ...
def merge_sequences(
    arrays: Sequence[npt.NDArray[Any]],
    levels: Sequence[Any],
    mask: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> int: ...
def scale_offsets(offsets: npt.NDArray[np.int64], width: int, new_width: int, out: npt.NDArray[np.int64]) -> int: ...
