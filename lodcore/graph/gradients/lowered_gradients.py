"""The gradients of a lowered body: the values that go back, and which values of the forward pass they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lodcore.graph.loops.lowered import CHEAP, Lowered, Pair
from lodcore.graph.loops.traced import SOURCES, Node, Value

__all__ = ["LoweredGradients", "ProductApart"]


class ProductApart(NamedTuple):
    """A product by a transposed matrix that is a part of the gradient of an input."""

    number: int
    d: Value
    matrix: Any


class LoweredGradients:
    """The backward pass through one step, as values.

    Parameters
    ----------
    body : Lowered
    inputs, states : sequence of bool
        Whether a gradient is wanted, of each input and of each first state.
    outer : set
        The outer objects, and results of the prelude, of which gradients are wanted.
    cotangents : sequence of bool
        Whether each output has a cotangent.

    Attributes
    ----------
    states : dict
        The gradient of each state that needs one, by its number.
    inputs, lines : dict
        The gradients of inputs by number, and of lines by their object: one row for each row.
    rooms : list of Value
        The values that are needed for all rows at once.
    parts : dict
        Which of them are columns of others: these, and the first column.
    pairs : list of Pair
        The products whose matrix has a gradient.
    calls : list of Value
        The backward passes of operators that are called in each step.
    apart : list of ProductApart
        The products that give gradients of inputs, which are computed for all rows at once.
    """

    def __init__(
        self, body: Lowered, inputs: Sequence[bool], states: Sequence[bool], outer: set[Any], cotangents: Sequence[bool]
    ) -> None:
        self.body, self.pairs, self.apart, self.calls = body, list[Pair](), list[ProductApart](), list[Value]()
        self._wanted_outer = outer
        self._needed = self._find_needed(inputs, states)
        self._found: dict[Value, list[tuple[Value, bool]]] = {}
        body.inside += 1
        try:
            self._run(cotangents)
            needed = [(j, v) for j, v in enumerate(body.states) if v in self._needed]
            self.states = {j: self._total(v) or body.number(0, v.width) for j, v in needed}
            self.inputs = {j: d for j, v in enumerate(body.sources) if v in self._needed and (d := self._total(v))}
            self.lines = {v.detail: d for v in self._lines() if (d := self._total(v))}
        finally:
            body.inside -= 1
        found = [*[pair.d for pair in self.pairs], *[one.d for one in self.apart], *self.lines.values()]
        self.rooms = list(dict.fromkeys(found))
        self.parts = self._find_parts()

    def _find_parts(self) -> dict[Value, tuple[Value, int]]:
        """Return which of the values that are needed for all rows are columns of others."""
        found: dict[Value, tuple[Value, int]] = {}
        for whole in self.rooms:
            column = 0
            for part in whole.inputs if whole.code == "join" else ():
                if part in self.rooms:
                    found.setdefault(part, (whole, column))
                column += part.width
        for part in self.rooms:
            if part.code == "slice" and part.inputs[0] in self.rooms:
                found.setdefault(part, (part.inputs[0], part.detail))
        return found

    def _lines(self) -> list[Value]:
        return [v for v in self._needed if v.code == "line"]

    def _find_needed(self, inputs: Sequence[bool], states: Sequence[bool]) -> set[Value]:
        """Return the values of the forward pass that need a gradient."""
        body = self.body
        needed = {v for v, wanted in zip(body.sources, inputs, strict=True) if wanted}
        needed |= {v for v, wanted in zip(body.states, states, strict=True) if wanted}
        for node in body.nodes.values():
            needed |= {v for v in node.inputs if v.code == "line" and v.detail in self._wanted_outer}
        while True:
            for node in body.nodes.values():
                if node.matrix in self._wanted_outer or not needed.isdisjoint(node.inputs) or self._outer_of(node):
                    needed.add(node.out)
            more = {v for v, out in zip(body.states, body.following, strict=True) if out in needed} - needed
            if not more:
                return needed
            needed |= more

    def _run(self, cotangents: Sequence[bool]) -> None:
        body = self.body
        for j, v in enumerate(body.outputs):
            if cotangents[j]:
                self._add(v, body.value("cotangent", (), v.width, j))
        for j, v in enumerate(body.states):
            if v in self._needed:
                self._add(body.following[j], body.value("after", (), v.width, j))
        for node in reversed(body.nodes.values()):
            if node.out not in self._needed:
                continue
            d = self._total(node.out)
            if d is None:
                continue
            if node.matrix in self._wanted_outer:
                self.pairs.append(Pair(node.matrix, node.inputs[0], d))
            needs = [x in self._needed for x in node.inputs]
            if node.call >= 0:
                self._through_call(node, d, tuple(needs))
            elif any(needs):
                for x, gradient in zip(node.inputs, node.rule(d, needs), strict=True):
                    if x in self._needed and gradient is not None:
                        self._add(x, gradient, node.matrix is not None)

    def _outer_of(self, node: Node) -> tuple[Any, ...]:
        """Return the outer operands of a called operator of which gradients are wanted."""
        some = self.body.calls[node.call].outer.values() if node.call >= 0 else ()
        return tuple([one for one in some if one in self._wanted_outer])

    def _through_call(self, node: Node, d: Value, needs: tuple[bool, ...]) -> None:
        """Let a called operator make the gradients of its operands."""
        body, outer = self.body, self._outer_of(node)
        width = sum([x.width for x, needed in zip(node.inputs, needs, strict=True) if needed])
        made = body.value("call", (d,), max(width, 1), ("back", node.call, needs, outer))
        self.calls.append(made)
        start = 0
        for x, needed in zip(node.inputs, needs, strict=True):
            if needed:
                self._add(x, body.columns(made, start, x.width))
                start += x.width

    def _add(self, value: Value, gradient: Value, is_product: bool = False) -> None:
        if is_product and value.code == "input":
            self.apart.append(ProductApart(value.detail, gradient.inputs[0], gradient.detail[0]))
        elif value in self._needed:
            self._found.setdefault(value, []).append((gradient, is_product))

    def _total(self, value: Value) -> Value | None:
        """Return the sum of the gradients of a value: products are added last, into the sum of the others."""
        found = self._found.pop(value, [])
        total: Value | None = None
        whole = [one for one, is_product in found if one.code != "partial" and not is_product]
        for one in whole + self._side_by_side(value, [one for one, _ in found if one.code == "partial"]):
            total = one if total is None else self.body.value("add", (total, one), value.width)
        for one, is_product in found:
            if is_product:
                inputs = one.inputs if total is None else (*one.inputs, total)
                total = self.body.value("product", inputs, value.width, one.detail)
        return total

    def _side_by_side(self, value: Value, parts: list[Value]) -> list[Value]:
        """Return gradients of columns as gradients of whole rows: disjoint ones side by side, others one by one."""
        body, rows = self.body, []
        while parts:
            taken: list[Value] = []
            for one in parts:
                start, stop = one.detail, one.detail + one.inputs[0].width
                if all(stop <= x.detail or x.detail + x.inputs[0].width <= start for x in taken):
                    taken.append(one)
            parts = [one for one in parts if one not in taken]
            pieces: list[Value] = []
            end = 0
            for one in sorted(taken, key=lambda x: x.detail):
                if one.detail > end:
                    pieces.append(body.number(0, one.detail - end))
                pieces.append(one.inputs[0])
                end = one.detail + one.inputs[0].width
            if end < value.width:
                pieces.append(body.number(0, value.width - end))
            rows.append(pieces[0] if len(pieces) == 1 else body.value("join", tuple(pieces), value.width))
        return rows

    # -- what it needs of the forward pass -----------------------------------------------------------------------------

    def roots(self) -> list[Value]:
        """List the values that must be computed."""
        found = [*self.states.values(), *self.inputs.values(), *self.lines.values()]
        return found + [pair.d for pair in self.pairs] + [one.d for one in self.apart] + self.calls

    def kept(self, forward: set[Value], free: Iterable[Value]) -> set[Value]:
        """Return the values of the forward pass that must be kept, besides inputs, lines and numbers.

        Parameters
        ----------
        forward : set of Value
            All that the forward pass computes.
        free : iterable of Value
            Those that are kept anyway.
        """
        read: list[Value] = []
        seen: set[Value] = set()
        todo = self.roots()
        while todo:
            v = todo.pop()
            if v in seen:
                continue
            seen.add(v)
            if v in forward or v.code in SOURCES:
                read.append(v)
            else:
                todo += v.inputs
        kept = set(free)
        for left in [pair.left for pair in self.pairs]:
            if left.code in SOURCES and not self._stays(left):
                read.append(left)
            else:  # all its rows at once
                kept.add(left)
        kept |= {v for v in read if v.code not in CHEAP and v.code not in SOURCES}
        kept |= {self.body.following[v.detail] for v in read if v.code == "state" and not self._stays(v)}
        known: dict[Value, bool] = {}
        for v in read:
            if v.code in CHEAP and not self._from(v, kept, known):
                kept.add(v)
                known.clear()
        return kept

    def _stays(self, v: Value) -> bool:
        """Return whether a value is a state that no step changes."""
        return v.code == "state" and self.body.following[v.detail] is v

    def _from(self, value: Value, kept: set[Value], known: dict[Value, bool]) -> bool:
        """Return whether a value can be computed again from what is kept; `known` has the answers so far."""
        todo = [value]
        while todo:
            v = todo[-1]
            if v in kept:
                known[v] = True
            elif v.code in SOURCES:
                known[v] = v.code != "state" or self._stays(v) or self.body.following[v.detail] in kept
            elif v.code not in CHEAP:
                known[v] = False
            elif more := [x for x in v.inputs if x not in known]:
                todo += more
                continue
            else:
                known[v] = all(known[x] for x in v.inputs)
            todo.pop()
        return known[value]
