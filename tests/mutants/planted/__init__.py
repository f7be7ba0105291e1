"""The listed defects, which are inserted one at a time, by the folders of the library: the tests must find them."""

import pkgutil
from importlib import import_module

MUTANTS = [
    mutant for module in pkgutil.iter_modules(__path__) for mutant in import_module(f"{__name__}.{module.name}").MUTANTS
]
