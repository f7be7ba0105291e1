"""The methods of LoDTensor that give it to other libraries; their bodies stand in `lodcore.interop`.

A body is a name, which is looked up when it is first used: nothing here imports what stands above it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["Doors"]


def _door(name: str) -> Any:
    return getattr(import_module("lodcore.interop"), name)


class Doors:
    """The methods of LoDTensor that give it to other libraries."""

    __slots__ = ()

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        capsules: tuple[Any, Any] = _door("arrow_c_array")(self, requested_schema)
        return capsules

    def __arrow_c_schema__(self) -> Any:
        return _door("arrow_c_schema")(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _door("arrow_c_stream")(self, requested_schema)

    def to_arrow(self) -> Any:
        """Give a pyarrow array; see `lodcore.to_arrow`."""
        return _door("to_arrow")(self)
