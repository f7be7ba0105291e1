"""Cases of every operator and of loops: `OPERATORS` by their names; the files of `reference/ops` draw them."""

import pkgutil
from importlib import import_module

from reference import ops
from reference.case import OPERATORS
from reference.graph import loop_cases  # noqa: F401  which registers the cases of loops

__all__ = ["OPERATORS"]

for _module in pkgutil.iter_modules(ops.__path__):
    import_module(f"{ops.__name__}.{_module.name}")
