"""Operators that are called in each step of a compiled body, between the passes: what no instruction computes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lodcore.errors import ShapeError
from lodcore.graph import engine
from lodcore.graph.block import Operator
from lodcore.graph.engine import Layout
from lodcore.graph.gradients.cotangents import Gradients, path
from lodcore.graph.gradients.rule_calls import BackwardCall
from lodcore.graph.loops.array_versions import new_variable
from lodcore.graph.loops.frames import named_error
from lodcore.graph.random_states import generators_of
from lodcore.graph.trees import in_lists
from lodcore.graph.variable import Variable
from lodcore.operators.operands import Array
from lodcore.operators.roles import spec_of
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["CalledOp", "bound", "may_be_called"]

COUNTS = (7919, 104729)  # numbers of rows that no result has by chance


def may_be_called(op: Any, rows: list[Variable]) -> bool:
    """Return whether an operator has a gradient, and results with a row for each row of its operands.

    For the latter, its Spec rule is asked about two numbers of rows.
    """
    if not op.op.differentiable or op.op.keeps_versions or generators_of([op]):
        return False
    if any(hasattr(x, "bodies") or isinstance(x, TensorArray) for x in op.arguments.values()):
        return False
    return all(_keeps_rows(op, set(rows), count) for count in COUNTS)


def _keeps_rows(op: Operator, rows: set[Variable], count: int) -> bool:
    def known(x: Any) -> Any:
        if isinstance(x, Variable):
            return x.spec._replace(shape=(count, *x.spec.shape[1:])) if x in rows else x.spec
        return spec_of(x) if isinstance(x, Tensor) else x

    arguments = {name: in_lists(known, x) if name in op.op.roles else x for name, x in op.arguments.items()}
    try:
        found = op.op.infer_arguments(arguments)
    except MemoryError:
        raise
    except Exception:  # an error of sizes
        return False
    wanted = [out.spec._replace(shape=(count, *out.spec.shape[1:])) for out in op.outputs]
    return ([found] if isinstance(found, Spec) else list(found)) == wanted


class CalledOp:
    """An operator that is called in each step, on Variables of its own: it does not refer to those of the body.

    Parameters
    ----------
    op : Operator
    rows : list of Variable
        Its operands that are rows, each once; in a pass they lie side by side, and so do the results.
    widths : list of int
    truths : list of bool
        Whether they stand for bools.
    outer : dict
        What stands for its other operands, by Variable.
    """

    def __init__(
        self, op: Operator, rows: list[Variable], widths: list[int], truths: list[bool], outer: dict[Variable, Any]
    ) -> None:
        own = {v: new_variable(str(v.name), None, v.spec, None) for v in (*rows, *outer, *op.outputs)}
        renamed = partial(in_lists, lambda x: own[x] if isinstance(x, Variable) else x)
        self.op = op = Operator(
            op.op, {name: renamed(x) for name, x in op.arguments.items()}, [own[v] for v in op.outputs], op.single
        )
        self.rows, self.outer = [own[v] for v in rows], {own[v]: standing for v, standing in outer.items()}
        self.widths, self._truths = widths, truths
        self._layout = Layout()
        self._layout.slots([*self.rows, *self.outer])
        self._calls = [op.call(self._layout, keep) for keep in (False, True)]
        self._outs = self._layout.slots(op.outputs)
        self.result_widths = [1 if len(v.spec.shape) == 1 else v.spec.shape[1] or 0 for v in op.outputs]
        self._ways: dict[Any, tuple[set[Variable], list[BackwardCall]]] = {}

    def run(
        self, frames: list[Any] | None, outer: dict[Any, Any], out: Array, given: Array, t: int, count: int
    ) -> None:
        """Run on the rows of a step; keep its values for the way back if there is a place for them."""
        made: list[Any] = [None]
        start = 0
        for v, width, truth in zip(self.rows, self.widths, self._truths, strict=True):
            x = given[:count, start : start + width].astype(bool if truth else given.dtype)
            made.append(x if len(v.spec.shape) == 2 else x[:, 0])
            start += width
        made += [outer[standing] for standing in self.outer.values()]
        frame = made + self._layout.base[len(made) :]
        self._told(t, engine.run, [self._calls[frames is not None]], frame, 1)
        start = 0
        for slot, width in zip(self._outs, self.result_widths, strict=True):
            y = np.asarray(frame[slot])
            if len(y) != count:
                raise ShapeError(
                    f"dynamic_rnn: step {t}: {self.op.name}: has {len(y)} rows; {count} are needed, as its rule for "
                    "shapes says"
                )
            out[:count, start : start + width] = y.reshape(count, width)
            start += width
        if frames is not None:
            frames[t] = frame

    def go_back(
        self,
        needs: tuple[bool, ...],
        wanted: tuple[Any, ...],
        frames: list[Any],
        totals: dict[Any, Any],
        out: Array,
        given: Array,
        t: int,
        count: int,
    ) -> None:
        """Write the gradients of rows in a step, and add those of other operands to their totals."""
        needed, ways = self._way(needs, wanted)
        gradients, start = Gradients(needed), 0
        for v, width in zip(self.op.outputs, self.result_widths, strict=True):
            d = given[:count, start : start + width].copy()
            gradients.add(v, d if len(v.spec.shape) == 2 else d[:, 0])
            start += width
        self._told(t, gradients.back, ways, frames[t])
        gradients.finish()
        start = 0
        for v, width, need in zip(self.rows, self.widths, needs, strict=True):
            if need:
                found = gradients.found.get(v)
                out[:count, start : start + width] = 0 if found is None else np.asarray(found).reshape(count, width)
                start += width
        for v, standing in self.outer.items():
            found = gradients.found.get(v)
            if found is not None:
                totals[standing] = totals[standing] + found if standing in totals else found

    def _way(self, needs: tuple[bool, ...], wanted: tuple[Any, ...]) -> tuple[set[Variable], list[BackwardCall]]:
        """Return the Variables that need a gradient, and the way back."""
        found = self._ways.get((needs, wanted))
        if found is None:
            sources, shared = [v for v, need in zip(self.rows, needs, strict=True) if need], {*wanted}
            sources += [v for v, standing in self.outer.items() if standing in shared]
            needed, some = path([self.op], sources)
            found = set(needed), [BackwardCall(op, set(needed), self._calls[True], set()) for op in some]
            self._ways[needs, wanted] = found
        return found

    def _told(self, t: int, function: Any, *args: Any) -> None:
        try:
            function(*args)
        except Exception as error:
            raise named_error(error, f"dynamic_rnn: step {t}", self.op.name) from error


def bound(calls: list[CalledOp], given: Any, totals: dict[Any, Any]) -> Any:
    """Return a factory of the functions that the machine calls: of an operator by its number, or of its backward pass.

    Parameters
    ----------
    calls : list of CalledOp
    given : Kept
    totals : dict
        The totals to which gradients are added.
    """

    def bind(detail: Any, out: Array, x: Array) -> Any:
        if type(detail) is int:
            frames = given.frames[detail] if given.frames else None
            return partial(calls[detail].run, frames, given.outer, out, x)
        _, number, needs, wanted = detail
        return partial(calls[number].go_back, needs, wanted, given.frames[number], totals, out, x)

    return bind
