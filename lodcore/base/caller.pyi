from typing import Any

from typing_extensions import disjoint_base

__pyx_capi__: dict[str, Any]  # what other compiled modules call

def warn(text: str, category: type[Warning] = ...) -> None: ...

class Writer:
    def write(self, message: str) -> None: ...

@disjoint_base
class named_caller:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...
