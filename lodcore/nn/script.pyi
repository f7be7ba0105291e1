from collections.abc import Iterable
from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Expected:
    result: Any
    def __init__(self, op: Any, arguments: list[Any], result: Any) -> None: ...

@disjoint_base
class Script:
    calls: list[Expected]
    at: int
    found: dict[Any, Any]
    def __init__(self, ops: Iterable[Any], outer: Iterable[Any], given: Iterable[Any]) -> None: ...
    def begin(self) -> None: ...
    @property
    def is_whole(self) -> bool: ...
    def is_alone(self) -> bool: ...
    def next(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
