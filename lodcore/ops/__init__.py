"""The operators, one file per family; this package exports the public names of all files."""

from types import ModuleType as _ModuleType
from typing import Any as _Any

from lodcore.operators.checking import check_operator as check_operator
from lodcore.operators.elementwise import *
from lodcore.operators.lod_rules import LoDRule as LoDRule
from lodcore.operators.lod_rules import before as before
from lodcore.operators.lod_rules import computed as computed
from lodcore.operators.lod_rules import no_lod as no_lod
from lodcore.operators.lod_rules import outer as outer
from lodcore.operators.lod_rules import same as same
from lodcore.operators.lod_rules import same_as as same_as
from lodcore.operators.registry import operator as operator
from lodcore.operators.roles import *
from lodcore.ops.attention import *
from lodcore.ops.axes import *
from lodcore.ops.beside import *
from lodcore.ops.convert import *
from lodcore.ops.dropout import *
from lodcore.ops.index import *
from lodcore.ops.index_values import *
from lodcore.ops.layers import *
from lodcore.ops.linear import *
from lodcore.ops.nans import *
from lodcore.ops.norm import *
from lodcore.ops.numpy_call import *
from lodcore.ops.position import *
from lodcore.ops.product import *
from lodcore.ops.public import *
from lodcore.ops.reduce import *
from lodcore.ops.states import *
from lodcore.ops.values import *
from lodcore.tensors.tensor import Spec as Spec

__all__ = [name for name, x in globals().items() if name[0] != "_" and type(x) is not _ModuleType]


def __dir__() -> list[str]:
    return __all__


del gather  # type: ignore[name-defined]  # noqa: F821, the file, whose name is that of no function


def __getattr__(name: str) -> _Any:
    if name == "gather":
        raise AttributeError(
            "lodcore.ops has no 'gather': gather_sequences(x, index) takes sequences, lookup_table(x, index) rows of "
            "an array"
        )
    raise AttributeError(f"module 'lodcore.ops' has no attribute {name!r}")
