from collections.abc import Callable
from typing import Any

import numpy.typing as npt

__pyx_capi__: dict[str, Any]  # what other compiled modules call

def register_results(nested: type, hand_out: Callable[[Any, Any], Any], lend: Callable[[Any, Any], Any]) -> None: ...
def overlaps(array: npt.NDArray[Any], others: list[npt.NDArray[Any]]) -> bool: ...
def lent(array: npt.NDArray[Any], owners: list[npt.NDArray[Any]]) -> npt.NDArray[Any]: ...
