"""The steps of a cell operator by operator.

A compiled cell runs so once more for the warnings, or errors, of what is not finite. A cell that was compiled when it
was saved, and cannot be where it is loaded, runs so always.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lodcore.graph import engine
from lodcore.graph.engine import Layout
from lodcore.graph.gradients.cotangents import Gradients, path
from lodcore.graph.gradients.rule_calls import BackwardCall
from lodcore.graph.loops.frames import named_error
from lodcore.graph.loops.passes import Kept, Wanted
from lodcore.graph.random_states import with_generators
from lodcore.graph.variable import Variable
from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Bundle, bundles_of

__all__ = ["OneByOne", "Uncompiled", "as_array", "as_factor", "as_matrix", "as_rows"]


def as_array(x: Any, dtype: Any) -> Array:
    """Return a C-contiguous, aligned array of a dtype."""
    if type(x) is np.ndarray and x.dtype == dtype and x.dtype.isnative:  # the usual case
        flags = x.flags
        if flags.c_contiguous and flags.aligned:
            return x
    return np.require(x, dtype, ["C", "A"])


def as_factor(x: Any, dtype: Any) -> Array:
    """Return an aligned array of a dtype, where a matrix has contiguous rows, with or without gaps between them."""
    if type(x) is np.ndarray and x.ndim == 2 and x.strides[1] == x.itemsize and x.dtype == dtype and x.flags.aligned:
        return x
    return as_array(x, dtype)


def as_matrix(x: Array, dtype: Any) -> Array:
    """Return rows as a C-contiguous matrix."""
    made = as_array(x, dtype)
    return made if made.ndim == 2 else made.reshape(len(made), 1)


def as_rows(x: Any, axes: int) -> Any:
    """Return a matrix as rows of vectors or of numbers; None stays None."""
    return x if axes == 2 or x is None else x[:, 0]


class OneByOne:
    """The operators of a cell.

    Parameters
    ----------
    ops : list of Operator
        Those that are not the same in every step.
    inputs, before : list of Variable
        What a step reads.
    outputs, behind : list of Variable or number
        What it makes.
    dtype : dtype
    apart : dict
        What stands for Variables among the outer objects.
    """

    def __init__(
        self,
        ops: list[Any],
        inputs: list[Any],
        before: list[Any],
        outputs: list[Any],
        behind: list[Any],
        dtype: Any,
        apart: dict[Any, Any],
    ) -> None:
        self._meant = {standing: variable for variable, standing in apart.items()}
        self._ops, self._inputs, self._before = ops, inputs, before
        self._outputs, self._behind, self._dtype = outputs, behind, dtype

    def drawing_from(self, sources: Mapping[Any, Any]) -> OneByOne:
        """Return the same operators with other Generators, by their own ones."""
        made = copy.copy(self)
        made._ops = with_generators(self._ops, sources)
        return made

    def forward(self, kept: Kept, is_reverse: bool) -> tuple[list[Array], list[Array]]:
        """Run all steps; return outputs and last states."""
        layout, calls = self._calls(kept, False)
        widths = [v.spec.shape[1] if len(v.spec.shape) > 1 else 1 for v in self._outputs]
        outputs = [np.empty((kept.n_rows, width), self._dtype) for width in widths]
        lasts = [boot.astype(self._dtype) for boot in kept.boots]
        for bundle in bundles_of(kept.offsets, 0, is_reverse):
            for places, frame, states in self._frames(kept, bundle, layout, calls):
                values = layout.values(frame)
                for made, v in zip(outputs, self._outputs, strict=True):
                    y = np.asarray(values[v])
                    made[places] = y if len(v.spec.shape) > 1 else y.reshape(-1, 1)
                for last, state in zip(lasts, states, strict=True):
                    last[bundle.order[: len(state)]] = state
        return outputs, lasts

    def looked(
        self, kept: Kept, is_reverse: bool, behind: Callable[[Array, list[Array]], list[Array]] | None
    ) -> Iterator[tuple[Array, dict[Variable, Any]]]:
        """Run all steps; yield rows and values of each. `behind` returns the states after a step that the run kept."""
        layout, calls = self._calls(kept, False)
        for bundle in bundles_of(kept.offsets, 0, is_reverse):
            for places, frame, _ in self._frames(kept, bundle, layout, calls, behind):
                yield places, layout.values(frame)

    def _calls(self, kept: Kept, keep: bool) -> tuple[Layout, list[Any]]:
        layout = Layout()
        layout.slots([*self._inputs, *self._before, *[self._meant.get(v, v) for v in kept.outer]])
        return layout, [op.call(layout, keep) for op in self._ops]

    def _frames(
        self,
        kept: Kept,
        bundle: Bundle,
        layout: Layout,
        calls: list[Any],
        behind_of_run: Callable[[Array, list[Array]], list[Array]] | None = None,
    ) -> Iterator[tuple[Array, list[Any], list[Array]]]:
        """Run the steps; yield rows, frame, and the states after it, of each."""
        states = [bundle.states(boot, boot.shape[1], self._dtype) for boot in kept.boots]
        for t, count, places in bundle.each_step():
            given = [x[places] for x in kept.inputs] + [state[:count] for state in states]
            read = [as_rows(x, len(v.spec.shape)) for x, v in zip(given, (*self._inputs, *self._before), strict=True)]
            frame = [None, *read, *kept.outer.values(), *layout.base[1 + len(given) + len(kept.outer) :]]
            try:
                engine.run(calls, frame, len(calls))
            except Exception as error:
                raise named_error(error, f"dynamic_rnn: step {t}", calls[frame[0]].operator.name) from error
            values = layout.values(frame)
            behind = [values[v] if isinstance(v, Variable) else v for v in self._behind]
            states = [
                as_matrix(np.broadcast_to(new, as_rows(old[:count], len(v.spec.shape)).shape), self._dtype)
                for new, old, v in zip(behind, states, self._before, strict=True)
            ]
            if behind_of_run is not None:
                states = behind_of_run(places, states)
            yield places, frame, states

    def back(
        self,
        kept: Kept,
        cotangents: Sequence[Array | None],
        d_lasts: Sequence[Array | None],
        wanted: Wanted,
        numbers: set[int],
        is_reverse: bool,
    ) -> tuple[list[Array | None], list[Array | None], dict[Any, Array]]:
        """Run the backward pass through all steps; return the gradients of inputs, first states and outer objects.

        Parameters
        ----------
        kept : Kept
        cotangents, d_lasts : sequence of ndarray or None
        wanted : Wanted
        numbers : set of int
            The states that need a gradient.
        is_reverse : bool
        """
        layout, calls = self._calls(kept, True)
        sources = [v for v, needed in zip(self._inputs, wanted.inputs, strict=True) if needed]
        outer = {self._meant.get(v, v) for v in wanted.outer}
        needed, way = path(self._ops, [*sources, *[self._before[j] for j in numbers], *outer])
        known = dict(zip(self._ops, calls, strict=True))
        ways = [BackwardCall(op, needed, known[op], set()) for op in reversed(way)]
        d_inputs = [np.zeros_like(x) if one else None for x, one in zip(kept.inputs, wanted.inputs, strict=True)]
        d_boots: list[Array | None] = [
            None if not one else np.zeros_like(boot) if d is None else d.astype(self._dtype)
            for one, boot, d in zip(wanted.states, kept.boots, d_lasts, strict=True)
        ]
        d_outer: dict[Any, Array] = {}
        for bundle in bundles_of(kept.offsets, 0, is_reverse):
            with np.errstate(all="ignore"):
                frames = [(places, frame) for places, frame, _ in self._frames(kept, bundle, layout, calls)]
            d_states = {j: bundle.states(d_lasts[j], kept.boots[j].shape[1], self._dtype) for j in numbers}
            for places, frame in reversed(frames):
                gradients, count = Gradients(needed), len(places)
                for v, d in zip(self._outputs, cotangents, strict=True):
                    if d is not None and v in needed:
                        gradients.add(v, as_rows(d[places], len(v.spec.shape)))
                for j, d in d_states.items():
                    if self._behind[j] in needed:
                        gradients.add(self._behind[j], as_rows(d[:count].copy(), len(self._before[j].spec.shape)))
                gradients.back(ways, frame)
                gradients.finish()
                for j, d in d_states.items():
                    found = gradients.found.get(self._before[j])
                    d[:count] = 0 if found is None else as_matrix(found, self._dtype)
                for v, d_input in zip(self._inputs, d_inputs, strict=True):
                    if d_input is not None and v in gradients.found:
                        d_input[places] = as_matrix(gradients.found[v], self._dtype)
                for v in outer & gradients.found.keys():
                    d_outer[v] = d_outer[v] + gradients.found[v] if v in d_outer else gradients.found[v]
            for j, d in d_states.items():
                made = d_boots[j]
                if made is not None:
                    made[bundle.order] = d
        return d_inputs, d_boots, d_outer


class Uncompiled:
    """The steps of a cell that cannot be compiled here, with the interface of `Compiled`.

    Parameters
    ----------
    one_by_one : OneByOne
    dtype : dtype
    """

    prelude: Sequence[Any] = ()
    apart: Mapping[Any, Any] = {}

    def __init__(self, one_by_one: OneByOne, dtype: Any, outputs: list[Variable], is_reverse: bool) -> None:
        self._one_by_one, self.dtype, self._is_reverse = one_by_one, dtype, is_reverse
        self.axes = [len(v.spec.shape) for v in outputs]
        self.all_wanted = None

    def forward(
        self,
        inputs: list[Array],
        boots: list[Array],
        outer: dict[Any, Array],
        offsets: Array,
        is_reverse: bool,
        wanted: Any,
        sources: Mapping[Any, Any],
    ) -> tuple[list[Array], list[Array], Kept, int]:
        """Run the steps; see `Compiled.forward`."""
        kept = Kept({}, [], offsets, int(offsets[-1]), inputs, boots, outer, wanted, ())
        return *self._one_by_one.forward(kept, is_reverse), kept, 0

    def backward(
        self, given: Kept, cotangents: Sequence[Array | None], d_lasts: Sequence[Array | None], wanted: Wanted
    ) -> tuple[list[Array | None], list[Array | None], dict[Any, Array], int]:
        """Run the backward pass; see `Compiled.backward`."""
        numbers = set(range(len(given.boots)))
        return *self._one_by_one.back(given, cotangents, d_lasts, wanted, numbers, self._is_reverse), 0
