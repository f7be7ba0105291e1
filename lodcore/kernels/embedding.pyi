from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)

def check_index(index: npt.NDArray[np.int64], n_rows: int) -> int: ...
def take_rows(
    rows: npt.NDArray[np.uint8], index: npt.NDArray[np.int64], skip: int, out: npt.NDArray[np.uint8]
) -> int: ...
def add_rows(rows: npt.NDArray[_Real], index: npt.NDArray[np.int64], out: npt.NDArray[_Real]) -> int: ...
def number_rows(
    index: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    out: npt.NDArray[np.int64],
) -> int: ...
def sum_bags(
    table: npt.NDArray[_Real],
    index: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    divide: int,
    out: npt.NDArray[_Real],
) -> int: ...
def weigh_bags(
    table: npt.NDArray[_Real],
    index: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    weights: npt.NDArray[_Real],
    out: npt.NDArray[_Real],
) -> int: ...
def product_with_bags(
    table: npt.NDArray[_Real],
    index: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    rows: npt.NDArray[_Real],
    out: npt.NDArray[_Real],
) -> int: ...
def best_bags(
    table: npt.NDArray[_Real],
    index: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    least: bool,
    out: npt.NDArray[_Real],
) -> int: ...
def find_in_bags(
    table: npt.NDArray[_Real],
    index: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    best: npt.NDArray[_Real],
    out: npt.NDArray[np.int64],
) -> int: ...
