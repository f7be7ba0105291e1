"""A recorded body of steps as values: what instructions compute, and what goes back for gradients.

`Lowered` traces the operators of a body. Rows (inputs, states, and what depends on them) become `Value`s; operators on
outer objects alone are the same in every step, and stay apart, as the `prelude`, which runs once. An operator takes
part by `define_steps`: a rule that says what it computes on rows in terms of the methods of `Lowered`. Elementwise
operators need none, since their functions of arrays are traced.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lodcore.base.dtypes import native_dtype
from lodcore.graph.block import Operator
from lodcore.graph.loops.called_operators import CalledOp, may_be_called
from lodcore.graph.loops.drawn_numbers import Draw
from lodcore.graph.loops.traced import Node, Traced, Untraceable, Value, Values, select, traced
from lodcore.graph.loops.whole_products import Cut, cut_of, slices_of_wholes
from lodcore.graph.random_states import generators_of
from lodcore.graph.variable import Variable
from lodcore.operators.vjp_rules import VJPRule
from lodcore.tensors.tensor import Spec

__all__ = ["Lowered", "Outer", "Pair"]

#: Instructions whose results are computed again for gradients, since that takes less time than keeping them.
CHEAP = frozenset(["add", "sub", "mul", "neg", "abs", "square", "slice", "join", "expand", "select", "greater"])
CHEAP |= {"greater_equal", "less", "less_equal", "equal", "not_equal", "move", "add_three"}


SEVERAL = 64  # columns that are taken one by one
MOST_CALLED = 2  # how many times as many operators must run on the machine as are called in each step, and one more


class OfPrelude:
    """What stands for a result of the prelude."""

    __slots__ = ()


class Outer(NamedTuple):
    """An operand that all steps share: an outer object, or a value computed from outer objects."""

    variable: Any
    spec: Spec


class Pair(NamedTuple):
    """A product of rows by a shared matrix, for the gradient of the matrix: its left operand, and its cotangent."""

    matrix: Any
    left: Value
    d: Value


class Lowered(Values):
    """The values of a body.

    Parameters
    ----------
    ops : list of Operator
    inputs, states : list of Variable
        The rows that a step reads, and the states before it.
    outputs, following : list of Variable or number
        The results of a step, and the states after it.
    dtype : dtype
    together : frozenset of int
        The slices, by their numbers in the prelude, of arrays by which an input is multiplied at once.

    Attributes
    ----------
    prelude : list of Operator
        Those that are the same in every step.
    apart : dict
        What stands for the results of these, by Variable: nothing that is made of the body later refers to the
        Variables themselves, so that other references to them can be detected.
    outputs, following : list of Value
    axes : list of int
        The number of axes of each output.
    sizes : dict
        The number of entries of each matrix by which rows are multiplied.
    calls : list of CalledOp
        The operators that are called in each step.
    draws : list of Draw
        The random numbers that a step draws, in this order.
    parts_of_products : set of Value
        The products by slices that are columns of one by the whole array.

    Raises
    ------
    Untraceable
        If an operator cannot take part.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        inputs: Sequence[Variable],
        states: Sequence[Variable],
        outputs: Sequence[Any],
        following: Sequence[Any],
        dtype: np.dtype[Any],
        together: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(dtype)
        self._together = together
        self._cuts: dict[Any, Cut] = {}
        self.parts_of_products: set[Value] = set()
        self.prelude: list[Operator] = []
        self._rows: dict[Any, Value] = {}
        self.sizes: dict[Any, int] = {}
        self.draws: list[Draw] = []
        self.calls: list[CalledOp] = []
        self.apart: dict[Any, OfPrelude] = {}
        self._rules: dict[Value, Any] = {}
        self.sources = [self._source("input", j, v) for j, v in enumerate(inputs)]
        self.states = [self._source("state", j, v) for j, v in enumerate(states)]
        for op in ops:
            self._add(op)
        if MOST_CALLED * len(self.calls) > len(ops) - len(self.prelude):
            raise Untraceable(f"{self.calls[0].op.name} takes no part")
        self.outputs = [self._result(v) for v in outputs]
        self.axes = [len(v.spec.shape) if isinstance(v, Variable) else 0 for v in outputs]
        self.following = [self._result(v, one.width) for v, one in zip(following, self.states, strict=True)]

    def find_together(self) -> frozenset[int]:
        """Return the slices of arrays by which an input can be multiplied at once."""
        return slices_of_wholes(self._cuts, self.nodes.values())

    def in_rows(self) -> set[Any]:
        """Return the outer objects that instructions read."""
        return {*self.sizes, *self.lines}

    def handed_over(self) -> set[Any]:
        """Return the outer objects that operators are called with in each step."""
        return {one for op in self.calls for one in op.outer.values()}

    def value_of(self, variable: Any) -> Value | None:
        """Return the value of a Variable, None if it is the same in every step."""
        return self._rows.get(variable)

    def _source(self, code: str, number: int, variable: Variable) -> Value:
        made = self.value(code, (), self._width(variable.spec), number)
        self._rows[variable] = made
        return made

    def _width(self, spec: Spec) -> int:
        """Return the numbers of a row; raise if the rows are not vectors or numbers of the dtype."""
        shape = spec.shape
        if spec.kind is not np.ndarray or spec.num_levels or not 1 <= len(shape) <= 2 or not self._fits(spec):
            raise Untraceable(f"rows of {spec}")
        width = 1 if len(shape) == 1 else shape[1]
        if not width:
            raise Untraceable("rows of unknown width, or without columns")
        return width

    def _fits(self, spec: Spec) -> bool:
        """Return whether numbers have the dtype, in any byte order."""
        return isinstance(spec.dtype, np.dtype) and native_dtype(spec.dtype) == self.dtype

    def _result(self, given: Any, width: int | None = None) -> Value:
        """Return the value of a result of the body."""
        if given in self._rows if isinstance(given, Variable) else False:
            made: Value = self._rows[given]
        else:
            made = self.taken(self.operand(given, 2))
        if made.truth:
            raise Untraceable("a result of bools")
        return made if width is None else self.widened(made, width)

    # -- operators -----------------------------------------------------------------------------------------------------

    def _add(self, op: Any) -> None:
        if not isinstance(op, Operator) or op.op.writes is not None or op.op.changes:
            raise Untraceable(f"{op.name}")
        if not any(v in self._rows for v in op.inputs):
            if any(not isinstance(v.spec, Spec) or v.spec.kind is not np.ndarray for v in op.outputs):
                raise Untraceable(f"{op.name} of what all steps share")
            if generators_of([op]):
                raise Untraceable(f"{op.name} draws anew in every step")
            self.apart.update({v: OfPrelude() for v in op.outputs})
            cut = None if any(v in self.apart for v in op.inputs) else cut_of(op, len(self.prelude))
            if cut is not None:
                self._cuts[self.apart[op.outputs[0]]] = cut
            self.prelude.append(op)
            return
        try:
            several = self._computed(op)
        except Untraceable:
            rows = list(dict.fromkeys([v for v in op.inputs if v in self._rows]))
            if not may_be_called(op, rows):
                raise
            several = self._called(op, rows)
        self._rows.update(zip(op.outputs, several, strict=True))

    def _computed(self, op: Operator) -> list[Any]:
        """Return the result of an operator's rule for its arguments."""
        if op.op.in_steps is None:
            raise Untraceable(f"{op.name} takes no part")
        arguments = {name: self._argument(x) if name in op.op.roles else x for name, x in op.arguments.items()}
        found = op.op.in_steps(self, **arguments)
        several = found if isinstance(found, list) else [found]
        if len(several) != len(op.outputs):
            raise Untraceable(f"{op.name}: {len(op.outputs)} results")
        for variable, one in zip(op.outputs, several, strict=True):
            spec = variable.spec
            if not isinstance(one, Value) or (not one.truth and self._width(spec) != one.width):
                raise Untraceable(f"{op.name}: rows of {spec}")
        return several

    def _called(self, op: Operator, rows: list[Variable]) -> list[Value]:
        """Return the results of an operator that is called in each step."""
        values = tuple([self._rows[v] for v in rows])
        outer = {v: self.apart.get(v, v) for v in op.inputs if v not in self._rows}
        made = CalledOp(op, rows, [x.width for x in values], [x.truth for x in values], outer)
        widths = [self._width(v.spec) for v in op.outputs]
        given = values[0] if len(values) == 1 else self.value("join", values, sum(made.widths))
        out = self.value("call", (given,), sum(widths), len(self.calls))
        self.nodes[out] = Node(out, values, lambda d, needs: (), None, len(self.calls))
        self.calls.append(made)
        return [self._part(out, sum(widths[:j]), width) for j, width in enumerate(widths)]

    def _argument(self, given: Any) -> Any:
        """Return the rows, the outer object, or the constant that an argument is; for a list those of its entries."""
        if type(given) is list:
            return [self._argument(x) for x in given]
        if not isinstance(given, Variable):
            return given
        if given in self._rows:
            return Rows(self, self._rows[given], len(given.spec.shape))
        return Outer(self.apart.get(given, given), given.spec)

    def operand(self, given: Any, axes: int = 2) -> Any:
        """Return an argument as an operand of functions of arrays: rows, an outer object of one row, or a number."""
        if isinstance(given, Variable):
            given = self._argument(given)
        if isinstance(given, Rows):
            if given.axes != axes:
                raise Untraceable(f"rows of {given.axes} and {axes} axes")
            return given
        if not isinstance(given, Outer):
            return given
        spec = given.spec
        if spec.kind is not np.ndarray or spec.num_levels or not self._fits(spec) or None in spec.shape:
            raise Untraceable(f"{spec} among rows")
        lengths = [length or 0 for length in spec.shape]
        if len(lengths) > axes or math.prod(lengths[:-1]) != 1 or (axes == 1 and math.prod(lengths) != 1):
            raise Untraceable(f"{spec.shape} among rows")
        width = spec.shape[-1] if spec.shape else 1
        if not width:
            raise Untraceable("no columns")
        return Traced(self, self.value("line", (), width, given.variable))

    def elementwise(self, function: Any, operands: Sequence[Any], rule: VJPRule | None, **rest: Any) -> Value:
        """Trace an elementwise operator: its function of arrays, and later its vjp rule, which may read the rest."""
        axes = max([x.axes for x in operands if isinstance(x, Rows)])
        given = [self.operand(x, axes) for x in operands]
        values = tuple([self.taken(x) for x in given])
        self.inside += 1
        try:
            out = self.taken(traced(function, *given))
        finally:
            self.inside -= 1
        if out.truth:
            return out
        if rule is None:
            raise Untraceable("there is no vjp rule")
        key = rule.function, values, tuple(rest.items())
        if self._rules.setdefault(out, key) != key or out in values:  # another rule for the same numbers
            out = self.value("move", (out,), out.width, key)
        self.node(out, values, lambda d, needs: self.back(rule, values, out, d, needs, rest))
        return out

    def vectors(self, x: Any) -> Rows:
        """Return an argument that must be rows of vectors of the dtype."""
        if not isinstance(x, Rows) or x.axes != 2 or x.value.truth:
            raise Untraceable("other than rows of vectors")
        return x

    def by_function(self, function: Any, x: Any, rule: VJPRule, **rest: Any) -> Value:
        """Trace a function of matrices whose result has the shape of its rows, and later the vjp rule."""
        return self.elementwise(lambda rows: function(rows, **rest), [self.vectors(x)], rule, **rest)

    def reduced(self, x: Any, name: str, axes: Any) -> Value:
        """Return the sum, the mean, the largest or the smallest number of each row."""
        if axes not in ((1,), (-1,)) or name not in ("sum", "mean", "max", "min"):
            raise Untraceable(f"{name} over {axes}")
        rows = self.vectors(x)
        if name in ("max", "min"):
            return self._extreme(rows.value, name == "min")
        made: Value = (rows.sum(1, True) if name == "sum" else rows.mean(1, True)).value
        return made

    def _extreme(self, x: Value, is_min: bool) -> Value:
        """Return the largest or smallest number of each row; the first of equal ones has the gradient."""
        if x.width == 1:
            return x
        given = self.value("neg", (x,), x.width) if is_min else x
        largest = self.value("largest", (given,), 1)
        out = self.value("neg", (largest,), 1) if is_min else largest

        def rule(d: Value, needs: Sequence[bool]) -> Sequence[Value | None]:
            place = self.value("first", (given, largest), x.width, None, True)
            return (select(self, place, self.widened(d, x.width), self.number(0, x.width)),)

        self.node(out, (x,), rule)
        return out

    def like(self, x: Any, number: Any) -> Value:
        """Return rows of one number, as wide as others."""
        if not isinstance(x, Rows) or np.ndim(number):
            raise Untraceable("other than rows of one number")
        return self.value("move", (self.number(number, x.value.width),), x.value.width)

    def cut(self, x: Any) -> Value:
        """Return rows through which no gradient passes."""
        if not isinstance(x, Rows):
            raise Untraceable("other than rows")
        return self.value("move", (x.value,), x.value.width, "cut", x.value.truth)

    def dropped(self, x: Any, rate: float, generator: Any) -> Value:
        """Return rows with numbers set to zero where a random number is below the rate, and the others scaled."""
        if not isinstance(x, Rows) or x.value.truth:
            raise Untraceable("other than rows of numbers")
        value, width = x.value, x.value.width
        draw = self.value("draw", (), width, len(self.draws))
        self.draws.append(Draw(generator, width))
        mask = self.value("greater_equal", (draw, self.number(np.float32(rate), width)), width, None, True)

        def masked(rows: Value) -> Value:
            made = self.value("select", (mask, rows, self.number(0, width)), width)
            return made if rate == 1 else self.value("mul", (made, self.number(1 / (1 - rate), width)), width)

        out = masked(value)
        self.node(out, (value,), lambda d, needs: (masked(d),))
        return out

    def product(self, x: Any, matrix: Any) -> Value:
        """Return the product of rows by a matrix that all steps share."""
        if not isinstance(matrix, Outer):
            raise Untraceable("a product of rows by rows")
        cut = self._cuts.get(matrix.variable)
        if cut is not None and cut.number in self._together:
            part = self._part(self.product(x, Outer(cut.whole, cut.whole.spec)), cut.start, cut.stop - cut.start)
            self.parts_of_products.add(part)
            return part
        spec, left = matrix.spec, self.vectors(x).value
        if spec.kind is not np.ndarray or len(spec.shape) != 2 or not self._fits(spec) or spec.num_levels:
            raise Untraceable(f"a product by {spec}")
        if spec.shape[0] != left.width or not spec.shape[1]:
            raise Untraceable(f"a product by a matrix of shape {spec.shape}")
        self.sizes[matrix.variable] = spec.shape[0] * spec.shape[1]
        out = self.value("product", (left,), spec.shape[1], (matrix.variable, False))
        back = lambda d, needs: (self.value("product", (d,), left.width, (matrix.variable, True)),)  # noqa: E731
        self.node(out, (left,), back, matrix.variable)
        return out

    def plus(self, x: Value, line: Any) -> Value:
        """Return the sum of rows and an outer object of one row."""
        return self.ufunc(np.add, x, self.taken(self.operand(line)))

    def columns_of(self, x: Any, keys: Any) -> Value:
        """Return the columns that an index chooses: all rows, and neighbouring columns."""
        plain = isinstance(keys, list) and len(keys) == 2 and isinstance(keys[0], slice) and keys[0] == slice(None)
        if not plain or not isinstance(x, Rows):
            raise Untraceable("other rows, or other axes")
        width, key = x.value.width, keys[1]
        if x.axes == 1 and key is None:
            return x.value
        self.vectors(x)
        if type(key) is int and -width <= key < width:
            start, stop = key % width, key % width + 1
        elif isinstance(key, slice):
            start, stop, step = key.indices(width)
            several = range(start, stop, step)
            if step != 1 and 0 < len(several) <= SEVERAL:
                return self.joined([Rows(self, self._part(x.value, at, 1), 2) for at in several], 1)
            if step != 1 or stop <= start:
                raise Untraceable("columns that are not neighbours")
        else:
            raise Untraceable("columns by an array")
        return self._part(x.value, start, stop - start)

    def parts(self, x: Any, bounds: Sequence[int]) -> list[Value]:
        """Return the columns between each bound and the next one."""
        value = self.vectors(x).value
        pairs = list(itertools.pairwise(bounds))
        if not all(0 <= start < stop <= value.width for start, stop in pairs):
            raise Untraceable("parts without columns")
        return [self._part(value, start, stop - start) for start, stop in pairs]

    def reshaped(self, x: Any, shape: Any) -> Value:
        """Return rows as rows of as many numbers, of one axis or two."""
        if not isinstance(x, Rows) or x.value.truth or not isinstance(shape, list) or not 1 <= len(shape) <= 2:
            raise Untraceable("rows of several axes")
        if type(shape[0]) is not int or shape[0] != -1 or shape[1:] not in ([], [x.value.width]):
            raise Untraceable(f"rows of shape {shape}")
        return x.value

    def sums_of_products(self, x: Any, y: Any) -> Value:
        """Return the sum of the products of the numbers of each row."""
        products = self.ufunc(np.multiply, self.vectors(x).value, self.vectors(y).value)
        made: Value = Traced(self, products).sum(1, True).value
        return made

    def _part(self, value: Value, start: int, width: int) -> Value:
        made = self.columns(value, start, width)
        if made is not value:
            self.node(made, (value,), lambda d, needs: (self.value("partial", (d,), value.width, start),))
        return made

    def joined(self, xs: Sequence[Any], axis: Any) -> Value:
        """Return rows side by side."""
        if axis not in (1, -1) or not all(isinstance(x, Rows) and x.axes == 2 for x in xs):
            raise Untraceable("other than rows side by side")
        values: tuple[Value, ...] = tuple([x.value for x in xs])
        if len(values) == 1:
            return values[0]
        bounds = [sum(x.width for x in values[:j]) for j in range(len(values) + 1)]
        out = self.value("join", values, bounds[-1])
        parts = list(zip(bounds, values, strict=False))
        self.node(out, values, lambda d, needs: [self.columns(d, at, x.width) for at, x in parts])
        return out


class Rows(Traced):
    """The rows of a Variable, with the number of axes that it has."""

    __slots__ = ("axes",)

    def __init__(self, values: Lowered, value: Value, axes: int) -> None:
        super().__init__(values, value)
        self.axes = axes
