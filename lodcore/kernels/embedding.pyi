from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)
_Int64 = npt.NDArray[np.int64]

def check_index(index: _Int64, n_rows: int) -> int: ...
def take_rows(rows: npt.NDArray[np.uint8], index: _Int64, skip: int, out: npt.NDArray[np.uint8]) -> int: ...
def add_rows(rows: npt.NDArray[_Real], index: _Int64, out: npt.NDArray[_Real]) -> int: ...
def number_rows(index: _Int64, numbers: _Int64, places: _Int64, out: _Int64) -> int: ...
def sum_bags(
    table: npt.NDArray[_Real], index: _Int64, offsets: _Int64, divide: int, out: npt.NDArray[_Real]
) -> int: ...
def weigh_bags(
    table: npt.NDArray[_Real],
    index: _Int64,
    offsets: _Int64,
    weights: npt.NDArray[_Real],
    out: npt.NDArray[_Real],
) -> int: ...
def product_with_bags(
    table: npt.NDArray[_Real], index: _Int64, offsets: _Int64, rows: npt.NDArray[_Real], out: npt.NDArray[_Real]
) -> int: ...
def best_bags(
    table: npt.NDArray[_Real], index: _Int64, offsets: _Int64, least: bool, out: npt.NDArray[_Real]
) -> int: ...
def find_in_bags(
    table: npt.NDArray[_Real], index: _Int64, offsets: _Int64, best: npt.NDArray[_Real], out: _Int64
) -> int: ...
