"""Arrays of rows that record what is computed with them: how functions of arrays become instructions for steps.

An elementwise operator has a function and a vjp rule on arrays. Called with `Traced` rows instead, both leave a list of
`Value`s: ufuncs, sums of rows, selections. Whatever cannot be recorded like this raises `Untraceable`, and the body
that it is a part of runs operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lodcore.graph.loops.ufunc_loops import has_loop
from lodcore.ops.elementwise.ufuncs import rule_of_ufunc

__all__ = ["NATIVE", "SOURCES", "Node", "Traced", "Untraceable", "Value", "Values", "root_of", "select", "traced"]

#: Ufuncs that the machine computes itself, since their results are rounded once; their names are its instructions.
NATIVE: dict[Any, str] = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.true_divide: "div",
    np.negative: "neg",
    np.absolute: "abs",
    np.fabs: "abs",
    np.sqrt: "sqrt",
    np.square: "square",
    np.positive: "move",
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.less: "less",
    np.less_equal: "less_equal",
    np.equal: "equal",
    np.not_equal: "not_equal",
}

#: What the loop of `numpy.power` computes for an exponent that is one number.
POWERS = {-1: np.reciprocal, 0.5: np.sqrt, 2: np.square}

#: Values that no instruction makes.
SOURCES = frozenset(["input", "state", "line", "number", "cotangent", "after", "draw"])

#: Numbers that an operand may be besides rows.
NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


class Untraceable(Exception):
    """Raised where a function of arrays does something that no instruction does."""


class Value:
    """Rows of numbers in a step: where they come from, or the instruction that makes them.

    Attributes
    ----------
    code : str
        An instruction, or one of SOURCES.
    inputs : tuple of Value
    width : int
        Numbers of a row.
    detail : hashable
        What else the code needs: the ufunc, the first column of a slice, the outer object, the number.
    truth : bool
        Whether the numbers are 0 and 1 and stand for bools.
    """

    __slots__ = ("code", "detail", "inputs", "truth", "width")

    def __init__(self, code: str, inputs: tuple[Value, ...], width: int, detail: Any, truth: bool) -> None:
        self.code, self.inputs, self.width, self.detail, self.truth = code, inputs, width, detail, truth

    def __repr__(self) -> str:
        return f"<{self.code} of width {self.width}>"


class Node:
    """A call with a gradient: its results, its operands, and the rule from cotangents to gradients.

    Attributes
    ----------
    out : Value
    inputs : tuple of Value
    rule : callable
        `rule(d, needs)` returns one gradient, or None, for each input.
    matrix : object or None
        The matrix of a product, which has a gradient, too.
    call : int
        The number of the operator that is called, which has its own way back instead of a rule; otherwise -1.
    """

    __slots__ = ("call", "inputs", "matrix", "out", "rule")

    def __init__(
        self,
        out: Value,
        inputs: tuple[Value, ...],
        rule: Callable[..., Sequence[Value | None]],
        matrix: Any = None,
        call: int = -1,
    ) -> None:
        self.out, self.inputs, self.rule, self.matrix, self.call = out, inputs, rule, matrix, call


class Values:
    """The values of a body in the order in which they are computed, each once.

    Parameters
    ----------
    dtype : dtype
        That of all numbers.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.nodes: dict[Value, Node] = {}
        self.inside = 0  # whether an operator that has a vjp rule is being traced
        self._known: dict[Any, Value] = {}

    def value(
        self, code: str, inputs: tuple[Value, ...] = (), width: int = 1, detail: Hashable = None, truth: bool = False
    ) -> Value:
        """Return the value of an instruction, made before or new."""
        key = code, inputs, width, detail
        found = self._known.get(key)
        if found is None:
            code, inputs = joined(code, self.summands(inputs) if code == "add" else inputs)
            found = self._known[key] = Value(code, inputs, width, detail, truth)
        return found

    def summands(self, inputs: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the three operands of a sum of a sum, if those of the inner one are there in any pass."""
        inner, start = inputs[0], 0
        if inner.code == "slice":
            inner, start = inner.inputs[0], inner.detail
        if inner.code != "add" or not all(is_there(x) for x in inner.inputs):
            return inputs
        return *[self.columns(x, start, inputs[0].width) for x in inner.inputs], inputs[1]

    @property
    def lines(self) -> set[Any]:
        """The outer objects of one row."""
        return {v.detail for v in self._known.values() if v.code == "line"}

    def number(self, x: Any, width: int = 1) -> Value:
        """Return the value of a number: a row of equal numbers."""
        try:
            with np.errstate(all="raise"):
                number = float(self.dtype.type(x))
        except FloatingPointError as error:  # each run tells of it, so each run has to convert it
            raise Untraceable(f"{x}, which no {self.dtype} is") from error
        return self.value("number", (), width, (number, np.signbit(number).item()))

    def widened(self, x: Value, width: int) -> Value:
        """Return rows of one number as rows of several equal ones."""
        if x.width == width:
            return x
        if x.width != 1:
            raise Untraceable(f"rows of {x.width} and {width} numbers")
        if x.code == "number":
            return self.value("number", (), width, x.detail)
        made = self.value("expand", (x,), width, None, x.truth)
        self.node(made, (x,), lambda d, needs: (self.narrowed(d, 1),))
        return made

    def narrowed(self, x: Value, width: int) -> Value:
        """Return the gradient of rows of one number from that of rows of several equal ones."""
        return x if x.width == width else self.value("sum", (x,), 1)

    def columns(self, x: Value, start: int, width: int) -> Value:
        """Return columns of rows."""
        if (start, width) == (0, x.width):
            return x
        if x.code == "slice":
            return self.columns(x.inputs[0], x.detail + start, width)
        return self.value("slice", (x,), width, start, x.truth)

    def node(
        self, out: Value, inputs: tuple[Value, ...], rule: Callable[..., Sequence[Value | None]], matrix: Any = None
    ) -> None:
        """Record the vjp rule of a node, unless an operator around it has its own."""
        if not self.inside and not out.truth and out not in self.nodes:
            self.nodes[out] = Node(out, inputs, rule, matrix)

    def ufunc(self, ufunc: np.ufunc, *operands: Value) -> Value:
        """Return the value of a ufunc."""
        if ufunc is np.isnan:
            return self.ufunc(np.not_equal, *operands, *operands)
        width = max(x.width for x in operands)
        given = tuple([self.widened(x, width) for x in operands])
        truth = ufunc in TRUTHS
        if ufunc in LOGICAL:
            return self._logical(ufunc, given, width)
        if not truth and all(x.code == "number" and not x.truth for x in given):
            with np.errstate(all="ignore"):
                found = ufunc(*[self.dtype.type(x.detail[0]) for x in given])
            if found.dtype == self.dtype:
                return self.number(found, width)
        if not truth and all(x.truth or x.code == "number" for x in given):
            raise Untraceable(f"{ufunc.__name__} of bools, which has another dtype")
        loop, read = ufunc, given
        if ufunc is np.power and given[1].code == "number" and given[1].detail[0] in POWERS:
            loop, read = POWERS[given[1].detail[0]], given[:1]
        if loop in NATIVE:
            code = NATIVE[loop]
            made = given[0] if code == "move" else self.value(code, read, width, None, truth)
        else:
            if not has_loop(loop, self.dtype):
                raise Untraceable(f"{loop.__name__} has no loop for {self.dtype}")
            made = self.value("ufunc", read, width, loop)
        if not self.inside and made is not given[0]:
            self.node(made, given, self._rule_of_ufunc(ufunc, given, made))
        return made

    def elementwise(self, function: Any, operands: Sequence[Any], rule: Any, **rest: Any) -> Value:
        """Trace an elementwise operator: its function of arrays, and its vjp rule."""
        raise NotImplementedError

    def by_instruction(self, code: str, x: Any, rule: Any) -> Value:
        """Return what an instruction computes of each number of rows, with the gradient of a vjp rule."""

        def function(rows: Traced) -> Traced:
            if rows.value.truth:
                raise Untraceable(f"{code} of bools")
            return Traced(self, self.value(code, (rows.value,), rows.value.width))

        return self.elementwise(function, [x], rule)

    def _logical(self, ufunc: np.ufunc, given: tuple[Value, ...], width: int) -> Value:
        if not all(x.truth for x in given):
            raise Untraceable(f"{ufunc.__name__} of numbers")
        if ufunc is np.logical_not or ufunc is np.invert:
            return self.value("equal", (given[0], self.number(0, width)), width, None, True)
        code = "mul" if LOGICAL[ufunc] else "not_equal"
        made = given if code == "mul" else (self.value("add", given, width), self.number(0, width))
        return self.value(code, made, width, None, True)

    def _rule_of_ufunc(self, ufunc: np.ufunc, given: tuple[Value, ...], out: Value) -> Callable[..., Any]:
        def rule(d: Value, needs: Sequence[bool]) -> Sequence[Value | None]:
            return self.back(rule_of_ufunc(ufunc), given, out, d, needs, {})

        return rule

    def back(
        self, rule: Any, given: tuple[Value, ...], out: Value, d: Value, needs: Sequence[bool], rest: dict[str, Any]
    ) -> Sequence[Value | None]:
        """Trace the vjp rule of an elementwise operator; return the gradients of its operands."""
        if rule is None:
            raise Untraceable("there is no vjp rule")
        self.inside += 1
        try:
            read = [self._read(rule, name, given, out, needs, rest) for name in rule.names]
            found = traced(rule.function, Traced(self, d), *read)
        finally:
            self.inside -= 1
        several = found if isinstance(found, tuple) else (found,)
        made: list[Value | None] = []
        for x, gradient, wanted in zip(given, several, needs, strict=True):
            if gradient is None or not wanted:
                made.append(None)
                continue
            made.append(self.narrowed(self.widened(self.taken(gradient), max(x.width, out.width)), x.width))
        return made

    def _read(
        self, rule: Any, name: str, given: tuple[Value, ...], out: Value, needs: Sequence[bool], rest: dict[str, Any]
    ) -> Any:
        if name == "out":
            return Traced(self, out)
        if name == "needs":
            return rule.needs(needs)
        if name in rule.operands:
            return Traced(self, given[rule.operands.index(name)])
        if name in rest:
            return rest[name]
        raise Untraceable(f"the vjp rule reads {name}")

    def taken(self, x: Any) -> Value:
        """Return the value of an operand of a function: rows, or a number."""
        if isinstance(x, Traced):
            if x.values is not self:
                raise Untraceable("rows of another body")
            return x.value
        if type(x) is np.ndarray and x.ndim == 0:
            x = x[()]
        if not isinstance(x, NUMBERS):
            raise Untraceable(f"a {type(x).__name__} among rows")
        if isinstance(x, np.generic) and np.result_type(self.dtype, x) != self.dtype:
            raise Untraceable(f"{x.dtype} among {self.dtype}")
        return self.number(x)


def traced(function: Callable[..., Any], *args: Any, **rest: Any) -> Any:
    """Call a function of arrays with rows that record; whatever it raises, it cannot be traced.

    What is wrong with a call is raised where the operators run one by one. A lack of memory is not a property of the
    function: the next call could trace it, with other last bits.
    """
    try:
        return function(*args, **rest)
    except (Untraceable, RecursionError, MemoryError):
        raise
    except Exception as error:
        raise Untraceable(f"{type(error).__name__}: {error}") from error


def root_of(x: Value) -> Value:
    """Return the value that a slice is a part of."""
    return root_of(x.inputs[0]) if x.code == "slice" else x


def is_there(x: Value) -> bool:
    """Return whether a value is a row of an array before a step, or a product, which has a row of one, or in one."""
    whole = root_of(x)
    return whole.code in SOURCES or whole.code == "product"


def joined(code: str, inputs: tuple[Value, ...]) -> tuple[str, tuple[Value, ...]]:
    """Return one instruction for several of an activation, with the same operations in the same order."""
    if len(inputs) == 3 and code == "add":
        return "add_three", inputs
    if code == "add" and inputs[1].code == "neg":
        return "sub", (inputs[0], *inputs[1].inputs)
    if code == "add" and inputs[0].code == "neg":
        return "sub", (inputs[1], *inputs[0].inputs)
    if code == "mul":
        slope, d = inputs
        if _is(slope, "sub") and _is_number(slope.inputs[0], 1) and _is(slope.inputs[1], "mul"):
            one, other = slope.inputs[1].inputs
            if one is other:
                return "tanh_back", (d, one)
        if _is(slope, "mul") and _is(slope.inputs[0], "sub"):
            rest, y = slope.inputs
            if _is_number(rest.inputs[0], 1) and rest.inputs[1] is y:
                return "logistic_back", (d, y)
    return code, inputs


def _is(value: Value, code: str) -> bool:
    return value.code == code


def _is_number(value: Value, number: float) -> bool:
    return value.code == "number" and value.detail[0] == number


#: Ufuncs whose results are bools, and those of bools: whether all operands must hold.
TRUTHS = frozenset([np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal])
LOGICAL = {
    np.logical_and: True,
    np.bitwise_and: True,
    np.logical_or: False,
    np.bitwise_or: False,
    np.logical_not: False,
    np.invert: False,
}


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """Rows of numbers that record what is computed with them.

    Parameters
    ----------
    values : Values
    value : Value
    """

    __slots__ = ("value", "values")

    ndim = 2

    def __init__(self, values: Values, value: Value) -> None:
        self.values, self.value = values, value

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the numbers; bool for the results of comparisons."""
        return np.dtype(bool) if self.value.truth else self.values.dtype

    def _made(self, value: Value) -> Traced:
        return Traced(self.values, value)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        """Record a ufunc, or the sum of rows."""
        if rest or method != "__call__":
            raise Untraceable(f"{ufunc.__name__}.{method} with {', '.join(rest) or 'that'}")
        made = self.values.ufunc(ufunc, *[self.values.taken(x) for x in inputs])
        if out is None:
            return self._made(made)
        (target,) = out
        if not isinstance(target, Traced) or target.value.width != made.width:
            raise Untraceable("a result in other rows")
        target.value = made
        return target

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        """Record `where` and sums, means and largest numbers of rows."""
        if function is np.where and len(args) == 3 and not kwargs:
            return self._made(select(self.values, *[self.values.taken(x) for x in args]))
        if function is np.iscomplexobj:
            return False
        name = REDUCTIONS.get(function)
        if name is None:
            raise Untraceable(f"{function.__name__} of rows")
        return getattr(args[0], name)(*args[1:], **kwargs)

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        """Return the rows with the dtype of the others; bools are 0 and 1."""
        if np.dtype(dtype) != self.values.dtype:
            raise Untraceable(f"{dtype} among {self.values.dtype}")
        value = self.value
        if not value.truth:
            return self
        return self._made(self.values.value("add", (value, self.values.number(0, value.width)), value.width))

    def _reduced(self, code: str, axis: Any, keepdims: Any) -> Value:
        if axis not in (-1, 1) or not keepdims:
            raise Untraceable(f"{code} along axis {axis}, keepdims={keepdims}")
        return self.value if self.value.width == 1 else self.values.value(code, (self.value,), 1)

    def sum(self, axis: Any = None, keepdims: Any = False) -> Traced:
        """Add the numbers of each row."""
        x, made = self.value, self._reduced("sum", axis, keepdims)
        if made is not x:
            self.values.node(made, (x,), lambda d, needs: (self.values.widened(d, x.width),))
        return self._made(made)

    def mean(self, axis: Any = None, keepdims: Any = False) -> Traced:
        """Compute the mean of each row."""
        made: Traced = self.sum(axis, keepdims) / self.value.width
        return made

    def max(self, axis: Any = None, keepdims: Any = False) -> Traced:
        """Find the largest number of each row, in a function that has a vjp rule."""
        if not self.values.inside:
            raise Untraceable("the gradient of a largest number")
        return self._made(self._reduced("largest", axis, keepdims))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Untraceable("an array of rows")

    def __bool__(self) -> bool:
        raise Untraceable("a condition")

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"{name} of rows")


REDUCTIONS = {np.sum: "sum", np.mean: "mean", np.max: "max", np.amax: "max"}


def select(values: Values, condition: Value, x: Value, y: Value) -> Value:
    """Return the value of `where`."""
    width = max(condition.width, x.width, y.width)
    given = tuple([values.widened(one, width) for one in (condition, x, y)])
    made = values.value("select", given, width)
    zero = values.number(0, width)

    def rule(d: Value, needs: Sequence[bool]) -> Sequence[Value | None]:
        return None, select(values, given[0], d, zero), select(values, given[0], zero, d)

    values.node(made, given, rule)
    return made
