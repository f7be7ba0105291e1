"""Doors to other libraries and to files; each library is imported when its door is used.

Every door is public as `lodcore.<name>`, and those that give a LoDTensor away are methods of it, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lodcore.interop.arrow import ArrowTable, from_arrow, to_arrow

#: What each module gives.
DOORS = {
    "arrow": ("ArrowTable", "arrow_c_array", "arrow_c_schema", "arrow_c_stream", "from_arrow", "to_arrow"),
}

_MODULES = {name: module for module, names in DOORS.items() for name in names}

__all__ = sorted(_MODULES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'lodcore.interop' has no attribute {name!r}")
    found = getattr(import_module(f"lodcore.interop.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
