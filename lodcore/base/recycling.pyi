from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, SupportsIndex

from typing_extensions import disjoint_base

from lodcore.base.memory import LIMIT as LIMIT

__pyx_capi__: dict[str, Any]  # what other compiled modules call

@disjoint_base
class Recycled:
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

def computed(function: Callable[..., Any], values: Sequence[Any]) -> Any: ...
def kept_bytes() -> int: ...
def get_recycled_bytes() -> int: ...
def set_recycled_bytes(n: SupportsIndex) -> None: ...
