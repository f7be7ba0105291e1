"""What compiled steps show in the Scopes of a run: computed from what the run kept, when it is looked at."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.contexts import held
from lodcore.errors import GraphError
from lodcore.graph.gradients.rule_calls import drawing_again
from lodcore.graph.loops.machine import Compiled
from lodcore.graph.loops.passes import Kept
from lodcore.graph.scope import LOOKING, Look, Record
from lodcore.graph.variable import Variable
from lodcore.nn.one_by_one import as_rows
from lodcore.operators.operands import Array

__all__ = ["CellTrace"]

#: By how much a number may differ, relative to the largest of its rows, from what the run computed in another order.
NEAR = {"f": 1e-3, "d": 1e-9}


def _nothing() -> None:
    """Return None, as a dead weak reference does."""


class CellTrace:
    """What a run of the steps of a cell keeps, for gradients and Scopes.

    Parameters
    ----------
    kept : Kept
    frame : list or None
        The values of the prelude.
    drawn : list
        The states of the Generators before the run.
    """

    __slots__ = ("__weakref__", "drawn", "frame", "kept", "record")

    def __init__(self, kept: Kept, frame: Any, drawn: list[Any]) -> None:
        self.kept, self.frame, self.drawn = kept, frame, drawn
        self.record: Callable[[], Record | None] = _nothing

    def record_in(self, op: Any, around: Record) -> Record:
        """Return the Scope of the run, with those of its steps inside; the same object as long as it is used."""
        with held(LOOKING):
            found = self.record()
            if found is None:
                found = Record(None, op.name, functools.partial(self._look, op.arguments["loop"]))
                self.record = weakref.ref(found)
            return found.within(around)

    def _look(self, steps: Any) -> Look:
        """Return the values of outer objects, and what makes the Scopes of the steps."""
        values = {steps.meaning_of(v): x for v, x in self.kept.outer.items()}

        def inside(record: Record) -> list[Record]:
            made = drawing_again(steps.generators, self.drawn, self._steps, steps)
            return [
                Record(record, f"step {t}", functools.partial(_looked, some, set(values)))
                for t, some in enumerate(made)
            ]

        return {v.name: (v, x) for v, x in values.items()}, inside

    def _steps(self, steps: Any) -> list[dict[Variable, Any]]:
        """Run the operators of all steps, each from the states that the run kept; return their values."""
        compiled, found, arrays = steps.compiled, [], self.kept.arrays
        body = compiled.body if isinstance(compiled, Compiled) else None
        states = [] if body is None else [arrays.get(v) for v in body.following]

        def kept(places: Array, computed: list[Array]) -> list[Array]:
            return [x if own is None else own[places] for x, own in zip(computed, states, strict=True)]

        with np.errstate(all="ignore"):
            for places, values in steps.one_by_one.looked(self.kept, steps.is_reverse, None if body is None else kept):
                made = {} if body is None else {v: body.value_of(v) for v in values}
                known = {v: arrays[x] for v, x in made.items() if x is not None and x in arrays}
                last = {own.ctypes.data: v for v, own in known.items()}
                for v, own in known.items():
                    if last[own.ctypes.data] is v:  # no operator has written over it
                        values[v] = _agreed(v, as_rows(own[places], np.ndim(values[v])), values[v])
                found.append(values)
        return found


def _agreed(v: Variable, run: Array, again: Any) -> Array:
    """Return the values that the run computed; raise an error if the operators compute others now."""
    near = NEAR.get(run.dtype.char, 0.0) * np.abs(run[np.isfinite(run)]).max(initial=1.0)
    if not np.allclose(run, again, rtol=0, atol=near, equal_nan=True):
        raise GraphError(
            f"Scope: {v.name}: is computed on access, but an array that the steps read was written since the run"
        )
    return run


def _looked(values: dict[Variable, Any], outer: set[Variable]) -> Look:
    """Return the values of a step by name; there are no Scopes inside."""
    return {v.name: (v, x) for v, x in values.items() if v not in outer}, lambda record: []
