from collections.abc import Callable
from typing import Any

def register_results(nested: type, hand_out: Callable[[Any, Any], Any], lend: Callable[[Any, Any], Any]) -> None: ...
