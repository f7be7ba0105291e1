from collections.abc import Callable
from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Taken:
    def __init__(self, where: str, tape: Any) -> None: ...
    def __call__(self, x: Any) -> Any: ...

@disjoint_base
class Given:
    def __init__(self, found: dict[Any, Any], owner: Any, otherwise: Callable[[Any], Any]) -> None: ...
    def __call__(self, x: Any) -> Any: ...
