from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Call:
    ending: tuple[int, ...]
    @property
    def operator(self) -> Any: ...
    def __init__(
        self,
        operator: Any,
        function: Any,
        on_arrays: Any,
        names: tuple[str, ...],
        slots: tuple[Any, ...],
        outs: tuple[int, ...],
        single: bool,
        hidden: int,
        by_name: bool,
    ) -> None: ...

@disjoint_base
class Leave:
    def __init__(self, slot: int) -> None: ...

def run(instructions: list[Any], frame: list[Any], count: int) -> int: ...
def holds(condition: Any) -> bool: ...
