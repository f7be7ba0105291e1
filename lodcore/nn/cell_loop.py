"""The loop over the steps of a cell: compiled, where all operators of its body can take part, or else as any loop."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore import kernels
from lodcore.base.dispatch import recorder, recording
from lodcore.base.dtypes import native_dtype
from lodcore.graph.loops.body import Body
from lodcore.graph.loops.while_loop import WhileLoop
from lodcore.graph.random_states import with_generators
from lodcore.graph.tape import Tape
from lodcore.graph.trees import in_lists, tree_leaves, tree_map
from lodcore.graph.variable import Variable, resolved
from lodcore.nn.cell_steps import CellSteps
from lodcore.nn.kept_cells import CellBody, give_back, key_of, same_tree, take
from lodcore.nn.script import Script
from lodcore.operators.roles import spec_of
from lodcore.ops.move.steps import in_step_order
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["CellKeeper", "CellLoop", "Deferred"]

OFTEN = 64  # a cell whose calls always differ is copied once in so many calls


class Deferred:
    """Placeholders for objects that a loop over steps needs only if its body is not compiled.

    Parameters
    ----------
    xs : list of LoDTensor or Variable
        The inputs.
    states : list of tensor
        One entry a sequence, in the order of the batch.
    """

    def __init__(self, xs: list[Any], states: list[Any]) -> None:
        with recording(None):
            self.states, self.steps = states, [TensorArray() for _ in xs]
            self.count, self.rank = np.array(0), no_rank()
        for array, x in zip(self.steps, xs, strict=True):
            spec = x.spec if isinstance(x, Variable) else spec_of(x)
            array.expect(Spec((None, *spec.shape[1:]), spec.dtype))

    @staticmethod
    def suits(xs: list[Any], level: int, states: list[Any]) -> bool:
        """Return whether inputs and states are rows of vectors or numbers of one dtype, for which there is a kernel."""
        if not all(isinstance(x, (Variable, np.ndarray, LoDTensor)) for x in (*xs, *states)):
            return False
        specs = [x.spec if isinstance(x, Variable) else spec_of(x) for x in (*xs, *states)]
        dtypes = {native_dtype(spec.dtype) for spec in specs}
        floats = [np.dtype(np.float32), np.dtype(np.float64)]
        if len(dtypes) > 1 or dtypes.isdisjoint(floats) or not kernels.matrix.is_fast():
            return False
        nested = all(spec.kind is LoDTensor and spec.num_levels == level + 1 for spec in specs[: len(xs)])
        dense = all(spec.kind is np.ndarray and not spec.num_levels for spec in specs[len(xs) :])
        return nested and dense and all(1 <= len(spec.shape) <= 2 for spec in specs)


class CellLoop(WhileLoop):
    """A loop over the steps of a cell.

    Parameters
    ----------
    deferred : Deferred, optional
        Without it, the body is not compiled.
    make : callable, optional
        Makes what is deferred: the steps of the inputs, their number, their rank, and the states in its order.
    level : int
    is_reverse : bool

    Attributes
    ----------
    carried : tree of LoopVariable
    compiled : CellSteps or None
    """

    def __init__(
        self,
        deferred: Deferred | None = None,
        level: int = 0,
        is_reverse: bool = False,
    ) -> None:
        super().__init__((), None, False, keeps_shapes=True)  # if no step runs, only shapes are known
        self._deferred, self.level, self.is_reverse = deferred, level, is_reverse
        self._again = deferred  # for the next call
        self.make: Callable[[], tuple[list[Any], Any, Any, list[Any]]] | None = None
        self.results: tuple[Any, Any] = ((), ())
        self.compiled: CellSteps | None = None
        self.script: Script | None = None
        self.carried: Any = None
        self.at: Any = None
        self.inputs: Any = None
        self.before: Any = None
        self.outputs: Any = None
        self.behind: Any = None
        self.ops: list[Any] = []  # those of the cell
        self.cuts = 0  # how often in a row the cell differed from before
        self._first = 0
        self._arrays: list[TensorArray] = []
        self._made: dict[int, Any] = {}

    def body_in(self, parent: Any) -> Body:
        """Return the body: a new one, or that which was recorded before."""
        if self.script is None:
            made = CellBody(parent, self.keeps_shapes)
            made.owner = self
            return made
        body = self.body
        assert isinstance(body, CellBody)
        body.parent, body.script = parent, self.script
        self.script.begin()
        return body

    def _prepare(self) -> None:
        if self.script is None:
            super()._prepare()
        for v in self.variables:
            v.ended = False

    def places(self) -> tuple[list[Any], Any, Any, list[Any]]:
        """Return the placeholders of the steps of each input, of their number and of their rank; and the states."""
        assert self._deferred is not None
        return self._deferred.steps, self._deferred.count, self._deferred.rank, self._deferred.states

    def begin_cell(self, at: Any, inputs: Any, before: Any) -> None:
        """Note that the operators of the cell begin here."""
        self.at, self.inputs, self.before, self._first = at, inputs, before, len(self.body.ops)

    def end_cell(self, outputs: Any, behind: Any) -> None:
        """Note the results of the cell; the operators that follow are not its own."""
        self.ops, self.outputs, self.behind = self.body.ops[self._first :], outputs, behind

    def follows(self, outputs: Any, behind: Any) -> bool:
        """Return whether the cell called the same operators as before, with the same results."""
        body, script = self.body, self.script
        assert isinstance(body, CellBody)
        if script is None or body.script is None:
            return False
        if script.is_whole and same_tree(outputs, self.outputs) and same_tree(behind, self.behind):
            body.script = None
            return True
        body.cut()
        return False

    def cut(self, script: Script) -> None:
        """Keep the calls of the body that were the same as before; the others are recorded anew."""
        body = self.body
        body.ops[self._first :] = with_generators(body.ops[self._first : self._first + script.at], script.sources)
        known = {key: v for key, v in script.numbers.items() if v in script.found}
        assert isinstance(body, CellBody)
        body.numbers = {key: script.found[v] for key, v in known.items()}
        self.cuts += 1
        assert self._again is not None
        stay = {id(place) for place in (*self._again.steps, self._again.count, self._again.rank)}
        body.captures = {key: pair for key, pair in body.captures.items() if key in stay}
        body.captures.update({id(given): (given, local) for local, given in script.found.items()})
        body.versions.clear()
        self.script = self.compiled = None
        self._arrays, self._made = [], {}

    def forget(self) -> None:
        """Forget the outer objects of a call, so that they are not kept alive."""
        assert self.compiled is not None
        assert self._again is not None
        if self.script is None:
            stay = {id(place) for place in (*self._again.steps, self._again.count, self._again.rank)}
            self.body.captures = {key: pair for key, pair in self.body.captures.items() if key in stay}
            given = [*tree_leaves(self.inputs), *tree_leaves(self.before)]
            self.script = self.compiled.script = Script(self.ops, self.compiled.outer, given)
        self.script.begin()
        body = self.body
        assert isinstance(body, CellBody)
        body.numbers, body.closed = {}, False
        self.compiled.given, self.make, self._deferred, self._again.states = [], None, self._again, []
        for v in tree_leaves(self.carried):
            v.init = None

    def begin_again(self, states: list[Any]) -> None:
        """Take the states of another call."""
        assert self._again is not None
        self._again.states = states

    def array_outside(self) -> TensorArray:
        """Return an array for outputs that is made outside of the body: one made inside would be new in every step."""
        with recording(None if self._deferred is not None else self.body.parent):
            made = TensorArray()
        if self._deferred is not None:
            self._arrays.append(made)
        return made

    def rank_of(self, place: Any) -> Any:
        """Return the object that a placeholder stands for; any other object is returned as it is."""
        return self._made.get(id(place), place)

    def arrays_of(self, places: Any) -> Any:
        """Return the arrays that stand at places, a tree of them."""
        return tree_map(self.rank_of, places)

    def _finish(self) -> None:
        """Compile the body; if that is impossible, make the deferred objects, and record the loop like any other."""
        if self.script is not None:  # the cell did what it did before
            assert self.compiled is not None
            self.compiled.given = [self.script.found[v] for v in self.compiled.outer]
            self.cuts = 0
            return
        if self._deferred is not None:
            self.compiled = CellSteps.of(self)
            if self.compiled is not None:
                return
            self._make_deferred(self._deferred)
        super()._finish()

    def _make_deferred(self, deferred: Deferred) -> None:
        assert self.make is not None
        self._deferred = None
        steps, count, rank, states = self.make()
        pairs = [*zip(deferred.steps, steps, strict=True), (deferred.count, count), (deferred.rank, rank)]
        pairs += [(place, self.array_outside()) for place in self._arrays]
        captures = self.body.captures
        for place, made in pairs:
            self._made[id(place)] = made
            if id(place) in captures:
                kept = made if isinstance(made, (Variable, Tensor, TensorArray)) else np.array(made)
                captures[id(kept)] = kept, captures.pop(id(place))[1]
        for variable, state in zip(tree_leaves(self.carried), states, strict=True):
            variable.init = state

    def __call__(self) -> None:
        """Run the loop, unless it is compiled."""
        if self.compiled is None:
            super().__call__()


class CellKeeper:
    """Keeps the compiled body of a cell for the next call that is alike.

    The first call of its kind keeps nothing; the second one keeps a copy of its body, whose Variables no user has seen.
    Where calls differ time and again, a copy is made less and less often: a call then costs a recording, not two.

    Parameters
    ----------
    cell : callable
    parameters : tree
    x, state : tree
    xs, states : list
        Their leaves.
    rest : tuple
        What else the body depends on.

    Attributes
    ----------
    seen : bool
        Whether there was a call that is alike, so that there are kernels for its inputs and states.
    cuts : int
        How many of these in a row did something other than the one before.
    """

    def __init__(
        self, cell: Any, parameters: Any, x: Any, state: Any, xs: list[Any], states: list[Any], rest: tuple[Any, ...]
    ) -> None:
        found = recorder((*xs, *states, *tree_leaves(parameters)))
        taped = isinstance(found, Tape)  # where slices of parameters, say, are recorded
        self._key = key_of(cell, xs, x, state, states, *rest, taped) if taped or found is None else None
        self.seen, self.cuts, self._rest = False, 0, rest
        self._xs, self._states = xs, states

    def take(self) -> CellLoop | None:
        """Return a loop whose body is compiled, or None."""
        found = None if self._key is None else take(self._key)
        self.seen = found is not None
        if not isinstance(found, CellLoop):
            self.cuts = found + 1 if found else 0
            return None
        found.begin_again(self._states)
        return found

    def give_back(self, loop: CellLoop, record: Callable[[Any, CellLoop], Any]) -> None:
        """Keep a loop, or a copy of it, for the next call.

        Parameters
        ----------
        loop : CellLoop
        record : callable
            Records a cell in a new loop.
        """
        if self._key is None:
            return
        if not self.seen:
            give_back(self._key, 0)
            return
        if loop.script is None:
            cuts = max(self.cuts, loop.cuts)
            if cuts & (cuts - 1) and cuts % OFTEN:
                give_back(self._key, cuts)
                return
            loop = self._copy(loop, record)
            loop.cuts = cuts
            if loop.compiled is None:
                return
        loop.forget()
        assert loop.script is not None
        if loop.script.is_alone():
            give_back(self._key, loop)
        else:  # using a Variable that someone kept raises an error
            loop.body.closed = True

    def _copy(self, loop: CellLoop, record: Callable[[Any, CellLoop], Any]) -> CellLoop:
        """Record the body of a loop once more, with Variables of its own."""
        assert loop.compiled is not None
        known = dict(zip(loop.compiled.outer, loop.compiled.given, strict=True))

        def cell(parameters: Any, input: Any, state: Any) -> tuple[Any, Any]:
            known.update(zip(tree_leaves(loop.inputs), tree_leaves(input), strict=True))
            known.update(zip(tree_leaves(loop.before), tree_leaves(state), strict=True))
            for op in loop.ops:
                arguments = {name: in_lists(meant, x) for name, x in op.arguments.items()}
                made = op.op(**arguments)
                known.update(zip(op.outputs, (made,) if op.single else made, strict=True))
            return tree_map(meant, loop.outputs), tree_map(meant, loop.behind)

        def meant(x: Any) -> Any:
            return known.get(resolved(x), x) if isinstance(x, Variable) else x

        made = CellLoop(Deferred(self._xs, self._states), *self._rest)
        record(cell, made)
        gc.collect(1)  # cycles that rules of a user's operator left would be counted now, and later be gone
        return made


@functools.cache
def no_rank() -> Any:
    """Return the rank of no sequences."""
    return in_step_order("dynamic_rnn", LoDTensor.from_lengths(np.empty(0), []), 0, True, None)[1]
