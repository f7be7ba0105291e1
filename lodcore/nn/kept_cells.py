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

from lodcore.base.dispatch import Symbol
from lodcore.graph.block import Operator
from lodcore.graph.body import Body
from lodcore.graph.trees import tree_leaves
from lodcore.graph.variable import Variable, resolved
from lodcore.ops.registry import Op
from lodcore.ops.roles import spec_of
from lodcore.tensors.tensor import Spec, Tensor

__all__ = ["CellBody", "Script", "give_back", "key_of", "same_tree", "take"]

MOST = 64  # bodies that are kept

#: Types of constants that are equal if they compare equal.
PLAIN = (int, float, str, bool, slice, type(None), type(Ellipsis), bytes, complex)


class Script:
    """The calls that a cell made, and the outer objects that it read.

    Parameters
    ----------
    ops : list of Operator
    outer : list of Variable
        Those of the body that represent outer objects.
    """

    __slots__ = ("at", "calls", "found", "outer")

    def __init__(self, ops: list[Operator], outer: list[Variable]) -> None:
        self.outer = set(outer)
        self.calls = [(op.op, list(op.arguments.values()), op.outputs[0], op) for op in ops]
        self.at = 0
        self.found: dict[Variable, Any] = {}  # the outer objects of this time

    def begin(self) -> None:
        """Start from the first call."""
        self.at = 0
        self.found.clear()

    def next(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Variable | None:
        """Return the result of a call if it is the next one, None otherwise."""
        if self.at == len(self.calls):
            return None
        known, expected, result, _ = self.calls[self.at]
        if known is not op:
            return None
        given = op.bound(args, kwargs)
        if given is None:
            return None
        found = self.found.copy() if self.outer else self.found
        for one, other in zip(expected, given, strict=True):
            if one is not other and not self._agree(one, other, found):
                return None
        self.found = found
        self.at += 1
        return result

    def _agree(self, one: Any, other: Any, found: dict[Variable, Any]) -> bool:
        """Return whether an argument is what it was."""
        if type(one) is list:
            if (type(other) is not list and type(other) is not tuple) or len(one) != len(other):
                return False
            return all(a is b or self._agree(a, b, found) for a, b in zip(one, other, strict=True))
        if isinstance(one, Variable):
            if one not in self.outer:
                return isinstance(other, Symbol) and resolved(other) is one
            return self.binds(one, other, found)
        return type(one) is type(other) and isinstance(one, PLAIN) and _equal(one, other)

    def binds(self, variable: Variable, given: Any, found: dict[Variable, Any] | None = None) -> bool:
        """Let a Variable represent an outer object; return whether it can."""
        found = self.found if found is None else found
        given = resolved(given) if isinstance(given, Variable) else given  # the last value of a variable of a loop
        if variable in found:
            return found[variable] is given
        if isinstance(given, Variable):
            if given.home is variable.home:  # of this body
                return False
            spec: Spec = given.spec
        elif isinstance(given, Tensor):
            spec = spec_of(given)
        else:
            return False
        if spec != variable.spec:
            return False
        found[variable] = given
        return True


def _equal(one: Any, other: Any) -> bool:
    """Return whether two constants of one type are equal, zeros of both signs and nan apart."""
    if isinstance(one, float):
        return one == other and (one != 0 or np.signbit(one) == np.signbit(other))
    if isinstance(one, complex):
        return False
    return bool(one == other)


class CellBody(Body):
    """The body of a loop over the steps of a cell.

    Attributes
    ----------
    script : Script or None
        The calls that are expected, while they are made.
    """

    script: Script | None = None
    owner: Any = None

    def record(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the known result of the expected call, or append another one."""
        if self.script is not None:
            result = self.script.next(op, args, kwargs)
            if result is not None:
                return result
            self.cut()
        return super().record(op, args, kwargs)

    def cut(self) -> None:
        """Forget what was expected: from here on, calls are recorded."""
        script, self.script = self.script, None
        if script is not None:
            self.owner.cut(script)

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
_lock = threading.Lock()


def key_of(cell: Any, xs: list[Any], x: Any, state: Any, leaves: list[Any], *rest: Hashable) -> Hashable | None:
    """Return the key of a cell: its code, the Specs and forms of its arguments; None if it has no code."""
    code = getattr(cell, "__code__", None) or getattr(getattr(cell, "__func__", None), "__code__", None)
    if code is None:
        layer = getattr(cell, "layer", None)
        code = (type(cell), id(layer)) if layer is not None else (type(cell), id(cell))
    specs = [one.spec if isinstance(one, Variable) else spec_of(one) for one in (*xs, *leaves)]
    return code, form_of(x), form_of(state), tuple([(*s.shape[1:], s.dtype, s.num_levels) for s in specs]), rest


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
    with _lock:
        some = _kept.get(key)
        if not some:
            return None
        _kept.move_to_end(key)
        return some.pop()


def give_back(key: Hashable, kept: Any) -> None:
    """Keep a body for the next call."""
    with _lock:
        _kept.setdefault(key, []).append(kept)
        _kept.move_to_end(key)
        while len(_kept) > MOST:
            _kept.popitem(last=False)
