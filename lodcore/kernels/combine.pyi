from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]

def pair_ranges(offsets: _Int64, gap: int, repeats: _Int64, ranges: _Int64, out: _Int64) -> int: ...
def product_ranges(offsets: _Int64, others: _Int64, repeats: _Int64, ranges: _Int64, out: _Int64) -> int: ...
def take_turns(levels: Sequence[Any], out: _Int64) -> None: ...
