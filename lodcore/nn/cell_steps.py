"""The compiled steps of a cell as one operator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.caller import named_caller
from lodcore.base.dtypes import native_dtype
from lodcore.errors import LoDError
from lodcore.graph import engine
from lodcore.graph.engine import Layout
from lodcore.graph.fetching import unwritten
from lodcore.graph.gradients.cotangents import Gradients, path
from lodcore.graph.gradients.rule_calls import BackwardCall, drawing_again
from lodcore.graph.loops.body import spec_in_body
from lodcore.graph.loops.instruction_numbers import is_told
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.machine import Compiled
from lodcore.graph.loops.passes import Wanted
from lodcore.graph.loops.traced import Untraceable
from lodcore.graph.loops.while_loop import LoopOp
from lodcore.graph.random_states import generators_of, states_of
from lodcore.graph.trees import tree_leaves, tree_map
from lodcore.graph.variable import Variable, resolved
from lodcore.nn.cell_scopes import CellTrace
from lodcore.nn.cell_slices import add_slices, apart, cut, slices_of
from lodcore.nn.one_by_one import OneByOne, Uncompiled, as_factor, as_matrix, as_rows
from lodcore.nn.script import Script
from lodcore.operators.registry import Saved
from lodcore.operators.roles import Batches
from lodcore.tensors import lod_body, lod_tensor_body
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["CellSteps"]


class CellSteps:
    """The compiled steps of a cell.

    Parameters
    ----------
    compiled : Compiled or None
        None for a body that runs operator by operator.
    outer : list of Variable
        What the body reads besides inputs and states.
    given : list
        The objects that these represent.
    changed : list of int
        The numbers of the states that the cell changes.

    Attributes
    ----------
    script : Script or None
        The record of the cell, which counts who refers to its Variables.
    """

    def __init__(
        self, loop: Any, compiled: Compiled | None, outer: list[Any], given: list[Any], changed: list[int]
    ) -> None:
        self.outer, self.given, self.changed = outer, given, changed
        self.level, self.is_reverse = loop.level, loop.is_reverse
        inputs, before = tree_leaves(loop.inputs), tree_leaves(loop.before)
        self.n_inputs, self.n_states = len(inputs), len(before)
        self.ops = list(loop.ops)
        self.inputs, self.before, self.behind = inputs, before, tree_leaves(loop.behind)
        self.outputs = [resolved(v) for v in tree_leaves(loop.outputs)]
        self.output_specs = [v.spec for v in self.outputs]
        prelude, dtype = set(() if compiled is None else compiled.prelude), dtype_of(inputs)
        ops, behind = [op for op in self.ops if op not in prelude], [resolved(v) for v in self.behind]
        self._apart = {} if compiled is None else compiled.apart
        self._meant = {standing: v for v, standing in self._apart.items()}
        self._one_by_one = OneByOne(ops, inputs, before, self.outputs, behind, dtype, self._apart)
        self.script: Script | None = None
        self.compiled = compiled or Uncompiled(self._one_by_one, dtype, self.outputs, self.is_reverse)
        self.state_specs = [v.spec for v in before]
        self._layout = Layout()
        self._layout.slots(outer)
        self._slices, self._once = slices_of(list(self.compiled.prelude), outer, self._apart)
        if compiled is not None:
            read = compiled.read_outside()
            self._slices = [one for one in self._slices if one.standing in read]
            compiled.slices = apart(self._slices)
        self._prelude = [op.call(self._layout, True) for op in self._once]
        self._ways: dict[tuple[bool, ...], tuple[Wanted, Any]] = {}
        self._axes = [len(v.spec.shape) for v in (*inputs, *before)]
        self.generators = self._recorded = generators_of(self.ops)

    @classmethod
    def of(cls, loop: Any, is_compiled: bool = True) -> CellSteps | None:
        """Compile the body of a loop; return None if an operator cannot take part.

        Parameters
        ----------
        loop : CellLoop
        is_compiled : bool
            Whether only compiled steps are wanted; otherwise those of a body that cannot be compiled run operator by
            operator.
        """
        ops, inputs, before, behind = loop.ops, *map(tree_leaves, (loop.inputs, loop.before, loop.behind))
        outputs = [resolved(x) for x in tree_leaves(loop.outputs)]
        if not all(isinstance(v, Variable) for v in outputs):
            return None
        compiled = _compiled(ops, inputs, before, outputs, behind)
        if compiled is None and is_compiled:
            return None
        known = {local: given for given, local in loop.body.captures.values()}
        outer = list(dict.fromkeys(v for op in ops for v in op.inputs if v in known))
        outer += [v for v in (*outputs, *behind) if isinstance(v, Variable) and v in known and v not in outer]
        if any(isinstance(known[v], TensorArray) for v in outer):
            return None
        changed = [j for j, (old, new) in enumerate(zip(before, behind, strict=True)) if old is not new]
        return cls(loop, compiled, outer, [known[v] for v in outer], changed)

    def __repr__(self) -> str:
        return f"<cell of {len(self.ops)} operators>"

    @property
    def bodies(self) -> list[Any]:
        """What has operators."""
        return [self]

    def with_ops(self, ops: list[Any]) -> CellSteps:
        """Return the same steps with other operators, of the same Variables."""
        other = copy.copy(self)
        other.ops = ops
        made = _compiled(ops, self.inputs, self.before, self.outputs, self.behind)
        return CellSteps(other, made, self.outer, self.given, self.changed)

    @property
    def groups(self) -> list[tuple[str, list[Any]]]:
        """The operators that run together, and how."""
        compiled = self.compiled
        if not isinstance(compiled, Compiled):
            return [("one by one in each step", self.ops)]
        once = set(compiled.prelude)
        rows = [op for op in self.ops if op not in once]
        at_once = [op for op in rows if compiled.computed_at_once(op.outputs[0])]
        together = [op for op in rows if op not in at_once]
        named = [("once", list(compiled.prelude)), ("for all rows at once", at_once)]
        return [*[one for one in named if one[1]], ("together in each step", together)]

    def meaning_of(self, outer: Any) -> Any:
        """Return the Variable of an outer object, or the one that a placeholder stands for."""
        return self._meant.get(outer, outer)

    @property
    def one_by_one(self) -> OneByOne:
        """The operators that run in each step."""
        if self.generators is self._recorded:
            return self._one_by_one
        return self._one_by_one.drawing_from(dict(zip(self._recorded, self.generators, strict=True)))

    def drawing_from(self, sources: dict[Any, Any]) -> CellSteps:
        """Return the same steps with the Generators of a call in place of the recorded ones."""
        found = [sources[one] for one in self._recorded]
        if all(one is other for one, other in zip(found, self._recorded, strict=True)):
            return self
        made = copy.copy(self)
        made.generators, made.given = found, []
        return made

    # -- running -------------------------------------------------------------------------------------------------------

    def results(self, xs: list[Any], state: Any, outputs: Any, lasts: Any) -> tuple[Any, Any]:
        """Run the steps; return outputs and last states as trees.

        Parameters
        ----------
        xs : list of LoDTensor or Variable
        state : tree
            The states before the first step.
        outputs, lasts : tree
            Of the forms of the results; None for a state that no step changes.
        """
        steps = self if self.script is None or not self.generators else self.drawing_from(self.script.sources)
        found = iter(RUN([*xs, *tree_leaves(state), *self.given], steps))
        made = tree_map(lambda _: next(found), outputs)
        return made, tree_map(lambda array, boot: unwritten(boot) if array is None else next(found), lasts, state)

    def run(self, inputs: list[Any], keep: bool) -> tuple[tuple[Any, ...], Any]:
        """Run all steps; return the results, and the values that gradients need."""
        compiled, dtype = self.compiled, self.compiled.dtype
        xs, states = inputs[: self.n_inputs], inputs[self.n_inputs : self.n_inputs + self.n_states]
        lod = xs[0].lod
        offsets = np.asarray(lod_body.offsets_view(lod, self.level))
        boots = [as_matrix(np.asarray(one), dtype) for one in states]
        count = len(offsets) - 1
        for one in boots:
            if len(one) != count:
                raise LoDError(f"dynamic_rnn: initial_state: has {len(one)} entries; there are {count} sequences")
        given = inputs[self.n_inputs + self.n_states :]
        if self._prelude:
            frame = [None, *given, *self._layout.base[1 + len(self.outer) :]]
            engine.run(self._prelude, frame, len(self._prelude))
            values = {self._apart.get(v, v): x for v, x in self._layout.values(frame).items()}
        else:
            frame, values = None, dict(zip(self.outer, given, strict=True))
        if isinstance(compiled, Compiled):
            as_given = compiled.as_given  # sequences are given to operators alone, also to those before the first step
            outer = {
                v: x if v in as_given or isinstance(x, LoDTensor) else as_factor(x, dtype) for v, x in values.items()
            }
        else:
            outer = values
        if self._slices:
            engine.part("index_values", cut, self._slices, outer)
        wanted = compiled.all_wanted if keep else None
        rows = [as_matrix(x.values, dtype) for x in xs]
        drawn, sources = [], {}  # type: list[Any], dict[Any, Any]
        if self.generators:
            drawn, sources = states_of(self.generators), dict(zip(self._recorded, self.generators, strict=True))
        outputs, lasts, kept, flags = compiled.forward(rows, boots, outer, offsets, self.is_reverse, wanted, sources)
        if flags and is_told(flags):
            for generator, state in zip(self.generators, drawn, strict=True):
                generator.bit_generator.state = state
            self.one_by_one.forward(kept, self.is_reverse)
        axes = compiled.axes
        found = [lod_tensor_body.new_tensor(y if n == 2 else y[:, 0], lod) for y, n in zip(outputs, axes, strict=True)]
        ends = [lasts[j] if states[j].ndim == 2 else lasts[j][:, 0] for j in self.changed]
        return (*found, *ends), CellTrace(kept, frame, drawn)

    # -- gradients -----------------------------------------------------------------------------------------------------

    def go_back(self, cotangents: tuple[Any, ...], saved: Any, needs: Sequence[bool]) -> list[Any]:
        """Return the gradients of the inputs."""
        kept, frame, drawn = saved.kept, saved.frame, saved.drawn
        compiled, dtype = self.compiled, self.compiled.dtype
        m, n_outputs = self.n_states, len(self.outputs)
        wanted, way = self._wanted(tuple(needs))
        rows = [None if d is None else as_matrix(np.asarray(d), dtype) for d in cotangents[:n_outputs]]
        lasts: list[Any] = [None] * m
        for j, d in zip(self.changed, cotangents[n_outputs:], strict=True):
            lasts[j] = None if d is None else as_matrix(np.asarray(d), dtype)
        given = kept, rows, lasts, wanted
        if drawn and not isinstance(compiled, Compiled):  # its steps run again
            d_rows, d_boots, d_outer, flags = drawing_again(self.generators, drawn, compiled.backward, *given)
        else:
            d_rows, d_boots, d_outer, flags = compiled.backward(*given)
        if flags and is_told(flags):
            assert isinstance(compiled, Compiled)
            numbers = compiled.states_with_gradient(kept, wanted, rows)
            run, rest = self.one_by_one.back, (*given, numbers, self.is_reverse)
            drawing_again(self.generators, drawn, run, *rest)
        add_slices(d_outer, self._slices, kept.outer)
        if way is not None and way[1]:
            gradients = Gradients(way[0])
            for v, d in d_outer.items():
                gradients.add(self._meant.get(v, v), d)
            gradients.back(way[2], frame)
            gradients.finish()
            d_outer = gradients.found
        found = [as_rows(d, axes) for d, axes in zip((*d_rows, *d_boots), self._axes, strict=True)]
        return found + [d_outer.get(v) for v in self.outer]

    def _wanted(self, needs: tuple[bool, ...]) -> tuple[Wanted, Any]:
        """Return what gradients are wanted for, and the backward pass through the prelude."""
        found = self._ways.get(needs)
        if found is None:
            n, m = self.n_inputs, self.n_states
            outer = {v for v, needed in zip(self.outer, needs[n + m :], strict=True) if needed}
            way, script = None, self.script
            before = [] if script is None else script.counts()
            outer_slices = {one.standing for one in self._slices if one.whole in outer}
            if self._prelude:
                prelude = self._once
                needed, ops = path(prelude, [v for v in self.outer if v in outer])
                calls = dict(zip(prelude, self._prelude, strict=True))
                way = needed, ops, [BackwardCall(op, needed, calls[op], set()) for op in reversed(ops)]
                outer |= {self._apart[v] for op in ops for v in op.outputs}
            wanted = Wanted(tuple(needs[:n]), tuple(needs[n : n + m]), frozenset(outer | outer_slices))
            found = self._ways[needs] = wanted, way
            if script is not None:
                script.grow(before)
        return found

    def specs(self, inputs: list[Any]) -> tuple[Spec, ...]:
        """Return the Specs of the results."""
        x = inputs[0]
        made = [Spec((x.shape[0], *spec.shape[1:]), spec.dtype, x.num_levels, LoDTensor) for spec in self.output_specs]
        return (*made, *[spec_in_body(self.state_specs[j]) for j in self.changed])


def _compiled(ops: list[Any], inputs: Any, before: Any, outputs: Any, behind: Any) -> Compiled | None:
    """Compile operators; return None if one cannot take part."""
    try:
        if not kernels.matrix.is_fast():
            return None
        body = Lowered(ops, inputs, before, outputs, behind, dtype_of(inputs))
        together = body.find_together()
        if together:
            body.nodes.clear()  # whose rules refer to the body, and so to Variables, until garbage is collected
            body = Lowered(ops, inputs, before, outputs, behind, dtype_of(inputs), together)
        made = Compiled(body)
        made.prepare()
    except (Untraceable, RecursionError):
        return None
    return made


def dtype_of(inputs: list[Variable]) -> np.dtype[Any]:
    """Return the dtype of the numbers of a body."""
    return native_dtype(inputs[0].spec.dtype)


def _run(inputs: Any, loop: CellSteps, *, saved: Saved = None) -> Any:
    with named_caller():
        results, kept = loop.run(inputs, saved is not None)
    if saved is not None:
        saved["kept"] = kept
    return results


RUN = LoopOp(_run, {"inputs": Batches}, results=None)  # type: ignore[arg-type]
RUN.__name__ = "recurrence"


@RUN.define_infer
def _(inputs: list[Any], loop: CellSteps) -> tuple[Spec, ...]:
    return loop.specs(inputs)


@RUN.define_vjp
def _(cotangents: tuple[Any, ...], loop: CellSteps, kept: Any, needs: Any) -> list[Any]:
    return loop.go_back(cotangents, kept, needs.inputs)
