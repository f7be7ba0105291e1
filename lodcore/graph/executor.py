"""Executor: runs a Program on what is fed, and gives what is fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lodcore.errors import DTypeError, GraphError, LoDError, ShapeError
from lodcore.graph.block import Frame
from lodcore.graph.program import GradientOperator, Program, finished
from lodcore.graph.scope import Scope
from lodcore.graph.variable import Variable, spec_text
from lodcore.nested import as_array
from lodcore.registry import Spec, spec_of
from lodcore.symbol import recording
from lodcore.tensor import LoDTensor, Tensor, as_nested
from lodcore.tensor_array import TensorArray

__all__ = ["Executor"]


class Executor:
    """Runs Programs.

    Attributes
    ----------
    scope : Scope
        What the last run computed, by name.
    """

    def __init__(self) -> None:
        self.scope = Scope()

    def run(self, program: Program, feed: Mapping[Any, Any] | None = None, fetch: Sequence[Any] = ()) -> list[Any]:
        """Run a Program.

        Parameters
        ----------
        program : Program
        feed : dict
            A value for each `data`, by its name or Variable.
        fetch : list of Variable or str
            What to give; only operators on the way to it run. All run, if it is empty.

        Returns
        -------
        list
            One value a fetched Variable.

        Raises
        ------
        GraphError
            If something is not fed, fed without a place, or fetched and not there.
        DTypeError, ShapeError, LoDError
            If what is fed is not as the Program says.
        """
        if not isinstance(program, Program):
            raise DTypeError(f"Executor.run: program: is {type(program).__name__}; a Program is needed")
        frame = self._fed(program, feed or {})
        wanted = [_found(program, one) for one in fetch]
        ops = _on_the_way(program.ops, wanted) if wanted else program.ops
        keep = any(isinstance(op, GradientOperator) for op in ops)
        produced = {out for op in program.ops for out in op.outputs}
        for op in ops:
            for x in op.inputs:
                if x not in frame and x not in produced:
                    if not x.has_value:
                        raise GraphError(f"Executor.run: feed: {x.name}: {spec_text(x.spec)} is not fed")
                    frame[x] = x.get()
        with recording(None):
            for op in ops:
                op.run(frame, keep)
        self.scope = Scope.over(frame)
        gradient_of = {x: d for op in ops if isinstance(op, GradientOperator) for x, d in op.gradient_of.items()}
        return [self._given(one, frame, gradient_of) for one in wanted]

    def _given(self, one: Variable, frame: Frame, gradient_of: dict[Variable, Variable]) -> Any:
        if any(one is d for d in gradient_of.values()):
            return finished(one, frame, gradient_of)
        if one not in frame:
            if not one.has_value:
                raise GraphError(f"Executor.run: fetch: {one.name} is not fed")
            return one.get()
        return frame[one]

    def _fed(self, program: Program, feed: Mapping[Any, Any]) -> Frame:
        """Check what is fed."""
        frame: Frame = {}
        places = {v.name: v for v in program.feeds}
        for key, value in feed.items():
            name = key.name if isinstance(key, Variable) else key
            if name not in places:
                known = ", ".join(places) or "none"
                raise GraphError(f"Executor.run: feed: {name}: the Program has no such data; it has {known}")
            variable = places[name]
            frame[variable] = _checked(f"Executor.run: feed: {name}", variable.spec, value)
        return frame


def _checked(where: str, spec: Spec, value: Any) -> Any:
    """Check a value that is fed against the Spec of its `data`."""
    if not isinstance(value, (Tensor, TensorArray)):
        value = as_nested(where, value) if spec.num_levels else as_array(where, value)
    found = spec_of(value)
    if found.num_levels != spec.num_levels:
        raise LoDError(f"{where}: has {found.num_levels} levels; the Program says {spec.num_levels}")
    if found.dtype != spec.dtype:
        raise DTypeError(f"{where}: has dtype {found.dtype}; the Program says {spec.dtype}")
    shape = value.values.shape if isinstance(value, LoDTensor) else found.shape
    sizes = zip(shape, spec.shape, strict=False)
    if len(shape) != len(spec.shape) or any(b is not None and a != b for a, b in sizes):
        raise ShapeError(f"{where}: has values of shape {shape}; the Program says {spec_text(spec)}")
    return value


def _found(program: Program, one: Any) -> Variable:
    """Find a Variable that is to be fetched."""
    if isinstance(one, str):
        try:
            return program.var(one)
        except KeyError:
            raise GraphError(f"Executor.run: fetch: {one}: the Program has no such Variable") from None
    found = one.current() if isinstance(one, Variable) else one
    if not isinstance(found, Variable):
        raise GraphError(f"Executor.run: fetch: is {type(found).__name__}; a Variable or a name is needed")
    return program.versions.get(found, found)


def _on_the_way(ops: list[Any], wanted: list[Variable]) -> list[Any]:
    """List the operators on which something depends, in their order."""
    needed = set(wanted)
    chosen = []
    for op in reversed(ops):
        if any(out in needed for out in op.outputs):
            needed.update(op.inputs)
            needed.update(op.outputs)
            if isinstance(op, GradientOperator):
                needed.update(op.forward.outputs)
            chosen.append(op)
    return chosen[::-1]
