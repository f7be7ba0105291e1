"""Executor: runs a Program on fed values, and returns fetched values."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lodcore.base.caller import named_caller
from lodcore.base.contexts import alone, held
from lodcore.base.handing_over import overlaps
from lodcore.base.memory import flag
from lodcore.base.recycling import Recycled
from lodcore.errors import DTypeError, GraphError
from lodcore.graph import chains, engine
from lodcore.graph.block import Operator
from lodcore.graph.chains import chains_of
from lodcore.graph.engine import Frame, Layout
from lodcore.graph.feeding import fed_values
from lodcore.graph.fetching import arrays_of, protected, wanted_of
from lodcore.graph.gradients.cotangents import GradientOwner, of_type, values_of
from lodcore.graph.gradients.gradient_operators import GradientOperator, Seed
from lodcore.graph.gradients.learned import ParameterUpdate, check_update, own_copy
from lodcore.graph.gradients.rule_calls import computing
from lodcore.graph.loops.array_versions import of_user
from lodcore.graph.loops.frames import KEEPS_ALL, Trace, has_bodies, records_of_ops
from lodcore.graph.profile import Profile, Watch
from lodcore.graph.program import Program
from lodcore.graph.run_parts import Parts, see_readers
from lodcore.graph.scope import PLACING, Look, Record, Scope
from lodcore.graph.variable import Variable, spec_text
from lodcore.operators.roles import spec_of
from lodcore.tensors.lod_tensor import LoDTensor

__all__ = ["Executor"]

WITHIN = "Executor.run: scope: is updated by an enclosing run that has not ended"
CROSSED = "Executor.run: scope: is updated by a run in another thread, which waits for a Scope that this thread updates"


class Executor:
    """An executor of Programs.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> from lodcore.graph import Executor, Program, data
    >>> with Program() as program:
    ...     x = data("x", (None,), "float64", num_levels=1)
    ...     y = lodcore.mul(x, 2.0)
    >>> Executor().run(program, feed={"x": [[1.0], [2.0, 3.0]]}, fetch=[y])
    [LoDTensor(2 sequences of lengths 1..2, float64: [[2.], [4., 6.]])]
    """

    __module__ = "lodcore"

    def __init__(self) -> None:
        self._scope = Scope()

    @property
    def scope(self) -> Scope:
        """The values of the parameters that Programs updated, for all runs, and those of the last run, by name.

        The record of the last run is in `kids`, until the next run begins: the Scope of the Program, inside it those of
        its loops with their steps, where a gradient is computed or `keep_scopes` asks for it. `print` draws it.
        """
        return self._scope

    def run(
        self,
        program: Program,
        feed: Mapping[Any, Any] | None = None,
        fetch: Sequence[Any] = (),
        scope: Scope | None = None,
        keep_scopes: bool = False,
    ) -> list[Any]:
        """Run a Program.

        Parameters
        ----------
        program : Program
        feed : dict
            A value for each `data`, by name or Variable.
        fetch : list of Variable or str
            The Variables to return; only the operators that they need are run, and all updates. If it is empty, all are
            run.
        scope : Scope, optional
            Where the values of updated parameters are kept, instead of in `scope` of the Executor. Only one thread at a
            time runs a Program that updates parameters in a Scope.
        keep_scopes : bool, default False
            Whether to keep the Scopes of all steps of loops with all their values until the next run.

        Returns
        -------
        list
            One value per fetched Variable. For a parameter that is updated it is the value before the update. A value
            that shares the memory of a parameter or of a fed value is read-only; a `numpy.copy` of it may be changed.

        Raises
        ------
        GraphError
            If a value is missing or unknown in feed, or a fetched Variable does not exist; if the run is part of
            another that updates the same Scope, or would wait for a thread that waits for this one.
        DTypeError, ShapeError, LoDError
            If a fed value does not match the Spec of its `data`, or an update the Spec of its parameter. No parameter
            is updated then.
        """
        if not isinstance(program, Program):
            raise DTypeError(f"Executor.run: program: is {type(program).__name__}; a Program is needed")
        if program.closed:
            raise GraphError("Executor.run: program: was left by an error while it was recorded; it is not complete")
        if scope is not None and (not isinstance(scope, Scope) or isinstance(scope, Record)):
            raise DTypeError(f"Executor.run: scope: is {type(scope).__name__}; a Scope is needed")
        scope = self._scope if scope is None else scope
        scope.begin_run()
        wanted = wanted_of(program, fetch)
        fed = fed_values(program, {} if feed is None else feed)
        key: tuple[Any, ...] = (len(program.ops), flag("Executor.run: keep_scopes", keep_scopes), *map(id, wanted))
        if key not in program.prepared:
            many = engine.has_many([*fed.values()], chains.LEAST)
            program.prepared[key] = PreparedRun(program, wanted, key[1], many)
        prepared: PreparedRun = program.prepared[key]
        if not prepared.has_updates:
            return self._run(program, key, scope, wanted, fed)
        with alone(scope.updating, WITHIN, CROSSED):  # a run in another thread begins with what this one leaves
            return self._run(program, key, scope, wanted, fed)

    def _run(
        self, program: Program, key: tuple[Any, ...], scope: Scope, wanted: list[Variable], fed: dict[Variable, Any]
    ) -> list[Any]:
        """Run what was prepared; see `run`."""
        prepared: PreparedRun = program.prepared[key]
        with held(PLACING):  # all values as they are between the updates of two runs
            places = scope.places(prepared.updated_parameters)
            for x in prepared.read:
                if x not in fed:
                    if not x.has_value:
                        raise GraphError(f"Executor.run: feed: {program.name_of(x)}: {spec_text(x.spec)} is not fed")
                    fed[x] = of_user(scope.get(x))
        frame = prepared.begin(fed)
        computing(prepared.run, frame)
        if not prepared.has_chains and engine.has_many(frame, chains.LEAST):
            program.prepared[key] = PreparedRun(program, wanted, key[1], True)
        found = prepared.given(frame, wanted, fed)
        updates = prepared.updated(frame, found)
        record = Record(scope, "Program", functools.partial(prepared.look, fed, frame))
        for trace in prepared.traces(frame):
            trace.around = weakref.ref(record)
        scope.end_run(record, {x: (program.name_of(x), value) for x, value in updates.items()}, places)
        return found

    def profile(
        self,
        program: Program,
        feed: Mapping[Any, Any] | None = None,
        fetch: Sequence[Any] = (),
        scope: Scope | None = None,
    ) -> Profile:
        """Run a Program as `run` does, and measure the time of each operator.

        The result prints as a table: the time of each operator in milliseconds, and of each group of operators that
        run together, such as the body of a loop. Its `results` are the fetched values; `save_trace(file)` writes a file
        in the trace format of Chrome, for chrome://tracing and ui.perfetto.dev.

        Parameters
        ----------
        program : Program
        feed : dict
        fetch : list of Variable or str
        scope : Scope, optional

        Returns
        -------
        Profile

        Raises
        ------
        GraphError, DTypeError, ShapeError, LoDError
            As `run` raises them.

        Notes
        -----
        This is a run, and updates parameters. The first run of a Program for some results also plans it; profile a
        later one. Measuring costs about a microsecond per call. The steps of a compiled cell are one row, since their
        operators run together; so is work done in other threads.

        Examples
        --------
        >>> import lodcore
        >>> from lodcore.graph import Executor, Program, data
        >>> with Program() as program:
        ...     x = data("x", (None,), "float64", num_levels=1)
        ...     y = lodcore.exp(x) * 2.0
        >>> profile = Executor().profile(program, {"x": [[1.0], [2.0, 3.0]]}, [y])
        >>> sorted((row.operator, row.calls) for row in profile.rows)
        [('exp', 1), ('mul', 1)]
        >>> print(profile)  # doctest: +SKIP
        group                        ms   share
        program                   0.012    31 %
        outside of operators      0.027    69 %
        <BLANKLINE>
        operator          ms   share   calls  group
        exp            0.007    18 %       1  program
        mul            0.005    13 %       1  program
        whole run      0.039   100 %       1
        """
        with Watch() as watch:
            try:
                results = self.run(program, feed, fetch, scope)
            except Exception as error:
                if len(error.args) == 1 and str(error).startswith("Executor.run: "):
                    error.args = (str(error).replace("Executor.run: ", "Executor.profile: ", 1),)
                raise
        return Profile(results, watch.events, watch.seconds)


class PreparedRun:
    """What runs for given results, made once and stored in the Program.

    Attributes
    ----------
    has_chains : bool
        Whether it has chains: small Programs are prepared without, in less time.
    has_updates : bool
        Whether parameters are updated.
    updated_parameters : tuple of Variable
    read : list of Variable
        The Variables that must have values before the run.
    layout : Layout
        The layout of its frames.
    """

    def __init__(self, program: Program, wanted: list[Variable], keep_scopes: bool, has_chains: bool) -> None:
        self._program, self._keep_scopes, self.has_chains = program, keep_scopes, has_chains
        self._updates = {op.variable: op for op in program.ops if isinstance(op, ParameterUpdate)}  # the last of each
        self.has_updates, self.updated_parameters = bool(self._updates), tuple(self._updates)
        new = [x for op in self._updates.values() for x in op.inputs]
        every = [out for op in program.ops for out in op.outputs]
        needed = {*wanted, *new} if wanted else {*every, *new}
        ops = []
        for op in reversed(program.ops):
            if any(out in needed for out in op.outputs):
                needed.update(op.inputs)
                if isinstance(op, GradientOperator):
                    needed.update(op.forward.outputs)
                ops.append(op)
        ops.reverse()
        produced = set(every)
        read = dict.fromkeys([*wanted, *new, *(x for op in ops for x in op.inputs)])
        self.read = [x for x in read if x not in produced]
        self.gradients = {d: x for op in ops if isinstance(op, Seed) for x, d in op.gradient_of.items() if d in needed}
        given = {*wanted, *new, *(x for op in ops if isinstance(op, Operator) for x in op.inputs)}
        valued = given if wanted else needed
        complete = self._complete(ops, valued)
        backward = {op.forward for op in ops if isinstance(op, GradientOperator)}
        self.layout = layout = Layout()
        self._ops = [op for op in ops if isinstance(op, Operator)]
        calls = {op: op.call(layout, op in backward or (keep_scopes and has_bodies(op))) for op in self._ops}
        begun = {op: {x for x, d in op.gradient_of.items() if d in needed} for op in ops if isinstance(op, Seed)}
        self._chains = chains_of(ops, calls, layout) if has_chains and not keep_scopes else []
        results = [*wanted, *new, *[self.gradients[d] for d in wanted if d in self.gradients]]
        see_readers(self._chains, ops, results, valued, layout)
        self._parts = Parts(layout, calls, self._chains, begun, complete).of(ops)
        self._read, self._wanted = layout.slots(self.read), layout.slots(wanted)
        layout.slots(new)
        self._traced = layout.slots([(op, "trace") for op in self._ops if "loop" in op.arguments])

    def _complete(self, ops: list[Any], valued: set[Variable]) -> dict[Any, list[Variable]]:
        """Return after which operator each fetched or read gradient is complete."""
        last: dict[Variable, Any] = {}
        for op in ops:
            if isinstance(op, (Seed, GradientOperator)):
                last.update((d, op) for d in op.outputs if d in valued)
        complete: dict[Any, list[Variable]] = {}
        for d, op in last.items():
            complete.setdefault(op, []).append(d)
        return complete

    def begin(self, fed: dict[Variable, Any]) -> Frame:
        """Return the frame with the values that are read."""
        frame = self.layout.base.copy()
        for x, slot in zip(self.read, self._read, strict=True):
            frame[slot] = fed[x]
        return frame

    def run(self, frame: Frame) -> None:
        """Run all instructions on a frame with the values that are read."""
        token = KEEPS_ALL.set(True) if self._keep_scopes else None
        try:
            with named_caller(), Recycled():
                for part in self._parts:
                    if isinstance(part, list):
                        engine.run(part, frame, len(part))
                    else:
                        part(frame)
        finally:
            if token is not None:
                KEEPS_ALL.reset(token)

    def given(self, frame: Frame, wanted: list[Variable], fed: dict[Variable, Any]) -> list[Any]:
        """Return the fetched values; gradients have memory of their own, others that share an input's are read-only."""
        found = [of_user(frame[slot]) for slot in self._wanted]
        places = [j for j, one in enumerate(wanted) if one in self.gradients]
        dense = [j for j in places if isinstance(found[j], (np.ndarray, LoDTensor))]
        given = [values_of(found[j]) for j in dense]
        own = [*map(GradientOwner().own, given)]
        for j, values, before in zip(dense, own, given, strict=True):
            if values is not before:
                found[j] = of_type(frame[self.layout.slot(self.gradients[wanted[j]])], values)
        return protected(found, fed.values()) if found else found

    def updated(self, frame: Frame, found: list[Any]) -> dict[Variable, Any]:
        """Return the new values of the parameters that are updated: checked, in memory of their own."""
        if not self._updates:
            return {}
        fetched = arrays_of(found)
        made = {}
        for x, op in self._updates.items():
            value = frame[self.layout.slot(op.value)] if isinstance(op.value, Variable) else op.value
            check_update(f"update: {self._program.name_of(x)}: value", x.spec, spec_of(value))
            own = op.fresh and not any(overlaps(values, fetched) for values in arrays_of([value]))
            made[x] = value if own else own_copy(value)
        return made

    # -- Scopes --------------------------------------------------------------------------------------------------------

    def look(self, fed: dict[Variable, Any], frame: Frame) -> Look:
        """Return the values of a run by name, and what makes the Scopes of its loops."""
        lost: dict[Variable, GraphError] = {}
        for chain in self._chains:
            frame, some = chain.looked(frame)
            lost.update(some)
        values = {**fed, **self.layout.values(frame), **lost}
        named = {self._program.name_of(x): (x, value) for x, value in values.items()}
        return named, functools.partial(records_of_ops, self._ops, self.layout, frame)

    def traces(self, frame: Frame) -> list[Trace]:
        """Return the traces that loops kept of their steps."""
        return [frame[slot] for slot in self._traced if isinstance(frame[slot], Trace)]
