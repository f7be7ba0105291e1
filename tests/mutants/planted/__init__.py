"""The listed defects, which are inserted one at a time, by the folders of the library: the tests must find them.

Each file lists defects under a file of the library and the tests that find them: a name, a text that occurs once in
that file, and what it becomes.
"""

import pkgutil
from importlib import import_module

from tests.mutants.mutant import Mutant

FILES = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
MUTANTS = [
    Mutant(name, path, old, new, tests)
    for file in FILES
    for (path, tests), defects in file.DEFECTS.items()
    for name, old, new in defects
]
