import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]
_Int64 = npt.NDArray[np.int64]

def number_words(
    text: _Bytes,
    offsets: _Int64,
    start: int,
    known: int,
    seed: int,
    table: _Int64,
    begins: _Int64,
    ends: _Int64,
    counts: _Int64,
    ids: _Int64,
) -> tuple[int, int]: ...
def fill_table(text: _Bytes, begins: _Int64, ends: _Int64, seed: int, table: _Int64) -> int: ...
def look_up(
    text: _Bytes,
    offsets: _Int64,
    known: _Bytes,
    begins: _Int64,
    ends: _Int64,
    seed: int,
    table: _Int64,
    unknown: int,
    ids: _Int64,
) -> int: ...
