from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from lodcore.tensors.lod import LoD

def concat_lods(where: str, lods: list[LoD]) -> LoD: ...
def check_coarser(where: str, lods: list[LoD], names: Callable[[int], str], k: int) -> int: ...
def lod_over(memory: npt.NDArray[np.int64], num_levels: int) -> LoD: ...
