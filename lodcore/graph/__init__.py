"""Programs: Variables, Blocks of recorded operators, loops, and their gradients."""

from lodcore.base.naming import make_public as _make_public
from lodcore.graph.block import Block, Operator
from lodcore.graph.executor import Executor
from lodcore.graph.gradients.append_backward import append_backward
from lodcore.graph.gradients.autodiff import value_and_grad, vjp
from lodcore.graph.gradients.cotangents import Context
from lodcore.graph.gradients.grad_check import grad_check
from lodcore.graph.inheritance import is_inheritance_of, register_inheritance, var_get_mutable
from lodcore.graph.loops.array_versions import ArrayVariable
from lodcore.graph.loops.body import LoopVariable
from lodcore.graph.loops.cond import IfElse, cond
from lodcore.graph.loops.map_fn import map_fn
from lodcore.graph.loops.var_array import Slot, VarArray
from lodcore.graph.loops.while_loop import WhileLoop, while_loop
from lodcore.graph.profile import Profile
from lodcore.graph.program import Program
from lodcore.graph.scope import Scope
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.graph.variable import Variable, data, parameter
from lodcore.numpy_api.attached_methods import attach

__all__ = [
    "ArrayVariable",
    "Block",
    "Context",
    "Executor",
    "IfElse",
    "LoopVariable",
    "Operator",
    "Profile",
    "Program",
    "Scope",
    "Slot",
    "Var",
    "VarArray",
    "Variable",
    "WhileLoop",
    "append_backward",
    "cond",
    "create_whileloop",
    "data",
    "grad_check",
    "is_inheritance_of",
    "map_fn",
    "parameter",
    "register_inheritance",
    "tree_leaves",
    "tree_map",
    "value_and_grad",
    "var_get_mutable",
    "vjp",
    "while_loop",
]

#: Names of the design documents.
Var, create_whileloop = Variable, while_loop

attach(Variable)
attach(Slot)


_make_public("lodcore.graph", *[globals()[_name] for _name in __all__])


def __dir__() -> list[str]:
    return __all__
