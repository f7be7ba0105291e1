from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

def pair_ranges(
    offsets: npt.NDArray[np.int64],
    gap: int,
    repeats: npt.NDArray[np.int64],
    ranges: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
def product_ranges(
    offsets: npt.NDArray[np.int64],
    others: npt.NDArray[np.int64],
    repeats: npt.NDArray[np.int64],
    ranges: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
def combination_offsets(offsets: npt.NDArray[np.int64], n: int, again: int, out: npt.NDArray[np.int64]) -> int: ...
def list_combinations(
    offsets: npt.NDArray[np.int64],
    n: int,
    again: int,
    column: int,
    counted: bool,
    chosen: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> None: ...
def take_turns(levels: Sequence[Any], out: npt.NDArray[np.int64]) -> None: ...
