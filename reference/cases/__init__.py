"""Cases of every operator, one file per family: `OPERATORS` by their names."""

import pkgutil
from importlib import import_module

from reference.case import OPERATORS

__all__ = ["OPERATORS"]

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
