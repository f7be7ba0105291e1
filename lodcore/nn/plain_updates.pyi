from collections.abc import Callable
from typing import Any

import numpy as np
from typing_extensions import disjoint_base

@disjoint_base
class Plain:
    form: Any
    rows: list[list[np.ndarray[Any, Any]]]

def plain(trees: list[Any], in_place: bool) -> Plain | None: ...
def updated(plain: Plain, calls: Any, in_place: bool) -> list[Any]: ...
def run_all(calls: list[Callable[[], Any]]) -> None: ...
