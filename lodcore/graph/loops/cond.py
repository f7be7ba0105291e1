"""Branches: cond, and the block form IfElse, on which it is built."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lodcore.base.contexts import RecordedBody
from lodcore.base.dispatch import open_block, recording
from lodcore.base.journal import Journal
from lodcore.base.naming import call_named
from lodcore.errors import DTypeError, GraphError
from lodcore.graph.all_or_none import AllOrNone
from lodcore.graph.block import NamedBlock
from lodcore.graph.loops.body import changes, operand
from lodcore.graph.loops.branches import Branch, BranchBody, Branches, run_branches
from lodcore.graph.trees import tree_map
from lodcore.graph.variable import Variable, as_value, resolved, spec_text
from lodcore.operators.arguments import function_of, integer_of, mask_of
from lodcore.operators.foreign import of_entries
from lodcore.operators.operands import kept_in
from lodcore.operators.registry import WITH_KIND
from lodcore.operators.roles import spec_of
from lodcore.ops.move.masks import merge_by_mask, split_by_mask
from lodcore.tensors.tensor import Spec, Tensor
from lodcore.tensors.tensor_array import TensorArray

__all__ = ["IfElse", "cond"]

NAMES = ("when_true", "when_false")
NUMBERS = (bool, int, float, complex)


class IfElse:
    """Two blocks: a condition runs one of them, a mask gives each its part of the inputs.

    Parameters
    ----------
    condition : Variable, bool, or array_like of bool
        A value without axes runs one block. A mask, shape (n,) or (n, 1), has one entry per sequence of `level`, or per
        row of inputs without levels: both blocks run, each on its part, even if that is empty.
    level : int
        The level of the inputs that a mask divides.

    Raises
    ------
    DTypeError, ShapeError
        If the condition is not bool, or has too many axes.

    Notes
    -----
    The blocks are recorded like the bodies of loops: nothing in them has a value before the call, which runs them and
    returns the results in a list. `lodcore.cond` is the same with two functions.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = np.array([1.0, -2.0, 3.0])
    >>> ie = lodcore.IfElse(x > 0)
    >>> with ie.true_block():
    ...     ie.output(ie.input(x) * 10)
    >>> with ie.false_block():
    ...     ie.output(-ie.input(x))
    >>> ie()
    [array([10.,  2., 30.])]
    """

    __module__ = "lodcore"

    _where = "IfElse"

    def __init__(self, condition: Any, level: int = 0) -> None:
        self.condition, self.has_mask = _condition_of(f"{self._where}: condition", condition)
        self.level = integer_of(f"{self._where}: level", level)
        self._bodies: list[BranchBody | None] = [None, None]
        self._outputs: list[list[Any]] = [[], []]
        self._parts: dict[int, tuple[Any, Any]] = {}  # by identity: an input, and its parts
        self.recorded: BranchBody | None = None  # the block that is open
        self._which = 0
        self._before: dict[int, tuple[Any, Any]] = {}  # the parts before that block

    # -- recording -----------------------------------------------------------------------------------------------------

    def true_block(self) -> RecordedBody:
        """Open the block that runs if the condition holds, or on the part for which the mask is True."""
        return self._block(0)

    def false_block(self) -> RecordedBody:
        """Open the block that runs if the condition does not hold, or on the part for which the mask is False."""
        return self._block(1)

    def _block(self, which: int) -> RecordedBody:
        """Return the context of a block, with `which` as the number of its results."""
        name = ("true_block", "false_block")[which]
        together = AllOrNone()

        def make() -> BranchBody:
            if self.recorded is not None:
                raise GraphError(f"{self._where}: {name}: a block of it is open; close it before")
            if self._bodies[which] is not None:
                raise GraphError(f"{self._where}: {name}: was recorded already; make another IfElse")
            together.begin()
            self._before = dict(self._parts)
            return BranchBody(open_block())

        def prepare() -> None:
            self._outputs[which] = []
            self._which = which

        def finish() -> None:
            self._bodies[which] = self.recorded

        def failed() -> None:
            self._parts = self._before
            together.undo()

        return RecordedBody(self, [], make, prepare, finish, None, failed)

    def _body(self, what: str) -> tuple[int, Any]:
        """Return the number and the body of the open block."""
        body = open_block()
        if self.recorded is None or not isinstance(body, BranchBody):
            raise GraphError(f"{self._where}: {what}: no block of it is open; use it inside `with ie.true_block():`")
        return self._which, body

    def input(self, x: Any) -> Any:
        """Return the operand for the open block: a tensor, or, with a mask, the part of it that belongs to the block.

        Parameters
        ----------
        x : tensor, or lists, tuples and dicts of tensors
            With a mask, each has one sequence of `level`, or one row, per entry; numbers are the same for both blocks.

        Returns
        -------
        Variable, or the tree with Variables
        """
        which, body = self._body("input")
        return tree_map(lambda leaf: self._given(which, body, leaf), x)

    def _given(self, which: int, body: BranchBody, x: Any) -> Any:
        """Return the operand that stands for a leaf of the inputs in a block."""
        x = resolved(x)
        if isinstance(x, np.generic):
            x = as_value(f"{self._where}: input", x)
        if not isinstance(x, (Variable, Tensor)):
            if self.has_mask and isinstance(x, TensorArray):
                raise DTypeError(
                    f"{self._where}: input: is a TensorArray, which a mask cannot divide; use it in the block directly"
                )
            return x
        spec = x.spec if isinstance(x, Variable) else spec_of(x)
        if not self.has_mask or not (spec.num_levels or spec.shape or spec.kind is object):
            return body.known(x)
        if id(x) not in self._parts:
            with recording(body.parent):
                around = functools.partial(_of_condition, self._where)
                parts = self._asked(around, split_by_mask, x, self.condition, self._level_of(spec))
                self._parts[id(x)] = x, parts
        body.keeps_shapes = False  # the rules must hold for a part of any size
        try:
            return body.known(self._parts[id(x)][1][which])
        finally:
            body.keeps_shapes = True

    def _asked(self, around: Callable[..., Any], op: Any, *args: Any) -> Any:
        """Call an operator so that its errors name the caller, even when it is recorded and runs later."""
        found = around(op, *args)
        first = found[0] if isinstance(found, tuple) else found
        if isinstance(first, Variable) and isinstance(first.block, NamedBlock):
            made = next(op for op in reversed(first.block.ops) if first in op.outputs)
            made.around = around
        return found

    def _level_of(self, spec: Spec) -> int:
        """Return the level at which a tensor is divided or merged: rows without levels are elements of any level."""
        return self.level if spec.num_levels else 0

    def output(self, *results: Any) -> None:
        """Add results of the open block; those of both blocks are equal in number, dtype, width and levels.

        Parameters
        ----------
        *results : tensor, or lists, tuples and dicts of tensors
        """
        which, body = self._body("output")
        at = len(self._outputs[which])
        for number, one in enumerate(results, at):
            where = f"{self._where}: {NAMES[which]}: result {number}"
            self._outputs[which].append(tree_map(lambda leaf, where=where: _result(where, body, leaf), one))

    # -- running -------------------------------------------------------------------------------------------------------

    def __call__(self) -> list[Any]:
        """Run the blocks, or record them where Variables are recorded; return the results.

        Returns
        -------
        list
            One entry for each output of a block.

        Raises
        ------
        GraphError
            If a block is open, or the outputs of the blocks differ in number, form, dtype, width or levels.
        """
        if self.recorded is not None:
            raise GraphError(f"{self._where}: a block of it is open; close it before the call")
        bodies = [body or BranchBody(None) for body in self._bodies]
        pairs = self._pairs()
        sources = [self._sources(number, pair, bodies) for number, pair in enumerate(pairs)]
        each = [
            Branch(name, body, [pair[j] for pair in sources if pair is not None])
            for j, (name, body) in enumerate(zip(NAMES, bodies, strict=True))
        ]
        with Journal():
            if self.has_mask:
                sides = [run_branches(Branches([branch], False), None) for branch in each]
                numbers = [number for number, pair in enumerate(sources) if pair is not None]
                found = [self._merged(*one) for one in zip(numbers, *sides, strict=True)]
            else:
                found = run_branches(Branches(each, True), self.condition)
        given = iter([pairs[j][0] if pair is None else found.pop(0) for j, pair in enumerate(sources)])
        results: list[Any] = tree_map(lambda leaf: next(given), self._outputs[0])
        return results

    def _pairs(self) -> list[tuple[Any, Any]]:
        """Return the leaves of the results of both blocks; raise if these differ in form."""
        pairs: list[tuple[Any, Any]] = []
        true, false = self._outputs
        name, other = NAMES[::-1]
        try:
            tree_map(lambda *pair: pairs.append(pair), true, false)
            name, other = NAMES
            tree_map(lambda *pair: None, false, true)  # a leaf of the first may be a tree in the second
        except ValueError as error:
            said = str(error).removeprefix("tree_map: trees[0]")
            raise GraphError(f"{self._where}: {name}: the results{said}, as {other} has") from None
        return pairs

    def _merged(self, number: int, true: Any, false: Any) -> Any:
        """Merge a result of both blocks in the order of the mask."""
        spec = true.spec if isinstance(true, Variable) else spec_of(true)
        around = functools.partial(_of_condition, f"{self._where}: result {number}")
        merged = self._asked(around, merge_by_mask, true, false, self.condition, self._level_of(spec))
        return of_entries(self._where, merged, [x for x, _ in self._parts.values()], WITH_KIND)

    def _sources(self, number: int, pair: tuple[Any, Any], bodies: list[BranchBody]) -> tuple[Any, Any] | None:
        """Return the Variables of a result in both bodies; None for what is not a tensor and is equal in both."""
        if pair[0] is None and pair[1] is None:
            return None
        true, false = [
            _with_dtype(f"{self._where}: {NAMES[j]}: result {number}", body, pair[j], pair[1 - j])
            for j, body in enumerate(bodies)
        ]
        if changes(true.spec, false.spec) or changes(false.spec, true.spec):
            raise GraphError(
                f"{self._where}: when_false: result {number}: is {spec_text(false.spec)}; when_true gives "
                f"{spec_text(true.spec)}, and both need the same dtype, width and levels"
            )
        spec = true.spec
        if self.has_mask and not (spec.shape or spec.num_levels or spec.kind is object):
            raise GraphError(
                f"{self._where}: when_true: result {number}: is {spec_text(spec)}; with a mask, a result has one entry "
                "per entry of the branch's part"
            )
        return true, false


def _of_condition(where: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call an operator with a mask; its errors begin with another name, and name the mask as the condition."""
    try:
        return call_named(where, function, *args, **kwargs)
    except (TypeError, ValueError, IndexError) as error:
        error.args = (str(error).replace(f"{where}: mask: ", f"{where}: condition: "),)
        raise


def _condition_of(where: str, given: Any) -> tuple[Any, bool]:
    """Return a checked condition, and whether it is a mask."""
    condition = resolved(given)
    if isinstance(condition, (list, tuple)):
        condition = np.zeros(0, np.bool_) if not condition else as_value(where, condition)
    elif not isinstance(condition, (Variable, np.ndarray)):
        condition = as_value(where, condition)
    spec = condition.spec if isinstance(condition, Variable) else spec_of(condition)
    if spec.kind is not object:
        mask_of(where, spec, None)
    return condition, spec.kind is not object and spec.shape != ()


def _result(where: str, body: BranchBody, given: Any) -> Any:
    """Return the Variable of a result, or a Python number, which may adopt the dtype of the other branch's."""
    given = resolved(given)
    if given is None or type(given) in NUMBERS:
        return given
    if not isinstance(given, (Variable, Tensor, TensorArray, np.generic)):
        raise DTypeError(f"{where}: is {type(given).__name__}; a tensor is needed")
    return body.known(operand(where, body, given))


def _with_dtype(where: str, body: BranchBody, given: Any, other: Any) -> Variable:
    """Return the Variable of a result; a Python number adopts the dtype of the other branch's, if that can hold it."""
    if given is None:
        raise GraphError(f"{where}: is None; the other branch gives a tensor")
    if isinstance(given, Variable):
        return given
    dtype = np.result_type(given, other.dtype if isinstance(other, Variable) else given if other is None else other)
    if isinstance(other, Variable) and np.can_cast(np.min_scalar_type(given), other.dtype, "same_kind"):
        dtype = other.dtype
    return body.known(kept_in(where, given, dtype))  # type: ignore[no-any-return]


def cond(
    condition: Any, when_true: Callable[..., Any], when_false: Callable[..., Any], *operands: Any, level: int = 0
) -> Any:
    """Call one of two functions, by a condition; or both, each on the part of the operands that a mask gives it.

    Parameters
    ----------
    condition : Variable, bool, or array_like of bool
        A value without axes chooses one function. A mask, shape (n,) or (n, 1), has one entry per sequence of `level`,
        or per row of operands without levels: the operands are divided as by `split_by_mask`, each function is called
        with its part, even if that is empty, and the results are merged in the order of the mask.
    when_true, when_false : callable
        Functions that call operators, each called once to record it, as the body of a loop is. Both return a tensor, or
        lists, tuples and dicts of tensors, with equal dtypes, widths and numbers of levels; a Python number adopts the
        dtype of the other function's result.
    *operands : tensor, or lists, tuples and dicts of tensors
        Passed to both functions. Numbers and tensors without axes are not divided; use anything else that must not be
        divided in the functions, without making it an operand.
    level : int
        The level that a mask divides.

    Returns
    -------
    tensor, or lists, tuples and dicts of tensors

    Raises
    ------
    GraphError
        If the results of the functions differ in form, dtype, width or levels.
    DTypeError, ShapeError, LoDError, LevelError
        If the condition is not bool, or does not match the operands. An error in a function names it and the operator.

    References
    ----------
    "Design of Dynamic RNN with Beamsearch" of PaddlePaddle, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> import lodcore
    >>> x = lodcore.array([[1.0, 2.0], [], [3.0]])
    >>> lodcore.cond(x.num_rows > 2, lambda x: x * 10, lambda x: x, x)
    LoDTensor(3 sequences of lengths 0..2, float64: [[10., 20.], [], [30.]])
    >>> lodcore.cond([True, True, False], lambda x: x * 10, lambda x: -x, x)
    LoDTensor(3 sequences of lengths 0..2, float64: [[10., 20.], [], [-3.]])
    """
    for name, function in zip(NAMES, (when_true, when_false), strict=True):
        function_of(f"cond: {name}", function)
    made = _Cond(condition, level)
    with AllOrNone():
        for block, function in ((made.true_block, when_true), (made.false_block, when_false)):
            with block():
                made.output(function(*map(made.input, operands)))
        return made()[0]


class _Cond(IfElse):
    """The two blocks of `cond`, which its errors name."""

    _where = "cond"
