"""Programs: Variables, Blocks of recorded operators, loops, and gradients through them."""

from lodcore.graph.autodiff import grad_check, value_and_grad, vjp
from lodcore.graph.block import Block, Operator
from lodcore.graph.variable import (
    Variable,
    data,
    is_inheritance_of,
    parameter,
    register_inheritance,
    var_get_mutable,
)

__all__ = [
    "Block",
    "Operator",
    "Variable",
    "data",
    "grad_check",
    "is_inheritance_of",
    "parameter",
    "register_inheritance",
    "value_and_grad",
    "var_get_mutable",
    "vjp",
]
