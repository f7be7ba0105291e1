"""The operators, one file per family; this package exports the public names of all files."""

from types import ModuleType as _ModuleType
from typing import Any as _Any

from lodcore.base.naming import make_public as _make_public
from lodcore.operators.arguments import level_of as level_of
from lodcore.operators.checking import check_operator as check_operator
from lodcore.operators.elementwise import *
from lodcore.operators.lod_rules import LoDRule as LoDRule
from lodcore.operators.lod_rules import before as before
from lodcore.operators.lod_rules import first_levels as first_levels
from lodcore.operators.lod_rules import no_lod as no_lod
from lodcore.operators.lod_rules import outer as outer
from lodcore.operators.lod_rules import same as same
from lodcore.operators.lod_rules import same_as as same_as
from lodcore.operators.registry import operator as operator
from lodcore.operators.roles import *
from lodcore.ops.dense.numpy_call import *
from lodcore.ops.elementwise.convert import *
from lodcore.ops.elementwise.dropout import *
from lodcore.ops.elementwise.sigmoid_cross_entropy import *
from lodcore.ops.index.index import *
from lodcore.ops.index.index_values import *
from lodcore.ops.move.checked import *
from lodcore.ops.move.joined_kinds import *
from lodcore.ops.move.position import *
from lodcore.ops.move.values import *
from lodcore.ops.networks.attention import *
from lodcore.ops.networks.linear import *
from lodcore.ops.networks.norm import *
from lodcore.ops.networks.recurrent_layers import *
from lodcore.ops.networks.states import *
from lodcore.ops.public import *
from lodcore.ops.reduce.axes import *
from lodcore.ops.reduce.deviation import *
from lodcore.ops.reduce.nans import *
from lodcore.ops.reduce.product import *
from lodcore.ops.reduce.quantiles import *
from lodcore.ops.reduce.reduce_values import *
from lodcore.tensors.tensor import Spec as Spec

#: Operators that others record, and parts of them: a printed Program names them, nobody calls them.
_PARTS = frozenset(
    [
        "by_position",
        "checked",
        "combination_places",
        "group_rows",
        "gru_layer",
        "interleave_places",
        "last_of_steps",
        "lstm_layer",
        "pick_along",
        "pool_positions",
        "reduce_values",
        "refuse_empty",
        "reshape_rows",
        "joined_rows",
        "sample_places",
        "sequence_bitwise",
        "sequence_place",
        "sequence_prod",
        "sequence_truth",
        "joined_sequences",
        "sigmoid_cross_entropy",
        "simple_layer",
        "slice_along",
        "take_nested",
        "take_of_each",
        "transpose_rows",
        "zero_states",
    ]
)

__all__ = [
    name for name, x in globals().items() if name[0] != "_" and type(x) is not _ModuleType and name not in _PARTS
]

_make_public("lodcore.ops", *list(globals().values()))


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> _Any:
    """Raise an error that says what to use instead of a name; it may be the name of a file of this package."""
    from lodcore.base.other_names import instead_of

    instead = instead_of(name, attribute=False)
    if not instead and f"sequence_{name}" in __all__:
        instead = f"; use lodcore.sequence_{name}"
    raise AttributeError(f"module 'lodcore.ops' has no attribute {name!r}{instead}")
