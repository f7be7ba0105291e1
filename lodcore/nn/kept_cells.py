"""Bodies of cells that are kept: a cell that is called again is held against its record, call by call.

The cell runs at every call, on the Variables of the kept body. As long as it makes the same operator calls, nothing is
recorded; at the first difference the body is cut there, and recorded from there on. Outer arrays may be others each
time, of the same shape and dtype.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import numpy as np

from lodcore.base.contexts import held
from lodcore.graph.block import Operator
from lodcore.graph.loops.body import Body
from lodcore.graph.trees import tree_leaves
from lodcore.graph.variable import Variable
from lodcore.kernels.loading import hold_at_fork
from lodcore.nn.script import Script, add_constants, with_arrays
from lodcore.operators.registry import Op
from lodcore.operators.roles import spec_of

__all__ = ["CellBody", "give_back", "key_of", "same_tree", "take"]

MOST = 64  # bodies that are kept


class CellBody(Body):
    """The body of a loop over the steps of a cell.

    Attributes
    ----------
    script : Script or None
        The calls that are expected, while they are made.
    numbers : dict
        The arrays that stand for numbers, by function and bits.
    constants : set
        The numbers that the recorded operators may compute with, as far as they have been looked at.
    """

    script: Script | None = None
    owner: Any = None
    repetition = "dynamic_rnn: step"

    def __init__(self, parent: Any, keeps_shapes: bool) -> None:
        super().__init__(parent, keeps_shapes)
        self.numbers: dict[Any, Any] = {}
        self.constants: set[tuple[Any, bytes]] = set()
        self._looked_at = 0

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the known result of the expected call, or append another one."""
        before = None
        if self.script is not None:
            result = self.script.next(op, args, kwargs)
            if result is not None:
                return result
            before = self.script.expected(op)
            self.cut()
        many = self.owner.cuts > 1
        if (before is not None or many or self.numbers) and not kwargs:
            for one in self.ops[self._looked_at :]:
                if isinstance(one, Operator):
                    add_constants(self.constants, one.op, list(one.arguments.values()))
            self._looked_at = len(self.ops)
            args = with_arrays(op, args, None if many else before or [], self.constants, self.numbers)
        return super().record(op, args, kwargs)

    def cut(self) -> None:
        """Forget the expected calls; later ones are recorded."""
        script, self.script = self.script, None
        if script is not None:
            self.owner.cut(script)
            self.constants, self._looked_at = set(), 0

    def variable(self, given: Any, key: int | None = None) -> Variable:
        """Return the Variable that represents an object here."""
        if self.script is not None and not (isinstance(given, Variable) and given.home is self.reference):
            self.cut()
        return super().variable(given, key)

    def append(self, op: Op, arguments: dict[str, Any]) -> Operator:
        """Append an operator."""
        self.cut()
        return super().append(op, arguments)


def same_tree(one: Any, other: Any) -> bool:
    """Return whether two trees have one form and the very same leaves."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is tuple or kind is list:
        return len(one) == len(other) and all(map(same_tree, one, other))
    if kind is dict:
        return one.keys() == other.keys() and [*one] == [*other] and all(map(same_tree, one.values(), other.values()))
    return False


# -- the bodies that are kept ------------------------------------------------------------------------------------------

_kept: OrderedDict[Hashable, list[Any]] = OrderedDict()
_lock = threading.RLock()
hold_at_fork(_lock)


def key_of(cell: Any, xs: list[Any], x: Any, state: Any, leaves: list[Any], *rest: Hashable) -> Hashable | None:
    """Return the key of a cell: its code, the Specs and forms of its arguments; None if it has no code."""
    code = getattr(cell, "__code__", None) or getattr(getattr(cell, "__func__", None), "__code__", None)
    layer = None if code is not None else getattr(cell, "layer", None)
    number = id(cell if layer is None else layer) if code is None else id(code)  # whose hash takes much longer
    return type(cell), number, form_of(x), form_of(state), tuple([_rows_of(one) for one in (*xs, *leaves)]), rest


def _rows_of(one: Any) -> Hashable:
    """Return the kind of a tensor, the shape and dtype of its rows, and the number of its levels."""
    if type(one) is np.ndarray:
        return np.ndarray, one.shape[1:], one.dtype, 0
    spec = one.spec if isinstance(one, Variable) else spec_of(one)
    return spec.kind, spec.shape[1:], spec.dtype, spec.num_levels


def form_of(tree: Any) -> Hashable:
    """Return the form of a tree as something that can be compared."""
    kind: Any = type(tree)
    if kind is dict:
        return kind, tuple([(name, form_of(one)) for name, one in tree.items()])
    if kind is tuple or kind is list:
        return kind, tuple(map(form_of, tree))
    return None if len(tree_leaves(tree)) == 1 else kind


def take(key: Hashable) -> Any:
    """Return a kept body, which is nobody else's until it is given back; None if there is none."""
    with held(_lock):
        some = _kept.get(key)
        if not some:
            return None
        _kept.move_to_end(key)
        return some.pop()


def give_back(key: Hashable, kept: Any) -> None:
    """Keep a body for the next call."""
    with held(_lock):
        _kept.setdefault(key, []).append(kept)
        _kept.move_to_end(key)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
