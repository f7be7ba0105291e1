from collections.abc import Callable, Iterable
from typing import Any

from typing_extensions import disjoint_base

Frame = list[Any]

__pyx_capi__: dict[str, Any]  # what other compiled modules call

@disjoint_base
class Layout:
    @property
    def base(self) -> Frame: ...
    def slot(self, key: Any) -> int: ...
    def slots(self, keys: Iterable[Any]) -> tuple[int, ...]: ...
    def argument(self, given: Any) -> Any: ...
    def arguments(self, given: Iterable[Any]) -> tuple[Any, ...]: ...
    def values(self, frame: Frame) -> dict[Any, Any]: ...

@disjoint_base
class Call:
    ending: tuple[int, ...]
    prepared: int
    @property
    def operator(self) -> Any: ...
    @property
    def places(self) -> dict[str, Any]: ...
    def __init__(
        self,
        operator: Any,
        function: Any,
        on_arrays: Any,
        names: tuple[str, ...],
        slots: tuple[Any, ...],
        outs: tuple[int, ...],
        single: bool,
        residuals: dict[str, int],
        by_name: bool,
    ) -> None: ...

def function_of(op: Any, keep: bool) -> Callable[..., Any]: ...

@disjoint_base
class Chain:
    def __init__(
        self, calls: list[Call], slot: int, least: int, together: Callable[[Frame], bool], name: str
    ) -> None: ...

def has_many(values: list[Any], least: int) -> bool: ...

@disjoint_base
class BreakIf:
    def __init__(self, slot: int) -> None: ...

def run(instructions: list[Any], frame: Frame, count: int) -> int: ...
def watch(seen: Any) -> Any: ...
def part(name: str, function: Callable[..., Any], *args: Any) -> Any: ...
def holds(condition: Any) -> bool: ...
