from typing import Any

__pyx_capi__: dict[str, Any]  # what other compiled modules call
