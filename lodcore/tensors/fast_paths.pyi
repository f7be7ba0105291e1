from typing import Any

import numpy as np
import numpy.typing as npt

from lodcore.tensors.lod import LoD
from lodcore.tensors.lod_tensor import LoDTensor

def where_true(x: LoDTensor, mask: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> LoDTensor: ...
def chosen(x: LoDTensor, mask: LoDTensor) -> LoDTensor | None: ...
def uniform_parts(tensors: list[Any]) -> tuple[list[npt.NDArray[Any]], list[LoD]] | None: ...
def plain_keys(x: Any, key: Any) -> list[int | slice] | None: ...
def reduced(
    name: str,
    given: Any,
    axis: Any,
    keepdims: Any,
    where: Any,
    first: Any = None,
    second: Any = None,
    third: Any = None,
) -> Any: ...
