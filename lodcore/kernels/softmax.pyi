from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Number = TypeVar("_Number", np.float32, np.float64, np.int64, np.uint64)
_Real = TypeVar("_Real", np.float32, np.float64)

def softmax_rows(x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Real]) -> None: ...
def spread_softmax(
    rows: npt.NDArray[_Real], x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Real]
) -> None: ...
def pull_softmax(
    y: npt.NDArray[_Real], d: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Real]
) -> None: ...
def log_sum_exp(x: npt.NDArray[_Real], offsets: npt.NDArray[np.int64], out: npt.NDArray[_Real]) -> None: ...
def label_losses(
    x: npt.NDArray[_Real], labels: npt.NDArray[np.int64], shifted: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> int: ...
def add_up_rows(
    x: npt.NDArray[_Number], offsets: npt.NDArray[np.int64], backwards: bool, out: npt.NDArray[_Number]
) -> None: ...
