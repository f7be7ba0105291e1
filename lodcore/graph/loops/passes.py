"""A pass over the steps of a cell: a program of the machine, and where its arrays come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore import kernels
from lodcore.graph.gradients.lowered_gradients import LoweredGradients
from lodcore.graph.loops.called_operators import bound
from lodcore.graph.loops.lowered import Lowered
from lodcore.graph.loops.scheduled import Schedule
from lodcore.graph.loops.traced import Value
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Bundle, Weight

__all__ = ["BackwardPass", "ForwardPass", "Hoisted", "Kept", "Packed", "Pass", "Wanted"]

Packed = dict[tuple[Any, bool], Weight]  # matrices, or transposed ones
#: The kinds of arrays of a program; those of another kind are made by the caller.
KINDS = ("number", "line", "input", "boot", "draw", "kept", "own", "row")


class Wanted(NamedTuple):
    """What gradients are wanted for: inputs, first states, and outer objects."""

    inputs: tuple[bool, ...]
    states: tuple[bool, ...]
    outer: frozenset[Any]


class Hoisted(NamedTuple):
    """A product of columns of an input, which is computed for all rows at once."""

    value: Value
    number: int
    start: int
    width: int
    matrix: Any


class Kept(NamedTuple):
    """What the forward pass keeps for gradients.

    Attributes
    ----------
    arrays : dict
        Arrays with a row for each row of the batch, by value.
    bundles : list of Bundle
    offsets : ndarray
    n_rows : int
        The rows of the batch.
    inputs, boots : list of ndarray
    outer : dict
        The outer objects.
    wanted : Wanted or None
        What gradients may be asked for.
    zeros : tuple of bool
        Which first states are zero, and give zero in every product.
    draws : sequence of ndarray
        Random numbers, with a row for each row of the batch.
    frames : sequence of list
        The values of each operator that is called, by step.
    """

    arrays: dict[Value, Array]
    bundles: list[Bundle]
    offsets: Array
    n_rows: int
    inputs: list[Array]
    boots: list[Array]
    outer: dict[Any, Array]
    wanted: Wanted | None
    zeros: tuple[bool, ...]
    draws: Sequence[Array] = ()
    frames: Sequence[list[Any]] = ()


class Pass:
    """A program, and where its arrays come from.

    Parameters
    ----------
    program : Schedule
    body : Lowered
    matrices : list of (object, bool)
        The matrices of all products, including those for all rows at once, and whether they are transposed.

    Attributes
    ----------
    work : int
        The number of multiplications of the steps per row.
    """

    def __init__(self, program: Schedule, body: Lowered, matrices: list[tuple[Any, bool]]) -> None:
        self.program, self.matrices = program, list(dict.fromkeys(matrices))
        self.work = sum([body.sizes[matrix] for matrix, _ in program.weights])
        self.body, self._dtype = body, body.dtype
        keys: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        for key in program.arrays:
            keys.get(key[0], keys["own"]).append(key)
        places = {key: at for at, key in enumerate([key for kind in KINDS for key in keys[kind]])}
        self._order = [places[key] for key in program.arrays]  # of the arrays that run lists kind by kind
        self._numbers = [np.full((1, key[2]), key[1][0], self._dtype) for key in keys["number"]]
        self._lines = [(key[1], key[2]) for key in keys["line"]]
        self._inputs, self._draws, self._kept = ([key[1] for key in keys[kind]] for kind in ("input", "draw", "kept"))
        self._boots = [(key[1], body.states[key[1]].width) for key in keys["boot"]]
        self._own, self._widths = keys["own"], [key[1].width for key in keys["row"]]

    def run(
        self,
        given: Kept,
        bundle: Bundle,
        packed: Packed,
        own: dict[Any, Array],
        back: bool,
        totals: dict[Any, Any],
    ) -> int:
        """Run the program on the sequences of one bundle; return what `kernels.machine.run_steps` does.

        Parameters
        ----------
        given : Kept
        bundle : Bundle
        packed : dict
            The matrices.
        own : dict
            Arrays of this pass, by key: with a row for each row of the batch, and both arrays of each state.
        back : bool
        totals : dict
            To which operators that are called add the gradients of outer objects.
        """
        program = self.program
        if not self._order:  # no gradient passes through the steps
            return 0
        count, dtype = len(bundle.order), self._dtype
        arrays = [
            *self._numbers,
            *[given.outer[variable].reshape(1, width) for variable, width in self._lines],
            *[given.inputs[j] for j in self._inputs],
            *[bundle.states(given.boots[j], width, dtype) for j, width in self._boots],
            *[given.draws[j] for j in self._draws],
            *map(given.arrays.__getitem__, self._kept),
            *map(own.__getitem__, self._own),
            *[np.empty((count, width), dtype) for width in self._widths],
        ]
        made = [*map(arrays.__getitem__, self._order)]
        weights = [packed[one].packed for one in program.weights]
        ufuncs = program.ufuncs
        if program.calls:
            bind = bound(self.body.calls, given, totals)
            ufuncs = ufuncs + [bind(what, made[out], made[x]) for what, out, x in program.calls]
        flags: int = kernels.machine.run_steps(
            made,
            weights,
            ufuncs,
            program.operands,
            program.instructions,
            *bundle.where,
            given.n_rows,
            back,
        )
        return flags


class ForwardPass(Pass):
    """The forward pass.

    Attributes
    ----------
    kept : set of Value
        What is kept for gradients.
    hoisted : list of Hoisted
    rooms : list of (Value, int, int)
        The values that need memory for all rows, their widths, and the number of the output that is the value, or -1.
    moved : list of (Value, Value, int)
        The values that lie in the memory of others, and their first column there.
    states : list of int
        The states that have a pair of arrays.
    """

    def __init__(self, program: Schedule, body: Lowered, kept: set[Value], hoisted: list[Hoisted]) -> None:
        super().__init__(program, body, [*program.weights, *[(one.matrix, False) for one in hoisted]])
        self.kept, self.hoisted = kept, hoisted
        apart = {one.value for one in hoisted}
        numbers = {v: j for j, v in reversed(list(enumerate(body.outputs))) if v not in apart}
        moved = program.moved
        rooms = [v for v in dict.fromkeys([*kept, *apart]) if ("kept", v) not in moved]
        self.rooms = [(v, v.width, numbers.get(v, -1)) for v in rooms]
        places: list[tuple[Value, Any]] = [(v, moved["kept", v]) for v in kept if ("kept", v) in moved]
        self.moved = [(v, place.key[1], place.column) for v, place in places]
        self.states = sorted({key[1] for key in program.arrays if key[0] == "pair"})


class BackwardPass(Pass):
    """The backward pass.

    Attributes
    ----------
    way : LoweredGradients
    rooms : list of (key, int)
        The arrays with a row for each row of the batch, and their widths.
    """

    def __init__(self, program: Schedule, body: Lowered, way: LoweredGradients) -> None:
        super().__init__(program, body, [*program.weights, *[(one.matrix, True) for one in way.apart]])
        self.way = way
        keys = [key for key in dict.fromkeys(program.arrays) if key[0] in ("d_input", "d")]
        self.rooms = [(key, _gradient_of(way, key).width) for key in keys]


def _gradient_of(way: LoweredGradients, key: Any) -> Value:
    """Return the value that an array of gradients has."""
    if key[0] == "d_input":
        return way.inputs[key[1]]
    made: Value = key[1]
    return made
