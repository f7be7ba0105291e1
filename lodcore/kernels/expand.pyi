from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

def repeat_rows(
    rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]
) -> None: ...
def reverse_rows(
    rows: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], out: npt.NDArray[np.uint8]
) -> None: ...
def interleave(levels: Sequence[Any], ranges: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> None: ...
def split_mask(mask: npt.NDArray[np.uint8], out: npt.NDArray[np.int64]) -> int: ...
def merge_offsets(
    when_true: npt.NDArray[np.int64],
    when_false: npt.NDArray[np.int64],
    mask: npt.NDArray[np.uint8],
    true_ranges: npt.NDArray[np.int64],
    false_ranges: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
def join_ranges(
    arrays: Sequence[npt.NDArray[Any]], ranges: Sequence[Any], out: npt.NDArray[np.uint8]
) -> None: ...
def scale_offsets(offsets: npt.NDArray[np.int64], width: int, new_width: int, out: npt.NDArray[np.int64]) -> int: ...
