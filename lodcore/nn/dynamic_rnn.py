"""Running a cell over steps: unrolled, or in one loop over shrinking batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from lodcore.base.dispatch import Symbol, recorder
from lodcore.base.memory import flag
from lodcore.base.naming import call_named, with_arguments
from lodcore.errors import DTypeError, LoDError, ShapeError
from lodcore.graph import Variable, tree_leaves, tree_map
from lodcore.graph.fetching import unwritten
from lodcore.graph.loops.body import LoopVariable, changes, spec_in_body
from lodcore.graph.tape import Tape
from lodcore.graph.trees import copy_of_tree, map_leaves_of_two
from lodcore.graph.variable import as_value, resolved, spec_text
from lodcore.nn.cell_loop import CellKeeper, CellLoop, Deferred
from lodcore.operators.arguments import function_of, level_of, nested_of
from lodcore.operators.roles import spec_of
from lodcore.ops import (
    full_like,
    greater_equal_than,
    lod_lengths,
    reorder_by_rank,
    sequence_reverse,
    shrink_memory,
    tensor_array_pack,
    tensor_array_read,
    tensor_array_size,
    tensor_array_unpack,
    tensor_array_write,
)
from lodcore.ops import sum as sum_of
from lodcore.ops.move.checked import check, same_sequences
from lodcore.ops.networks.states import last_of_steps
from lodcore.tensors.lod_tensor import LoDTensor
from lodcore.tensors.tensor import Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["dynamic_rnn", "static_rnn"]

#: Called with parameters, the input of a step and the state before it; returns the output, and the next state.
CellFunction = Callable[[Any, Any, Any], tuple[Any, Any]]


def static_rnn(cell: CellFunction, parameters: Any, xs: Iterable[Any], initial_state: Any) -> tuple[list[Any], Any]:
    """Run a cell over steps, with one call per step: the loop is unrolled.

    Parameters
    ----------
    cell : callable
        `output, next_state = cell(parameters, input, state)`.
    parameters : tree
    xs : list, or tensor whose first axis counts steps
        The inputs, one per step.
    initial_state : tree

    Returns
    -------
    outputs : list
        One per step.
    last_state : tree

    Examples
    --------
    >>> from lodcore import nn
    >>> nn.static_rnn(lambda parameters, x, total: (total + x, total + x), None, [1.0, 2.0, 3.0], 0.0)
    ([1.0, 3.0, 6.0], 6.0)
    """
    outputs, state, prepared = [], initial_state, _prepared(cell, parameters)
    for step in xs:
        output, state = _pair("static_rnn", cell(prepared, step, state))
        outputs.append(output)
    return outputs, state


def dynamic_rnn(
    cell: CellFunction,
    parameters: Any,
    x: Any,
    initial_state: Any = None,
    level: int = -1,
    is_reverse: bool = False,
) -> tuple[Any, Any]:
    """Run a cell over sequences of different lengths, in one loop over shrinking batches without padding.

    Parameters
    ----------
    cell : callable
        `output, next_state = cell(parameters, input, state)`, called once to record it. The input has one entry per
        sequence that is long enough: a row, or a sequence with its contents if `level` is not the last one. So do the
        output and the next state, which must have the dtypes and shapes of the state.
    parameters : tree
    x : LoDTensor, nested lists, or tree of LoDTensors
        Several inputs must have the same sequences. A value that is constant per sequence may be given as
        `sequence_expand_as(v, x)`, or as a part of the state that the cell returns unchanged.
    initial_state : tree of ndarray or LoDTensor, optional
        One entry per sequence, in the order of the batch; by default `cell.initial_state(parameters, n)` for n
        sequences.
    level : int
        The level of the sequences over which the cell runs.
    is_reverse : bool
        Whether to process each sequence from its last element to the first; outputs keep the order of the inputs.

    Returns
    -------
    outputs : tree of LoDTensor
        Has the sequences of x; below `level`, the structure of the cell's output.
    last_state : tree
        The state after each sequence, in the order of the batch; that of an empty one is its initial state. A part
        that the cell returns unchanged is a read-only view of the initial one.

    Raises
    ------
    LoDError, LevelError
        If several inputs have different sequences (the message names the first that differs), or the level does not
        exist.
    ValueError
        If there is no initial state, or the next state is a tree of another form.
    DTypeError, ShapeError
        If x is not a tensor with sequences, or the next state has another dtype or width than the state, or something
        else in place of a tensor.

    Notes
    -----
    For each sequence, the call computes::

        for element in reversed(sequence) if is_reverse else sequence:
            output, state = cell(parameters, element, state)

    References
    ----------
    "Design for TensorArray" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.LoDTensor.from_lengths([[1.0], [2.0], [4.0]], [2, 0, 1])
    >>> running_sum = lambda parameters, x, total: (total + x, total + x)
    >>> outputs, last = lodcore.nn.dynamic_rnn(running_sum, None, x, np.array([[10.0], [20.0], [30.0]]))
    >>> outputs.values[:, 0], last[:, 0]
    (array([11., 13., 34.]), array([13., 20., 34.]))
    """
    return run_over_sequences("dynamic_rnn", cell, parameters, x, initial_state, level, is_reverse)


def run_over_sequences(
    where: str, cell: CellFunction, parameters: Any, x: Any, initial_state: Any, level: int, is_reverse: bool
) -> tuple[Any, Any]:
    """Run a cell over sequences; see `dynamic_rnn`."""
    function_of(f"{where}: cell", cell)
    is_reverse = flag(f"{where}: is_reverse", is_reverse)
    names: list[str] = []
    x = take_inputs(f"{where}: x", x, names)
    given = tree_leaves(x)
    if not given:
        raise DTypeError(f"{where}: x: has no tensor; at least one is needed")
    first = given[0]
    k = level_of(where, first.num_levels, level)
    made = [first]
    for one, name in zip(given[1:], names[1:], strict=True):
        made.append(check(same_sequences, one, first, where=where, level=level, name=name, other=names[0]))
    state = _initial_state(where, cell, parameters, initial_state, first, k)

    def in_steps() -> tuple[list[Any], Any, Any, list[Any]]:
        """Return the steps of the inputs, their number, their rank, and the states in its order."""
        given = [sequence_reverse(one, k) for one in made] if is_reverse else made
        unpacked = [tensor_array_unpack(one, k) for one in given]
        rank = unpacked[0][1]
        sorted_states = [call_named(where, reorder_by_rank, one, rank) for one in tree_leaves(state)]
        return [steps for steps, _ in unpacked], tensor_array_size(unpacked[0][0]), rank, sorted_states

    leaves = tree_leaves(state)
    rest = k, is_reverse
    keeper = CellKeeper(cell, parameters, x, state, made, leaves, rest)
    kept = keeper.take()
    if kept is None and not keeper.seen and not Deferred.suits(made, k, leaves):
        loop, rank = _recorded(where, cell, parameters, x, state, in_steps(), CellLoop())
    else:
        loop = kept or CellLoop(Deferred(made, leaves), *rest)
        loop.make, loop.cuts = in_steps, max(loop.cuts, keeper.cuts)
        loop, rank = _recorded(where, cell, parameters, x, state, loop.places(), loop)
        if loop.compiled is not None:
            found = loop.compiled.results(made, state, *loop.results)
            keeper.give_back(loop, lambda cell, made: _recorded(where, cell, None, x, state, made.places(), made))
            return found
        rank = loop.rank_of(rank)
    outputs, lasts = map(loop.arrays_of, loop.results)

    def joined(array: Any) -> Any:
        names = {"ta": "cell: output", "indices_map": "the input"}
        packed = call_named(where, with_arguments, names, tensor_array_pack, array, k, rank)
        return sequence_reverse(packed, k) if is_reverse else packed

    def last(array: Any, boot: Any) -> Any:
        if array is None:
            return unwritten(boot)
        names = {"element": "cell: next state: step"}
        return call_named(where, with_arguments, names, last_of_steps, array, boot, rank)

    return tree_map(joined, outputs), tree_map(last, lasts, state)


def run_steps(
    where: str, cell: CellFunction, parameters: Any, steps: Any, state: Any, rank: Any = None
) -> tuple[Any, Any, Any]:
    """Run a cell over arrays of steps: the loop that all recurrent networks share.

    Parameters
    ----------
    where : str
        The name of the function, for messages.
    cell : callable
    parameters : tree
    steps : tree of TensorArray
        The inputs, as many as names.
    state : tree
        The state of the sequences in the order of the steps.
    rank : IndicesMap, optional
        The rank by which the state shrinks; without it, the state keeps its size.

    Returns
    -------
    outputs : tree of TensorArray
    states : tree of TensorArray
        The states after each step; None for those that are never updated.
    last_state : tree
        The part of the state that remains after the last step.
    """
    count = tensor_array_size(tree_leaves(steps)[0])
    loop = record_steps(where, cell, parameters, steps, state, count, rank, CellLoop())
    outputs, states = loop.results
    return outputs, states, tree_map(resolved, loop.carried)


def _recorded(
    where: str, cell: CellFunction, parameters: Any, x: Any, state: Any, found: tuple[Any, ...], loop: CellLoop
) -> tuple[CellLoop, Any]:
    """Record the steps of a cell from lists of the steps of its inputs and of its states; return their rank, too."""
    steps, count, rank, states = found
    if loop.script is not None:  # recorded before
        return record_steps(where, cell, parameters, None, state, count, rank, loop), rank
    places, boots = iter(steps), iter(states)
    in_x, in_state = tree_map(lambda _: next(places), x), tree_map(lambda _: next(boots), state)
    return record_steps(where, cell, parameters, in_x, in_state, count, rank, loop), rank


def record_steps(
    where: str, cell: CellFunction, parameters: Any, steps: Any, state: Any, count: Any, rank: Any, loop: CellLoop
) -> CellLoop:
    """Record the steps of a cell, and run them if they are not compiled."""
    kept: dict[int, Any] = {}
    with loop.loop():
        if loop.script is None:
            at = loop.step()
            loop.break_if(greater_equal_than(at, count))
            loop.carried = tree_map(lambda one: loop.loop_var(one, advance=False), state)
            now = loop.carried
            if rank is not None:
                now = tree_map(lambda one: shrink_memory(one, at, rank, False), loop.carried)
            loop.begin_cell(at, tree_map(lambda array: tensor_array_read(array, at), steps), now)
        now, at = loop.before, loop.at
        output, following = _pair(where, cell(_prepared(cell, parameters), loop.inputs, now))
        if loop.follows(output, following):
            return loop
        following = _like_state(where, loop.carried, following)
        loop.end_cell(output, following)

        def keep(one: Any) -> Any:
            one = resolved(one)
            if id(one) not in kept:
                _check_output(where, one, rank is not None)
                kept[id(one)] = one, loop.array_outside()
                tensor_array_write(kept[id(one)][1], at, one)
            return kept[id(one)][1]

        def follow(variable: LoopVariable, before: Any, behind: Any) -> Any:
            if behind is before:
                return None
            variable.update(behind)
            return None if rank is None else keep(behind)

        loop.results = tree_map(keep, output), tree_map(follow, loop.carried, now, following)
    return loop


# -- arguments ---------------------------------------------------------------------------------------------------------


def take_inputs(where: str, x: Any, names: list[str]) -> Any:
    """Return a tree of tensors with sequences, converted from nested lists; append their names for messages."""
    if type(x) is LoDTensor and x.num_levels:  # the usual case
        names.append(where.partition(": ")[2])
        return x
    if not isinstance(x, Symbol):
        if isinstance(x, dict):
            return {key: take_inputs(f"{where}[{key!r}]", one, names) for key, one in x.items()}
        if isinstance(x, (list, tuple)) and any(isinstance(one, (Symbol, LoDTensor)) for one in tree_leaves(x)):
            made = [take_inputs(f"{where}[{j}]", one, names) for j, one in enumerate(x)]
            return type(x)(*made) if hasattr(x, "_fields") else type(x)(made)
        if is_dataclass(x):
            return tree_map(lambda one: take_inputs(where, one, names), x)
    names.append(where.partition(": ")[2])
    given = resolved(x)
    if not isinstance(given, Variable):
        given = nested_of(where, given)
    if not given.num_levels:
        raise LoDError(f"{where}: has 0 levels; sequences are needed")
    return given


def _initial_state(where: str, cell: Any, parameters: Any, given: Any, x: Any, level: int) -> Any:
    """Return the given states before the first step, or those that the cell makes."""
    count = None
    if not isinstance(x, Variable):
        count = x.lod.num_sequences(level)
    elif x.has_value:
        count = x.get().lod.num_sequences(level)  # that of this call; a Program checks it when it runs
    if given is None:
        is_fixed = not isinstance(x, Variable) or (x.has_value and isinstance(recorder((x,)), Tape))
        number = count if is_fixed else sum_of(full_like(lod_lengths(x, level), 1))
        given = state_of_cell(where, cell, parameters, number)
    given = copy_of_tree(given)
    leaves = tree_leaves(given)
    if all([type(one) is np.ndarray and one.dtype.kind == "f" and one.shape[:1] == (count,) for one in leaves]):
        return given

    def check(one: Any, _: Any, place: str) -> None:
        shape = one.shape if isinstance(one, Variable) else as_value(place, one).shape
        rows = shape[0] if shape else -1
        if not shape or (count is not None and rows is not None and rows != count):
            needed = "for each sequence" if count is None else f"for each of {count} sequences"
            raise LoDError(f"{place}: has shape {shape}; one entry {needed} is needed")

    given = tree_map(resolved, given)
    map_leaves_of_two(check, given, given, f"{where}: initial_state")
    return given


def state_of_cell(where: str, cell: Any, parameters: Any, n: Any) -> Any:
    """Return the states that a cell makes for n sequences before their first step."""
    make = getattr(cell, "initial_state", None)
    if make is None:
        raise ValueError(f"{where}: initial_state: is missing; the cell makes none, so one is needed")
    return make(parameters, n)


def _prepared(cell: Any, parameters: Any) -> Any:
    """Let a cell, if it supports it, compute the values that all steps share."""
    prepare = getattr(cell, "prepare", None)
    return parameters if prepare is None else prepare(parameters)


def _pair(where: str, given: Any) -> Any:
    """Check that a cell returns an output and a state."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        found = f"{len(given)} entries" if isinstance(given, (tuple, list)) else type(given).__name__
        raise DTypeError(f"{where}: cell: returned {found}; a pair (output, next_state) is needed")
    return given


def _check_output(where: str, given: Any, needs_rows: bool) -> None:
    """Check that an output of a cell is a tensor, with an axis of sequences if that is needed."""
    if isinstance(given, TensorArray) or not isinstance(given, (Variable, Tensor, np.generic, int, float)):
        raise DTypeError(f"{where}: cell: an output is {type(given).__name__}; a tensor is needed")
    spec = given.spec if isinstance(given, Variable) else spec_of(given)
    if needs_rows and not spec.shape and spec.kind is not object:
        raise ShapeError(f"{where}: cell: an output has no axis; one entry for each sequence is needed")


def _like_state(where: str, state: Any, following: Any) -> Any:
    """Check that the next state has the form, dtypes and shapes of the state."""
    places: list[str] = []
    map_leaves_of_two(lambda _, __, place: places.append(place), state, state, f"{where}: cell: the next state")
    try:
        following = tree_map(lambda _, one: resolved(one), state, following)
    except ValueError as error:
        raise ValueError(str(error).replace("tree_map: trees[0]", f"{where}: cell: the next state")) from None
    found: list[Any] = []
    tree_map(lambda _, one: found.append(one), state, following)
    for variable, one, place in zip(tree_leaves(state), found, places, strict=True):
        if one is None or isinstance(one, (TensorArray, list, tuple, dict)):
            raise DTypeError(f"{place}: is {type(one).__name__}; a tensor is needed")
        spec = spec_in_body(one.spec if isinstance(one, Variable) else spec_of(as_value(place, one)))
        if changes(variable.spec, spec):
            kind = DTypeError if spec.dtype != variable.spec.dtype else ShapeError
            raise kind(f"{place}: is {spec_text(spec)}; the state is {spec_text(variable.spec)}, which may not change")
    return following
