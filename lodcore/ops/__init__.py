"""The operators, one file a family: what is public in a file is a name of this package."""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING
from typing import Any as _Any

from lodcore.ops.axes import *
from lodcore.ops.convert import *
from lodcore.ops.index import *
from lodcore.ops.index_values import *
from lodcore.ops.kinds import *
from lodcore.ops.lod_rules import LoDRule as LoDRule
from lodcore.ops.lod_rules import before as before
from lodcore.ops.lod_rules import computed as computed
from lodcore.ops.lod_rules import no_lod as no_lod
from lodcore.ops.lod_rules import outer as outer
from lodcore.ops.lod_rules import same as same
from lodcore.ops.lod_rules import same_as as same_as
from lodcore.ops.position import *
from lodcore.ops.product import *
from lodcore.ops.public import *
from lodcore.ops.reduce import *
from lodcore.ops.registry import operator as operator
from lodcore.ops.roles import *
from lodcore.tensors.tensor import Spec as Spec

if TYPE_CHECKING:
    from lodcore.testing import check_operator as check_operator
else:

    def __getattr__(name: str) -> _Any:
        if name != "check_operator":
            raise AttributeError(f"module 'lodcore.ops' has no attribute {name!r}")
        return _import_module("lodcore.testing").check_operator


__all__ = ["check_operator"]
__all__ += [  # of those that a file says are public
    name for name, x in globals().items() if name[0] != "_" and type(x) is not _ModuleType and name != "TYPE_CHECKING"
]
