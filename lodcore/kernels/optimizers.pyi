from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def adam_step(
    x: npt.NDArray[_Real],
    d: npt.NDArray[_Real],
    mean: npt.NDArray[_Real],
    square: npt.NDArray[_Real],
    rate: float,
    beta: float,
    other_beta: float,
    eps: float,
    kept: float,
    root: float,
    out: npt.NDArray[_Real],
    out_mean: npt.NDArray[_Real],
    out_square: npt.NDArray[_Real],
) -> None: ...
def sgd_step(
    x: npt.NDArray[_Real],
    d: npt.NDArray[_Real],
    speed: npt.NDArray[_Real],
    rate: float,
    momentum: float,
    decay: float,
    out: npt.NDArray[_Real],
    out_speed: npt.NDArray[_Real],
) -> None: ...
def sum_squares(x: npt.NDArray[Any]) -> float: ...
