"""A mapped function on all entries at once: each of its operators is called once, where that gives the same numbers.

Elementwise operators can take part, and products with a matrix from outside; for sequences, all operators that compute
row by row. A function with any other operator runs entry by entry, and so does one that would warn or raise: then the
warning comes, and the error names the entry, as always.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lodcore.base.dispatch import open_block, recorder
from lodcore.graph.block import Operator
from lodcore.graph.tape import Tape
from lodcore.graph.variable import Variable
from lodcore.operators.operands import rows_of
from lodcore.operators.roles import spec_of
from lodcore.ops.elementwise.math import elementwise
from lodcore.ops.index.index_values import index_values
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec

__all__ = ["on_all_entries"]

#: What arguments of operators may be besides Variables.
PLAIN = (int, float, complex, str, np.generic, np.ufunc, np.dtype, type, type(None))


class NotAtOnce(Exception):
    """An operator cannot compute on all entries at once."""


def on_all_entries(
    ops: Sequence[Any], entries: Mapping[Variable, Any], outer: Mapping[Variable, Any], results: Sequence[Any]
) -> list[Any] | None:
    """Return what a function of one entry gives for all of them, or None if it must run entry by entry.

    Parameters
    ----------
    ops : list
        What the function recorded.
    entries : dict
        The tensors, by the Variable that is one of their entries in the record.
    outer : dict
        The outer objects, by the Variables of the record.
    results : list
        Variables of the record.

    Returns
    -------
    list of tensor or Variable, or None
    """
    wholes = list(entries.values())
    tape = recorder([*wholes, *outer.values()])
    if open_block() is not None or not (tape is None or isinstance(tape, Tape)):
        return None  # what a Program or a body records is the loop
    if not all(type(_held(x, tape)) in (np.ndarray, LoDTensor) for x in wholes) or not all(map(_may_take_part, ops)):
        return None
    made = {op.outputs[0] for op in ops}
    lengths = {len(_held(x, tape)) for x in wholes}
    if not all(isinstance(v, Variable) and v in made for v in results) or len(lengths) > 1 or 0 in lengths:
        return None
    told = {kind: "ignore" if now == "ignore" else "raise" for kind, now in np.geterr().items()}
    try:
        with np.errstate(**told):  # type: ignore[arg-type]
            lifted = Lifted(entries, outer, tape)
            for op in ops:
                lifted.add(op)
        found = [lifted.values[v] for v in results]
        arrays = [rows_of(_held(x, tape)) for x in (*wholes, *found)]
        first = len(wholes)
        shared = [np.may_share_memory(arrays[j], arrays[k]) for k in range(first, len(arrays)) for j in range(k)]
        return None if any(shared) else found  # each result has memory of its own
    except Exception:  # entry by entry, the error comes again, or did not concern the user
        return None


def _may_take_part(op: Any) -> bool:
    """Return whether a recorded operator is of a kind that can; nothing is computed in vain before one that is not."""
    return isinstance(op, Operator) and op.single and (op.op is elementwise or bool(op.op.rowwise))


def _held(x: Any, tape: Tape | None) -> Any:
    """Return an object that is not a Variable, or what a Variable of a tape holds; None for any other Variable."""
    if not isinstance(x, Variable):
        return x
    return x.held if type(x) is Variable and tape is not None and x.home is tape.reference else None


def _axes(spec: Spec) -> int:
    """Return the number of axes, ragged ones included."""
    return spec.num_levels + len(spec.shape)


class Lifted:
    """Calls of operators on all entries.

    Attributes
    ----------
    values : dict
        The results for all entries, by Variable of the record.
    """

    def __init__(self, entries: Mapping[Variable, Any], outer: Mapping[Variable, Any], tape: Tape | None) -> None:
        self.values: dict[Any, Any] = dict(entries)
        self._outer, self._tape = outer, tape
        self._count = len(_held(next(iter(entries.values())), tape))

    def _spec(self, x: Any) -> Spec:
        return spec_of(_held(x, self._tape))

    def add(self, op: Operator) -> None:
        """Call an operator; raise an error if it cannot take part."""
        mine = [v for v in op.inputs if v in self.values]
        if not mine:
            raise NotAtOnce
        nested = [len(v.spec.shape) - 1 for v in mine if self._spec(self.values[v]).num_levels]
        if op.op.elementwise or op.op is elementwise:
            most = max([_axes(v.spec) for v in mine])
            least = min(nested, default=most)  # beside sequences, an outer object has the axes of their rows only
        elif self._is_product(op, mine, bool(nested)):
            most, least = 0, 2
        else:
            raise NotAtOnce
        made = op.op(**{name: self._operand(x, most, least) for name, x in op.arguments.items()})
        self._check(op.outputs[0].spec, self._spec(made))
        self.values[op.outputs[0]] = made

    @staticmethod
    def _is_product(op: Operator, mine: list[Any], nested: bool) -> bool:
        """Return whether an operator computes each row of one operand, and all others come from outside."""
        rows = [v for name, v in op.arguments.items() if name in op.op.rowwise and isinstance(v, Variable)]
        return len(mine) == len(rows) == 1 and mine == rows and (nested or op.op.on_arrays is np.matmul)

    def _operand(self, x: Any, most: int, least: int) -> Any:
        """Return an operand: all entries, with new axes up to a number, or an outer object with at most that many."""
        if type(x) is list:
            return [self._operand(one, most, least) for one in x]
        if not isinstance(x, Variable):
            if not isinstance(x, PLAIN):
                raise NotAtOnce
            return x
        if x not in self.values:
            spec = self._spec(self._outer[x])
            if spec.kind is not np.ndarray or spec.num_levels or len(spec.shape) > least:
                raise NotAtOnce
            return self._outer[x]
        whole, missing = self.values[x], most - _axes(x.spec)
        if missing <= 0:
            return whole
        if self._spec(whole).num_levels:
            raise NotAtOnce
        return index_values(whole, [slice(None)] + [None] * missing)

    def _check(self, entry: Spec, whole: Spec) -> None:
        """Raise unless a result has, for all entries, what was recorded for one."""
        nested = whole.num_levels > 0
        shape = (None, *whole.shape[1:]) if nested else whole.shape[1:]
        fits = len(shape) == len(entry.shape) and all(
            wanted in (None, length) for wanted, length in zip(entry.shape, shape, strict=True)
        )
        counted = nested or whole.shape[:1] == (self._count,)
        levels = whole.num_levels - nested
        if not (fits and counted) or levels != entry.num_levels or whole.dtype != entry.dtype:
            raise NotAtOnce
