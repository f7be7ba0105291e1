"""The defects that are planted one at a time, a file a family: what the tests must find."""

import pkgutil
from importlib import import_module

MUTANTS = [
    mutant for module in pkgutil.iter_modules(__path__) for mutant in import_module(f"{__name__}.{module.name}").MUTANTS
]
