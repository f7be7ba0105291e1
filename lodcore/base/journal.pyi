from typing import Any, final

from typing_extensions import disjoint_base

__pyx_capi__: dict[str, Any]  # what other compiled modules call

@disjoint_base
class ArrayBody:
    block: Any
    variable: Any
    wanted_name: str | None
    _items: Any
    _source: Any
    _size: Any
    _limit: Any
    _element: Any
    _rank: Any

def release_arrays(*lists: list[Any]) -> None: ...
def take_contents(arrays: list[Any], others: list[Any]) -> None: ...

@final
class Noted: ...

@disjoint_base
class Journal:
    def __enter__(self) -> None: ...
    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None: ...

def note(array: Any) -> None: ...
