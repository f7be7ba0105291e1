from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

def step_offsets(offsets: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> None: ...
def rank_by_length(
    offsets: npt.NDArray[np.int64], steps: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> None: ...
def count_longer(lengths: npt.NDArray[np.int64], step: int) -> int: ...
def unpack_rows(
    rows: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> None: ...
def pack_rows(
    rows: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> None: ...
def pack_steps(
    arrays: Sequence[npt.NDArray[Any]],
    offsets: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    out: npt.NDArray[np.uint8],
) -> int: ...
