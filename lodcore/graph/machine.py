"""The steps of a cell as one operator: compiled once, and run without the interpreter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.graph.instructions import AFTER, BATCH, BEFORE, EARLIER, LINE, ROW
from lodcore.graph.lowered import Lowered
from lodcore.graph.scheduled import Place, Program, Sink, scheduled
from lodcore.graph.traced import Value
from lodcore.graph.way_back import WayBack
from lodcore.ops.common import Array
from lodcore.ops.gates import Neighbours, Run, Weight, add_up, in_kept_memory, pair_product, runs_of, side_by_side

__all__ = ["Compiled", "Kept"]

Key = Hashable
Packed = dict[tuple[Any, bool], Weight]  # matrices, or transposed ones


class Wanted(NamedTuple):
    """Of what gradients are wanted: inputs, first states, and outer objects."""

    inputs: tuple[bool, ...]
    states: tuple[bool, ...]
    outer: frozenset[Any]


class Kept(NamedTuple):
    """What the forward pass keeps for gradients.

    Attributes
    ----------
    arrays : dict
        Arrays with a row for each row of the batch, by key.
    runs : list of Run
    offsets : ndarray
    inputs, boots : list of ndarray
    outer : dict
        The outer objects.
    wanted : Wanted or None
        Of what gradients may be asked for.
    zeros : tuple of bool
        Which first states are zero, and give zero in every product.
    """

    arrays: dict[Key, Array]
    runs: list[Run]
    offsets: Array
    inputs: list[Array]
    boots: list[Array]
    outer: dict[Any, Array]
    wanted: Wanted | None
    zeros: tuple[bool, ...]

    @property
    def n_rows(self) -> int:
        """The rows of the batch."""
        return int(self.offsets[-1])


class Compiled:
    """A body whose steps run on the machine.

    Parameters
    ----------
    body : Lowered
    """

    def __init__(self, body: Lowered) -> None:
        self.body = body
        self._forward: dict[Any, tuple[Program, set[Value]]] = {}
        self._back: dict[Any, tuple[Program, WayBack]] = {}
        self._numbers: dict[Any, Array] = {}
        self._hoisted: dict[Value, tuple[int, int, int, Any]] = {}
        self._computed = self._find_computed()

    def _find_computed(self) -> set[Value]:
        """Return all values of the forward pass."""
        found: set[Value] = set()
        todo = [*self.body.outputs, *self.body.following]
        while todo:
            v = todo.pop()
            if v not in found:
                found.add(v)
                todo += v.inputs
                if v.code == "product":
                    x, start = v.inputs[0], 0
                    if x.code == "slice":
                        x, start = x.inputs[0], x.detail
                    if x.code == "input":
                        self._hoisted[v] = x.detail, start, v.inputs[0].width, v.detail[0]
        return found

    def prepare(self) -> None:
        """Make the programs of both passes; raise Untraceable if a vjp rule cannot be traced."""
        body = self.body
        lines = {v.detail for node in body.nodes.values() for v in node.inputs if v.code == "line"}
        matrices = {node.matrix for node in body.nodes.values() if node.matrix is not None}
        self.all_wanted = Wanted((True,) * len(body.sources), (True,) * len(body.states), frozenset(lines | matrices))
        self.back_program(self.all_wanted, self.all_wanted, (True,) * len(body.outputs))

    # -- programs ------------------------------------------------------------------------------------------------------

    def _stays(self, number: int) -> bool:
        """Return whether no step changes a state."""
        return self.body.following[number] is self.body.states[number]

    def _source(self, v: Value) -> Place | None:
        """Return the place of a value that is there before a step."""
        if v.code == "line":
            return Place(LINE, ("line", v.detail, v.width), v.width)
        if v.code == "number":
            return Place(LINE, ("number", v.detail, v.width), v.width)
        if v.code == "input":
            return Place(BATCH, ("input", v.detail), v.width)
        if v in self._hoisted:
            return Place(BATCH, ("kept", v), v.width)
        if v.code == "state" and self._stays(v.detail):
            return Place(ROW, ("boot", v.detail), v.width)
        return None

    def _zeros(self, boots: list[Array], outer: dict[Any, Array]) -> tuple[bool, ...]:
        """Return which first states are zero, and give zero in every product: no matrix has a nan or an infinity."""
        found = [not boot.any() for boot in boots]
        with np.errstate(all="ignore"):
            for node in self.body.nodes.values():
                if node.matrix is not None and node.inputs[0].code == "state" and found[node.inputs[0].detail]:
                    found[node.inputs[0].detail] = bool(np.isfinite(outer[node.matrix].sum()))
        return tuple(found)

    def forward_program(self, wanted: Wanted | None, zeros: tuple[bool, ...] = ()) -> tuple[Program, set[Value]]:
        """Return the program of the forward pass, and the values that it keeps."""
        found = self._forward.get((wanted, zeros))
        if found is None:
            body, kept = self.body, set[Value]()
            if wanted is not None:
                back = WayBack(body, wanted.inputs, wanted.states, set(wanted.outer), [True] * len(body.outputs))
                kept = back.kept(self._computed, body.outputs)

            def source(v: Value) -> Place | None:
                if v.code == "state" and not self._stays(v.detail):
                    return Place(BEFORE, ("pair", v.detail, 0), v.width, 0, ("pair", v.detail, 1))
                return self._source(v)

            sinks = [Sink(v, Place(BATCH, ("output", j), v.width)) for j, v in enumerate(body.outputs)]
            outputs = set(body.outputs)
            sinks += [Sink(v, Place(BATCH, ("kept", v), v.width)) for v in kept - outputs if v not in self._hoisted]
            for j, v in enumerate(body.following):
                if not self._stays(j):
                    sinks.append(Sink(v, Place(AFTER, ("pair", j, 0), v.width, 0, ("pair", j, 1))))

            def first(v: Value) -> int:
                x = v.inputs[0]
                return int(x.code == "state" and len(v.inputs) == 1 and any(zeros) and zeros[x.detail])

            found = self._forward[wanted, zeros] = scheduled(sinks, source, first), kept
        return found

    def back_program(self, wanted: Wanted, prepared: Any, cotangents: tuple[bool, ...]) -> tuple[Program, WayBack]:
        """Return the program of the backward pass, and its values; the forward pass was prepared for more gradients."""
        found = self._back.get((wanted, prepared, cotangents))
        if found is None:
            body, kept = self.body, self.forward_program(prepared)[1]
            back = WayBack(body, wanted.inputs, wanted.states, set(wanted.outer), cotangents)

            def source(v: Value) -> Place | None:
                if v in kept:
                    return Place(BATCH, ("kept", v), v.width)
                if v.code == "after":
                    return Place(AFTER, ("pair", v.detail, 0), v.width, 0, ("pair", v.detail, 1))
                if v.code == "cotangent":
                    return Place(BATCH, ("cotangent", v.detail), v.width)
                if v.code == "state" and not self._stays(v.detail):
                    following = body.following[v.detail]
                    return Place(EARLIER, ("kept", following), v.width, 0, ("boot", v.detail))
                return self._source(v)

            sinks = [Sink(d, Place(BEFORE, ("pair", j, 0), d.width, 0, ("pair", j, 1))) for j, d in back.states.items()]
            sinks += [Sink(d, Place(BATCH, ("d_input", j), d.width)) for j, d in back.inputs.items()]
            sinks += [Sink(d, Place(BATCH, ("d_line", v), d.width)) for v, d in back.lines.values()]
            for d in dict.fromkeys([*[pair.d for pair in back.pairs], *[one.d for one in back.apart]]):
                sinks.append(Sink(d, Place(BATCH, ("d", d), d.width)))
            ends = {d for j, d in back.states.items() if not wanted.states[j]}

            def first(v: Value) -> int:
                return 2 if v in ends else 0

            found = self._back[wanted, prepared, cotangents] = scheduled(sinks, source, first), back
        return found

    # -- running -------------------------------------------------------------------------------------------------------

    def _fixed(self, key: Any, given: Kept, run: Run) -> Any:
        """Return the array of a key that both passes read."""
        if key[0] == "line":
            return given.outer[key[1]].reshape(1, key[2])
        if key[0] == "number":
            if key not in self._numbers:
                self._numbers[key] = np.full((1, key[2]), key[1][0], self.body.dtype)
            return self._numbers[key]
        if key[0] == "input":
            return given.inputs[key[1]]
        if key[0] == "boot":
            boot = given.boots[key[1]]
            return run.states(boot, boot.shape[1], self.body.dtype)
        return given.arrays.get(key)

    def _room(self, v: Value, n_rows: int) -> Array:
        """Return memory for the rows of a value."""
        return np.empty((n_rows, v.width), self.body.dtype)

    def _run(self, program: Program, given: Kept, run: Run, own: dict[Any, Array], packed: Packed, back: bool) -> int:
        """Run a program on the sequences of one run; `own` has arrays of this pass, and takes those that it needs."""
        if not program.arrays:  # no gradient passes through the steps
            return 0
        for key in program.arrays:
            if key not in own:
                fixed = self._fixed(key, given, run)
                if fixed is None:
                    v = self.body.states[key[1]] if key[0] == "pair" else key[1]
                    fixed = self._room(v, len(run.order))
                own[key] = fixed
        arrays = [own[key] for key in program.arrays]
        weights = [packed[one].packed for one in program.weights]
        flags: int = kernels.machine.run_steps(
            arrays, weights, program.ufuncs, program.operands, program.instructions, *run.where, given.n_rows, back
        )
        return flags

    @in_kept_memory
    def forward(
        self,
        inputs: list[Array],
        boots: list[Array],
        outer: dict[Any, Array],
        offsets: Array,
        is_reverse: bool,
        wanted: Wanted | None,
    ) -> tuple[list[Array], list[Array], Kept, int]:
        """Run the steps.

        Parameters
        ----------
        inputs : list of ndarray, shape (rows, width)
        boots : list of ndarray, shape (sequences, width)
            The first states.
        outer : dict
            The outer objects, and the results of the prelude.
        offsets : int64, shape (sequences + 1,)
        is_reverse : bool
        wanted : Wanted, optional
            Of what gradients may be asked for later; None for nothing.

        Returns
        -------
        outputs, last_states : list of ndarray
        kept : Kept
        flags : int
            What `kernels.machine.run_steps` returns.
        """
        zeros = self._zeros(boots, outer)
        program, kept = self.forward_program(wanted, zeros)
        work = sum(outer[matrix].size for matrix, _ in program.weights)
        runs = runs_of(offsets, work, is_reverse)
        given = Kept({}, runs, offsets, inputs, boots, outer, wanted, zeros)
        outputs = [self._room(v, given.n_rows) for v in self.body.outputs]
        given.arrays.update({("output", j): made for j, made in enumerate(outputs)})
        for v in {*kept, *self._hoisted}:
            known = v in self.body.outputs and v not in self._hoisted
            made = outputs[self.body.outputs.index(v)] if known else self._room(v, given.n_rows)
            given.arrays["kept", v] = made
        lasts = [boot.astype(self.body.dtype) for boot in boots]
        packed = _packed(outer, [*program.weights, *[(matrix, False) for _, _, _, matrix in self._hoisted.values()]])
        flags = [0] * len(runs)

        def one(number: int) -> None:
            flags[number] = self._run_forward(program, given, runs[number], packed, lasts)

        side_by_side([partial(one, number) for number in range(len(runs))], given.n_rows * work)
        return outputs, lasts, given, reduce(or_, flags, 0)

    def _run_forward(self, program: Program, given: Kept, run: Run, packed: Packed, lasts: list[Array]) -> int:
        """Run the forward pass on the sequences of one run, and note their last states."""
        at = slice(run.low, run.high)
        for v, (j, start, width, matrix) in self._hoisted.items():
            rows = given.inputs[j][at, start : start + width]
            packed[matrix, False].times(rows, given.arrays["kept", v][at])
        changing = [j for j in range(len(lasts)) if not self._stays(j)]
        boots = {j: given.boots[j] for j in changing}
        own = {("pair", j, 0): run.states(boot, boot.shape[1], self.body.dtype) for j, boot in boots.items()}
        flags = self._run(program, given, run, own, packed, False)
        if len(run.order):
            odd = np.diff(given.offsets)[run.order] % 2 == 1
            for j in changing:
                lasts[j][run.order[~odd]] = own["pair", j, 0][~odd]
                lasts[j][run.order[odd]] = own["pair", j, 1][odd]
        return flags

    @in_kept_memory
    def backward(
        self,
        given: Kept,
        cotangents: Sequence[Array | None],
        d_lasts: Sequence[Array | None],
        wanted: Wanted,
    ) -> tuple[list[Array | None], list[Array | None], dict[Any, Array], int]:
        """Run the way back.

        Parameters
        ----------
        given : Kept
            By `forward`, for at least these gradients.
        cotangents, d_lasts : sequence of ndarray or None
            Those of outputs and last states.
        wanted : Wanted

        Returns
        -------
        d_inputs, d_boots : list of ndarray or None
        d_outer : dict
            By object.
        flags : int
        """
        mask = tuple([d is not None for d in cotangents])
        program, back = self.back_program(wanted, given.wanted, mask)
        arrays = {
            key: self._room(_gradient_of(back, key), given.n_rows)
            for key in dict.fromkeys(program.arrays)
            if key[0] in ("d_input", "d_line", "d")
        }
        arrays.update({("cotangent", j): d for j, d in enumerate(cotangents) if d is not None})
        packed = _packed(given.outer, [*program.weights, *[(matrix, True) for _, _, matrix in back.apart]])
        d_boots: list[Any] = [
            None if not needed else np.zeros_like(boot) if d is None else d.astype(self.body.dtype)
            for needed, boot, d in zip(wanted.states, given.boots, d_lasts, strict=True)
        ]
        flags = [0] * len(given.runs)

        def one(number: int) -> None:
            run = given.runs[number]
            own = dict(arrays)
            for j in back.states:  # sequences begin at even and at odd steps
                for side in range(2):
                    own["pair", j, side] = run.states(d_lasts[j], given.boots[j].shape[1], self.body.dtype)
            flags[number] = self._run(program, given, run, own, packed, True)
            for j in back.states:
                if wanted.states[j]:
                    d_boots[j][run.order] = own["pair", j, 0]

        work = sum(given.outer[matrix].size for matrix, _ in program.weights)
        neighbours = Neighbours(given.offsets, given.runs[0].backwards if given.runs else False)
        runs = [partial(one, number) for number in range(len(given.runs))]
        side_by_side([*runs, neighbours.find], given.n_rows * work)
        found = self._inputs(given, back, arrays, packed), d_boots, self._outer(given, back, arrays, neighbours)
        return *found, reduce(or_, flags, 0)

    def states_with_gradient(self, given: Kept, wanted: Wanted, cotangents: Sequence[Array | None]) -> set[int]:
        """Return the numbers of the states that have a gradient on the way back."""
        return {*self.back_program(wanted, given.wanted, tuple([d is not None for d in cotangents]))[1].states}

    def _inputs(self, given: Kept, back: WayBack, arrays: dict[Any, Array], packed: Packed) -> list[Array | None]:
        """Return the gradients of the inputs."""
        found: list[Array | None] = [arrays.get(("d_input", j)) for j in range(len(given.inputs))]
        for j, d, matrix in back.apart:
            weight = packed[matrix, True]
            known = found[j]
            if known is None:
                found[j] = weight.times(arrays["d", d], np.empty_like(given.inputs[j]))
            else:
                kernels.matrix.multiply_packed(arrays["d", d], weight.packed, True, known)
        return found

    def _outer(self, given: Kept, back: WayBack, arrays: dict[Any, Array], neighbours: Neighbours) -> dict[Any, Array]:
        """Return the gradients of outer objects: products and sums over all rows."""
        body = self.body
        found: dict[Any, Array] = {}
        for matrix, left, d in back.pairs:
            adding = matrix in found
            out = found[matrix] if adding else found.setdefault(matrix, np.empty_like(given.outer[matrix]))
            rows = arrays["d", d]
            if left.code == "state" and ("kept", left) not in given.arrays:
                states = given.arrays["kept", body.following[left.detail]]
                pair_product(states, neighbours.before, rows, neighbours.behind, out, adding)
                if not given.zeros[left.detail] or not np.isfinite(rows[neighbours.firsts].sum()):
                    boot = given.boots[left.detail]
                    pair_product(boot, neighbours.sequences, rows, neighbours.firsts, out, True)
            elif left.code == "input":
                pair_product(given.inputs[left.detail], None, rows, None, out, adding)
            else:
                pair_product(given.arrays["kept", left], None, rows, None, out, adding)
        for variable, (v, _) in back.lines.items():
            shape = given.outer[variable].shape
            total = np.empty(v.width, body.dtype)
            add_up(arrays["d_line", v], total)
            found[variable] = found[variable] + total.reshape(shape) if variable in found else total.reshape(shape)
        return found


def _packed(outer: dict[Any, Array], needed: Iterable[tuple[Any, bool]]) -> Packed:
    """Pack matrices for products."""
    return {(matrix, transposed): Weight(outer[matrix], transposed) for matrix, transposed in dict.fromkeys(needed)}


def _gradient_of(back: WayBack, key: Any) -> Value:
    """Return the value that an array of gradients has."""
    if key[0] == "d_input":
        return back.inputs[key[1]]
    made: Value = back.lines[key[1].detail][1] if key[0] == "d_line" else key[1]
    return made
