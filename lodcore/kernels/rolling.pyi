from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def roll_rows(
    x: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    size: int,
    least: int,
    kind: int,
    ddof: float,
    reverse: bool,
    out: npt.NDArray[_Real],
) -> None: ...
def spread_windows(
    x: npt.NDArray[_Real],
    offsets: npt.NDArray[np.int64],
    size: int,
    least: int,
    kind: int,
    rows: npt.NDArray[_Real],
    out: npt.NDArray[_Real],
) -> None: ...
def roll_medians(
    ordered: npt.NDArray[_Real],
    positions: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    size: int,
    least: int,
    room: npt.NDArray[np.int64],
    out: npt.NDArray[_Real],
) -> None: ...
def spread_medians(
    ordered: npt.NDArray[_Real],
    positions: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    size: int,
    least: int,
    rows: npt.NDArray[_Real],
    room: npt.NDArray[np.int64],
    out: npt.NDArray[_Real],
) -> None: ...
