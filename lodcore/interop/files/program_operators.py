"""Operators by name: those of the package, and those of modules that the reader of a file has imported or named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from lodcore.base.articles import with_article
from lodcore.base.naming import described
from lodcore.errors import DTypeError, LoDError
from lodcore.graph.loops.branches import COND
from lodcore.graph.loops.while_loop import RUN
from lodcore.nn.cell_steps import RUN as RECURRENCE
from lodcore.nn.clipping import CLIP
from lodcore.nn.recorded_steps import STEP
from lodcore.operators.dense_rows import TO_DENSE
from lodcore.operators.registry import OPS, PLAIN, WITH_KIND, Op
from lodcore.tensors.kinds import is_foreign

__all__ = ["imported", "kind_of", "name_of", "name_of_kind", "operator_of"]

#: The operators that no public function names alone.
OTHERS: dict[str, Op] = {op.__name__: op for op in (RUN, COND, RECURRENCE, STEP, CLIP, PLAIN, WITH_KIND, TO_DENSE)}


def name_of(where: str, op: Op) -> str:
    """Return the name of an operator in a file: `matmul`, or `module:name` for one of one's own."""
    name = str(op.__name__)
    if OTHERS.get(name, OPS.get(name)) is op:
        return name
    module, own = str(op.__module__), str(op.__qualname__)
    if _found(module, own) is not op:
        raise DTypeError(
            f"{where}: operator {own} of module {module}: is not found there by its name; an operator of a saved "
            "Program is at the top level of a module"
        )
    return f"{module}:{own}"


def operator_of(where: str, name: Any) -> Op:
    """Return the operator that a file names, without importing anything."""
    if not isinstance(name, str):
        raise LoDError(f"{where}: names an operator {described(name)}; a str is needed")
    if ":" in name:
        found = _of_module(where, "operator", name)
    else:
        found = OTHERS.get(name, OPS.get(name))
        if found is None:
            raise LoDError(f"{where}: names the operator {name[:60]!r}, which this lodcore does not have")
    if not isinstance(found, Op):
        there = "is not defined" if found is None else f"is {with_article(type(found).__name__)}"
        raise LoDError(f"{where}: needs the operator {name[:60]!r}, which {there} there")
    return found


def name_of_kind(where: str, kind: type) -> str:
    """Return the name of a kind of tensors from outside in a file: `module:name`."""
    if not is_foreign(kind) or _found(kind.__module__, kind.__qualname__) is not kind:
        raise DTypeError(
            f"{where}: has the kind {kind.__qualname__} of module {kind.__module__}, which is not found there by its "
            "name; a kind of tensor that is saved must be registered, and defined at the top level of a module"
        )
    return f"{kind.__module__}:{kind.__qualname__}"


def kind_of(where: str, name: Any) -> type:
    """Return the kind of foreign tensors that a file names, without importing anything."""
    if not isinstance(name, str) or ":" not in name:
        raise LoDError(f"{where}: has the kind {described(name)}, which this lodcore does not have")
    found = _of_module(where, "kind", name)
    if not isinstance(found, type) or not is_foreign(found):
        raise LoDError(f"{where}: needs the kind {name[:60]!r}, which is not registered (register_inheritance)")
    return found


def _of_module(where: str, what: str, name: str) -> Any:
    """Return what an already imported module has under a name."""
    module, _, own = name.partition(":")
    if module not in sys.modules:
        raise LoDError(
            f"{where}: needs the {what} {own[:60]!r} of module {module[:60]!r}, which is not imported; import it, or "
            f"name it if you trust it: load(file, operators=[{module[:60]!r}]), --operators {module[:60]}"
        )
    return _found(module, own)


def _found(module: str, name: str) -> Any:
    """Look up a dotted name in an imported module, without calling anything in it."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        if not isinstance(found, (ModuleType, type)):
            return None
        found = vars(found).get(part)
    return found


def imported(where: str, operators: Iterable[Any]) -> None:
    """Import the modules that the caller names."""
    if isinstance(operators, str) or not hasattr(operators, "__iter__"):
        raise DTypeError(f"{where}: operators: is {type(operators).__name__}; a list of names of modules is needed")
    for one in operators:
        if isinstance(one, ModuleType):
            continue
        if not isinstance(one, str):
            raise DTypeError(f"{where}: operators: has {type(one).__name__}; names of modules are needed")
        try:
            importlib.import_module(one)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{one}.".startswith(f"{error.name}."):
                raise  # of a module that the named one imports
            says = f"{where}: operators: there is no module {one!r} where Python looks; PYTHONPATH names more folders"
            raise ModuleNotFoundError(says, name=error.name) from None
