from collections.abc import Callable
from typing import Any

__pyx_capi__: dict[str, Any]  # what other compiled modules call

def register_results(nested: type, hand_out: Callable[[Any, Any], Any], lend: Callable[[Any, Any], Any]) -> None: ...
