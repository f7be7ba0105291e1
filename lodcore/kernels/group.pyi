import numpy as np
import numpy.typing as npt

_Int64 = npt.NDArray[np.int64]

def number_keys(keys: npt.NDArray[np.uint8], table: _Int64, ids: _Int64, firsts: _Int64) -> int: ...
def order_by_id(ids: _Int64, offsets: _Int64, out: _Int64) -> int: ...
