from collections.abc import Callable
from typing import Any

from typing_extensions import disjoint_base

from lodcore.base.dispatch import recording

class Opening:
    opened: recording | None
    closed: bool
    captured_arrays: list[Any]
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: Any, *rest: object) -> None: ...

@disjoint_base
class RecordedBody:
    def __init__(
        self,
        owner: Any,
        variables: list[Any],
        make: Callable[[], Any],
        prepare: Callable[[], None],
        finish: Callable[[], None],
        after: Callable[[], None] | None = None,
        failed: Callable[[], None] | None = None,
    ) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: Any = None, error: Any = None, trace: Any = None) -> None: ...

def end_variables(variables: list[Any], finals: list[Any]) -> None: ...
def put_in_place(
    variables: list[Any],
    finals: list[Any],
    arrays: list[Any],
    contents: list[Any],
    holders: list[Any],
    values: list[Any],
) -> None: ...

@disjoint_base
class Opener:
    def __init__(self, flags: int) -> None: ...
    def __call__(self, path: str, flags: int) -> int: ...

@disjoint_base
class Folder:
    def __new__(cls, path: str) -> Folder: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...

@disjoint_base
class held:
    def __init__(self, lock: Any) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...

AWAITED: dict[int, Any]

@disjoint_base
class alone(held):
    def __init__(self, lock: Any, within: str, crossed: str) -> None: ...
