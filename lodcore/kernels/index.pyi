from typing import Any

import numpy as np
import numpy.typing as npt

__pyx_capi__: dict[str, Any]  # functions for other modules

def cut_ranges(
    offsets: npt.NDArray[np.int64], start: int, stop: int, ranges: npt.NDArray[np.int64], out: npt.NDArray[np.int64]
) -> None: ...
def strided_offsets(
    offsets: npt.NDArray[np.int64], start: int, stop: int, step: int, out: npt.NDArray[np.int64]
) -> None: ...
def strided_ranges(
    offsets: npt.NDArray[np.int64],
    start: int,
    step: int,
    new_offsets: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
def pick_ranges(offsets: npt.NDArray[np.int64], index: npt.NDArray[np.int64], out: npt.NDArray[np.int64]) -> int: ...
def true_offsets(offsets: npt.NDArray[np.int64], mask: npt.NDArray[np.uint8], out: npt.NDArray[np.int64]) -> int: ...
def take_true(rows: npt.NDArray[np.uint8], mask: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> None: ...
def put_true(rows: npt.NDArray[np.uint8], mask: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> None: ...
def choose(
    mask: npt.NDArray[np.uint8], x: npt.NDArray[np.uint8], y: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]
) -> None: ...
def true_ranges(mask: npt.NDArray[np.uint8], out: npt.NDArray[np.int64]) -> None: ...
def nested_ranges(
    offsets: npt.NDArray[np.int64],
    index_offsets: npt.NDArray[np.int64],
    index: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
