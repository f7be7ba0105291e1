"""The steps of a cell as one operator: compiled once, and run without the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial, reduce
from operator import or_
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.graph.engine import part
from lodcore.graph.gradients.lowered_gradients import LoweredGradients
from lodcore.graph.loops.drawn_numbers import drawn
from lodcore.graph.loops.instruction_lists import Place
from lodcore.graph.loops.instruction_numbers import AFTER, BATCH, BEFORE, EARLIER, LINE, ROW
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.passes import BackwardPass, ForwardPass, Hoisted, Kept, Packed, Wanted
from lodcore.graph.loops.products_of_rows import OuterGradients, Slices, gradients_of_inputs, room_for_inputs
from lodcore.graph.loops.scheduled import Sink, scheduled
from lodcore.graph.loops.traced import Value
from lodcore.graph.loops.zero_states import SMALL, read_at_first, zeroed_by
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import (
    Bundle,
    Neighbours,
    Weight,
    bundles_of,
    in_kept_memory,
    last_rows,
    side_by_side,
)

__all__ = ["Compiled"]


class Compiled:
    """A body whose steps run on the machine.

    Parameters
    ----------
    body : Lowered

    Attributes
    ----------
    prelude, apart, dtype, axes
        As in `Lowered`.
    slices : sequence of Slices
        Of outer objects: their gradients are written into those of the arrays.
    """

    def __init__(self, body: Lowered) -> None:
        self.body = body
        self.prelude, self.apart, self.dtype, self.axes = body.prelude, body.apart, body.dtype, body.axes
        self._forward: dict[Any, ForwardPass] = {}
        self._back: dict[Any, BackwardPass] = {}
        self._outer: dict[BackwardPass, OuterGradients] = {}
        self.slices: Sequence[Slices] = ()
        self._hoisted: dict[Value, Hoisted] = {}
        self.as_given = body.handed_over() - body.in_rows()  # outer objects that are only handed to operators
        self._multiplied: set[int] = set()  # states that are operands of products
        self._computed = self._find_computed()
        self._widths = [v.width for v in body.outputs]
        self._changing = [j for j in range(len(body.states)) if not self._stays(j)]
        self._factors: dict[int, list[Any]] = {}  # the matrices by which each state is multiplied
        for node in body.nodes.values():
            for j in zeroed_by(node.inputs[0]) if node.matrix is not None else ():
                self._factors.setdefault(j, []).append(node.matrix)

    def _find_computed(self) -> dict[Value, None]:
        """Return all values of the forward pass, in a fixed order."""
        found: dict[Value, None] = {}
        todo = [*self.body.outputs, *self.body.following]
        while todo:
            v = todo.pop()
            if v not in found:
                found[v] = None
                todo += v.inputs
                if v.code == "product":
                    x, start = v.inputs[0], 0
                    if x.code == "slice":
                        x, start = x.inputs[0], x.detail
                    if x.code == "state":
                        self._multiplied.add(x.detail)
                    if x.code == "input":
                        self._hoisted[v] = Hoisted(v, x.detail, start, v.inputs[0].width, v.detail[0])
        return found

    def prepare(self) -> None:
        """Make the programs of both passes; raise Untraceable if a vjp rule cannot be traced."""
        body = self.body
        lines = {v.detail for node in body.nodes.values() for v in node.inputs if v.code == "line"}
        matrices = {node.matrix for node in body.nodes.values() if node.matrix is not None}
        outer = frozenset([*lines, *matrices, *[one for op in body.calls for one in op.outer.values()]])
        self.all_wanted = Wanted((True,) * len(body.sources), (True,) * len(body.states), outer)
        self.backward_pass(self.all_wanted, self.all_wanted, (True,) * len(body.outputs))

    # -- programs ------------------------------------------------------------------------------------------------------

    def _stays(self, number: int) -> bool:
        """Return whether no step changes a state."""
        return self.body.following[number] is self.body.states[number]

    def _source(self, v: Value) -> Place | None:
        """Return the place of a value that exists before a step."""
        if v.code == "line":
            return Place(LINE, ("line", v.detail, v.width), v.width)
        if v.code == "number":
            return Place(LINE, ("number", v.detail, v.width), v.width)
        if v.code == "input":
            return Place(BATCH, ("input", v.detail), v.width)
        if v.code == "draw":
            return Place(BATCH, ("draw", v.detail), v.width)
        if v in self._hoisted:
            return Place(BATCH, ("kept", v), v.width)
        if v.code == "state" and self._stays(v.detail):
            return Place(ROW, ("boot", v.detail), v.width)
        return None

    @cached_property
    def _wholes(self) -> dict[Any, Any]:
        """The arrays that slices cover, by what stands for these; read when steps run, when `slices` are known."""
        return {standing: one.whole for one in self.slices if one.covers for standing in one.keys}

    def _zeros(self, boots: list[Array], outer: dict[Any, Array]) -> tuple[bool, ...]:
        """Return which first states are zero, and give zero in every product: no matrix has a nan or a huge number."""
        found, small = [False] * len(boots), {}  # type: list[bool], dict[Any, bool]
        for j, matrices in self._factors.items():
            found[j] = kernels.matrix.is_zero(boots[j])
            for matrix in matrices if found[j] else ():
                whole = self._wholes.get(matrix, matrix)  # one look for all slices of an array
                if whole not in small:
                    small[whole] = kernels.machine.is_below(outer[whole], SMALL)
                found[j] = found[j] and small[whole]
        return tuple(found)

    def forward_pass(self, wanted: Wanted | None, zeros: tuple[bool, ...] = ()) -> ForwardPass:
        """Return the forward pass that keeps the values needed for the wanted gradients."""
        found = self._forward.get((wanted, zeros))
        if found is None:
            body, kept = self.body, set[Value]()
            if wanted is not None:
                back = LoweredGradients(
                    body, wanted.inputs, wanted.states, set(wanted.outer), [True] * len(body.outputs)
                )
                kept = back.kept(set(self._computed), body.outputs)
            again = [j for j in self._changing if body.following[j] in kept and j not in self._multiplied]

            def source(v: Value) -> Place | None:
                if v.code == "state" and v.detail in again:
                    return self._of_previous_row(v.detail)
                if v.code == "state" and not self._stays(v.detail):
                    return Place(BEFORE, ("pair", v.detail, 0), v.width, 0, ("pair", v.detail, 1))
                return self._source(v)

            sinks = [Sink(v, Place(BATCH, ("output", j), v.width)) for j, v in enumerate(body.outputs)]
            own = [v for v in self._computed if v in kept and v not in body.outputs and v not in self._hoisted]
            sinks += [Sink(v, Place(BATCH, ("kept", v), v.width)) for v in own]
            for j, v in enumerate(body.following):
                if j in self._changing and j not in again:
                    sinks.append(Sink(v, Place(AFTER, ("pair", j, 0), v.width, 0, ("pair", j, 1))))

            def first(v: Value) -> int:
                x = v.inputs[0]
                if len(v.inputs) > 1 or not any(zeros[j] for j in (zeroed_by(x) if zeros else ())):
                    return 0
                return 1 if x.code == "state" else 3

            used = {*kept, *body.following}
            spare = {("kept", v): v.width for v in self._hoisted if v not in used}
            movable = {("kept", v) for v in own if v not in body.following}
            made = scheduled(sinks, source, first, spare, movable)
            found = self._forward[wanted, zeros] = ForwardPass(made, body, kept, [*self._hoisted.values()])
        return found

    def _of_previous_row(self, number: int) -> Place:
        """Return the place of a state whose values are kept: in the row before, at the first step in the boot."""
        following = self.body.following[number]
        return Place(EARLIER, ("kept", following), following.width, 0, ("boot", number))

    def backward_pass(
        self, wanted: Wanted, prepared: Any, cotangents: tuple[bool, ...], zeros: tuple[bool, ...] = ()
    ) -> BackwardPass:
        """Return the backward pass; the forward pass was prepared for at least these gradients."""
        found = self._back.get((wanted, prepared, cotangents, zeros))
        if found is None:
            body, forward = self.body, self.forward_pass(prepared)
            back = LoweredGradients(body, wanted.inputs, wanted.states, set(wanted.outer), cotangents)

            def source(v: Value) -> Place | None:
                if v in forward.kept:
                    place = Place(BATCH, ("kept", v), v.width)
                    return forward.program.moved.get(place.key, place)
                if v.code == "after":
                    return Place(AFTER, ("pair", v.detail, 0), v.width, 0, ("pair", v.detail, 1))
                if v.code == "cotangent":
                    return Place(BATCH, ("cotangent", v.detail), v.width)
                if v.code == "state" and not self._stays(v.detail):
                    return self._of_previous_row(v.detail)
                return self._source(v)

            sinks = [Sink(d, Place(BEFORE, ("pair", j, 0), d.width, 0, ("pair", j, 1))) for j, d in back.states.items()]
            sinks += [Sink(d, Place(BATCH, ("d_input", j), d.width)) for j, d in back.inputs.items()]
            sinks += [Sink(d, Place(BATCH, ("d", d), d.width)) for d in back.rooms if d not in back.parts]
            sinks += [Sink(v, Place(ROW, ("row", v), v.width)) for v in back.calls]
            unwanted = {d for j, d in back.states.items() if not wanted.states[j]}
            other = {sink.value for sink in sinks[len(back.states) :]}
            other.update([d for j, d in back.states.items() if wanted.states[j]])
            ends = unwanted - other - read_at_first([x for sink in sinks for x in sink.value.inputs], ())
            needed = read_at_first([*other], zeros)
            small = {matrix for j, zero in enumerate(zeros) if zero for matrix in self._factors.get(j, ())}

            def first(v: Value) -> int:
                if v in ends:
                    return 2
                return 4 if len(v.inputs) == 1 and v.detail[0] in small and v not in needed else 0

            made = scheduled(sinks, source, first)
            found = self._back[wanted, prepared, cotangents, zeros] = BackwardPass(made, body, back)
        return found

    # -- running -------------------------------------------------------------------------------------------------------

    @in_kept_memory
    def forward(
        self,
        inputs: list[Array],
        boots: list[Array],
        outer: dict[Any, Array],
        offsets: Array,
        is_reverse: bool,
        wanted: Wanted | None,
        sources: Mapping[Any, Any],
    ) -> tuple[list[Array], list[Array], Kept, int]:
        """Run the steps.

        Parameters
        ----------
        inputs : list of ndarray, shape (rows, width)
        boots : list of ndarray, shape (sequences, width)
            The first states.
        outer : dict
            The outer objects, and the results of the prelude by what stands for them.
        offsets : int64, shape (sequences + 1,)
        is_reverse : bool
        wanted : Wanted, optional
            What gradients may be asked for later; None for none.
        sources : dict
            The Generators to draw from, by those of the record.

        Returns
        -------
        outputs, last_states : list of ndarray
        kept : Kept
        flags : int
            What `kernels.machine.run_steps` returns.
        """
        zeros = self._zeros(boots, outer)
        one = self.forward_pass(wanted, zeros)
        calls = self.body.calls  # which see all rows of a step
        bundles = bundles_of(offsets, 0 if calls else one.work, is_reverse)
        draws = [one._replace(generator=sources[one.generator]) for one in self.body.draws]
        numbers = drawn(draws, offsets, is_reverse, self.body.dtype) if draws else ()
        frames = [] if wanted is None else [[None] * len(bundles[0].steps) for _ in calls]
        count, dtype = int(offsets[-1]), self.body.dtype
        given = Kept({}, bundles, offsets, count, inputs, boots, outer, wanted, zeros, numbers, frames)
        outputs = [np.empty((count, width), dtype) for width in self._widths]
        for v, width, output in one.rooms:
            given.arrays[v] = np.empty((count, width), dtype) if output < 0 else outputs[output]
        for v, whole, column in one.moved:
            given.arrays[v] = given.arrays[whole][:, column : column + v.width]
        own = {("output", j): made for j, made in enumerate(outputs)}
        packed = part("pack matrices", _packed, outer, one.matrices)
        flags, ends = [0] * len(bundles), [own] * len(bundles)

        def task(number: int) -> None:
            flags[number], ends[number] = self._run_forward(one, given, bundles[number], packed, own)

        if len(bundles) == 1:
            task(0)
        else:
            side_by_side([partial(task, number) for number in range(len(bundles))], count * one.work)
        return outputs, self._last_states(given, ends), given, reduce(or_, flags, 0)

    def _run_forward(
        self, one: ForwardPass, given: Kept, bundle: Bundle, packed: Packed, own: dict[Any, Array]
    ) -> tuple[int, dict[Any, Array]]:
        """Run the forward pass on the sequences of one bundle; return the flags, and its arrays by key."""
        for v, j, start, width, matrix in one.hoisted:
            rows = given.inputs[j][bundle.low : bundle.high, start : start + width]
            part("products for all rows", packed[matrix, False].times, rows, given.arrays[v][bundle.low : bundle.high])
        if one.states and len(given.bundles) > 1:  # whose arrays belong to this bundle
            own = own.copy()
        for j in one.states:
            boot = given.boots[j]
            first = own["pair", j, 0] = bundle.states(boot, boot.shape[1], self.body.dtype)
            own["pair", j, 1] = np.empty_like(first)
        return part("steps", one.run, given, bundle, packed, own, False, {}), own

    def _last_states(self, given: Kept, ends: list[dict[Any, Array]]) -> list[Array]:
        """Return the state after each sequence: that of its last row, or its first state if it has none."""
        backwards, offsets = given.bundles[0].backwards if given.bundles else False, given.offsets
        every = sum([len(bundle.order) for bundle in given.bundles]) == len(offsets) - 1  # no sequence is empty
        filled: Any = None
        if every:
            rows = offsets[:-1] if backwards else offsets[1:] - 1
        else:
            filled, rows = last_rows(offsets, backwards)
        found = []
        for j, boot in enumerate(given.boots):
            states = given.arrays.get(self.body.following[j])
            if states is not None and every and j in self._changing:
                found.append(states.take(rows, 0))
                continue
            made = boot.astype(self.body.dtype)
            found.append(made)
            if j not in self._changing:
                continue
            if states is not None:
                made[filled] = states[rows]
                continue
            for bundle, own in zip(given.bundles, ends, strict=True):
                odd = np.diff(given.offsets)[bundle.order] % 2 == 1
                made[bundle.order] = np.where(odd[:, None], own["pair", j, 1], own["pair", j, 0])
        return found

    @in_kept_memory
    def backward(
        self,
        given: Kept,
        cotangents: Sequence[Array | None],
        d_lasts: Sequence[Array | None],
        wanted: Wanted,
    ) -> tuple[list[Array | None], list[Array | None], dict[Any, Array], int]:
        """Run the backward pass.

        Parameters
        ----------
        given : Kept
            From `forward`, for at least these gradients.
        cotangents, d_lasts : sequence of ndarray or None
            Those of outputs and last states.
        wanted : Wanted

        Returns
        -------
        d_inputs, d_boots : list of ndarray or None
        d_outer : dict
            By object; not for a slice, but for its array.
        flags : int
        """
        one = self.backward_pass(wanted, given.wanted, tuple([d is not None for d in cotangents]), given.zeros)
        count, dtype = given.n_rows, self.body.dtype
        own: dict[Any, Array] = {key: np.empty((count, width), dtype) for key, width in one.rooms}
        for d, (whole, column) in one.way.parts.items():
            own["d", d] = own["d", whole][:, column : column + d.width]
        for j, d_output in enumerate(cotangents):
            if d_output is not None:
                own["cotangent", j] = d_output
        packed = part("pack matrices", _packed, given.outer, one.matrices)
        d_boots: list[Any] = [
            None if not needed else np.zeros_like(boot) if d is None else d.astype(dtype)
            for needed, boot, d in zip(wanted.states, given.boots, d_lasts, strict=True)
        ]
        d_inputs = room_for_inputs(given, one.way, own)
        flags, totals = [0] * len(given.bundles), {}  # type: list[int], dict[Any, Any]

        def task(number: int) -> None:
            bundle, mine = given.bundles[number], own if len(given.bundles) == 1 else own.copy()
            for j in one.way.states:  # sequences begin at even and at odd steps
                for side in range(2):
                    mine["pair", j, side] = bundle.states(d_lasts[j], given.boots[j].shape[1], dtype)
            flags[number] = part("steps", one.run, given, bundle, packed, mine, True, totals)
            for j in one.way.states:
                if wanted.states[j]:
                    d_boots[j][bundle.order] = mine["pair", j, 0]
            rows = slice(bundle.low, bundle.high)
            part("gradients of inputs", gradients_of_inputs, one.way, own, packed, d_inputs, rows)

        neighbours = Neighbours(given.offsets, given.bundles[0].backwards if given.bundles else False)
        if len(given.bundles) == 1:
            task(0)
            neighbours.find()
        else:
            tasks = [partial(task, number) for number in range(len(given.bundles))]
            side_by_side([*tasks, neighbours.find], count * one.work)
        outer = self._outer.get(one)
        if outer is None:
            outer = self._outer[one] = OuterGradients(self.body, one.way, self.slices)
        d_outer = part("gradients of matrices", outer.run, given, own, neighbours)
        for one_outer, d in totals.items():
            d_outer[one_outer] = d_outer[one_outer] + d if one_outer in d_outer else d
        return d_inputs, d_boots, d_outer, reduce(or_, flags, 0)

    def read_outside(self) -> set[Any]:
        """Return the outer objects, and what stands for results of the prelude, that steps read."""
        return self.body.in_rows() | self.body.handed_over()

    def computed_at_once(self, variable: Any) -> bool:
        """Return whether a Variable of the body is computed for all rows before the steps run."""
        value = self.body.value_of(variable)
        return value in self._hoisted or value in self.body.parts_of_products

    def states_with_gradient(self, given: Kept, wanted: Wanted, cotangents: Sequence[Array | None]) -> set[int]:
        """Return the numbers of the states that have a gradient in the backward pass."""
        known = tuple([d is not None for d in cotangents])
        return {*self.backward_pass(wanted, given.wanted, known, given.zeros).way.states}


def _packed(outer: dict[Any, Array], needed: Iterable[tuple[Any, bool]]) -> Packed:
    """Pack matrices for products."""
    return {one: Weight(outer[one[0]], one[1]) for one in needed}
