from typing import Any

from typing_extensions import disjoint_base

@disjoint_base
class Return:
    def __init__(self, operator: Any, needed: set[Any], call: Any = None, shared: set[Any] | None = None) -> None: ...

@disjoint_base
class Plan:
    def __init__(self, rule: Any, places: dict[str, Any], cotangents: int, residuals: tuple[str, ...]) -> None: ...
