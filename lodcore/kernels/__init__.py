"""The compiled loops: arrays and numbers in, arrays out, no state, and no checks beyond those of their docstrings."""

from typing import Any

from lodcore.kernels import gather as gather  # what `import lodcore` needs; all others are loaded at first use
from lodcore.kernels import lod as lod
from lodcore.kernels import rank_table as rank_table
from lodcore.kernels.loading import load as _load


def __getattr__(name: str) -> Any:
    """Load the kernels of a family when they are first used, so that importing lodcore is fast."""
    if name == "__all__":
        found = (one.name for one in _load("pkgutil").iter_modules(__path__))
        return sorted(one for one in found if one[0] != "_" and one != "loading")
    if name[0] != "_":
        try:
            return _load(f"lodcore.kernels.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"lodcore.kernels.{name}":
                raise
    raise AttributeError(f"module 'lodcore.kernels' has no attribute {name!r}")
