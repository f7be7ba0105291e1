"""Drawing loops, map_fn, and repetitions in Python."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reference.graph import statements as p
from tests.helpers.drawing.arrays import Arrays
from tests.helpers.drawing.names import INTEGER, NUMBER, VECTOR, WIDTH, Kind, is_recorded


class Loops(Arrays):
    """Draws loops."""

    def guard(self, names, inside, limit=None):
        """Draw the break that certainly ends a loop: statements, the first of which declares the counter."""
        counter = self.name("t")
        limits = [2, 3, 1, 0, 4][: 5 - names.depth]
        limit = self.one([*limits, *[n for n in ("n",) if n in names.values] * 2]) if limit is None else limit
        init = self.one([None, 0, 0, 0, 1])
        advance = self.one([None, None, None, 1, 2]) if init is not None else None
        function = ">=" if init == 1 or advance == 2 or self.maybe(0.7) else self.one(["equal", "=="])
        function = "greater_equal_than" if function == ">=" and self.maybe(0.5) else function
        inside.values[counter] = INTEGER
        if init == 0 and self.maybe(0.06):  # counters of the design documents have one element
            init, inside.values[counter] = np.array([0]), Kind("int64", 0, (1,))
        inside.counters.append(counter)
        condition = self.name("stop")
        return p.Declare(counter, init, advance), [p.Compute(condition, function, (counter, limit)), p.Break(condition)]

    def declare(self, names, inside):
        """Declare a loop variable."""
        target = self.name("s")
        if self.maybe(0.15):
            init, advance = self.one([0, 5, -1, *names.integers()[-1:]]), self.one([False, None, 2, -1])
            inside.values[target] = INTEGER
            inside.variables[target] = (INTEGER, False)
            return p.Declare(target, init, advance)
        init = self.value(names, lambda kind: True)
        kind = self.kind_of(names, init)
        if kind == NUMBER and self.maybe(0.4):
            init = float(self.one([0.0, 1.0, 0.5]))
        free = bool(kind.shape) and isinstance(kind.shape[0], str) and self.maybe(0.5)
        kind = self.fresh(kind) if free else kind
        inside.values[target] = kind
        inside.variables[target] = (kind, free)
        return p.Declare(target, init)

    def update(self, names):
        """Return the next values of loop variables; sometimes two of one kind are exchanged."""
        if not names.variables:
            return None
        target = self.one(names.variables)
        kind, free = names.variables[target]
        if kind == INTEGER:
            before = self.integer(names)
            if not before or names.values[before[-1].target] != INTEGER:
                return before
            return [*before, p.Update(target, before[-1].target)]
        others = [name for name, held in names.variables.items() if held == (kind, free) and name != target]
        if others and self.maybe(0.4):
            other = self.one(others)
            return [p.Update(target, other), p.Update(other, target)]
        value = self.value(names, lambda other: other.like(kind) if free else other == kind)
        return [p.Update(target, value)] if value is not None else None

    def breaks(self, names):
        """Draw another break, which depends on values or on a counter."""
        condition = self.name("stop")
        if self.maybe(0.5) and names.counters:
            return [
                p.Compute(condition, "equal", (self.one(names.counters), int(self.one([1, 0, 2])))),
                p.Break(condition),
            ]
        x = self.value(names, lambda kind: kind == NUMBER)
        if x is None or x in names.slots:
            return []
        limit = float(self.one([0.31, 0.97, 2.03, -0.53]))
        first = p.Compute(condition, self.one(["greater_than", ">", "less_than"]), (x, limit))
        if not names.counters or self.maybe(0.5):
            return [first, p.Break(condition)]
        late, both = self.name("stop"), self.name("stop")
        second = p.Compute(late, "greater_than", (self.one(names.counters), 1))
        return [
            first,
            second,
            p.Compute(both, self.one(["logical_or", "logical_and"]), (condition, late)),
            p.Break(both),
        ]

    def loop(self, names):
        """Draw a loop."""
        inside = names.inside()
        empty = [info for info in names.arrays.values() if info.element is None]
        counter, guard = self.guard(names, inside)
        declared = [self.declare(names, inside) for _ in range(int(self.random.integers(0, 4)))]
        rest = self.statements(inside)
        may_run_later = all(info.element is None for info in empty)  # or their Spec is unknown
        return self.closed_loop(names, inside, counter, guard, declared, rest, may_run_later)

    def closed_loop(self, names, inside, counter, guard, declared, rest, may_run_later):
        """Assemble a loop: the position of its break is the corner case."""
        given, before = (), []
        if self.maybe(0.08) and declared and declared[0].advance is None:
            given, declared = (declared[0],), declared[1:]
            if isinstance(given[0].init, str):  # under a name that is not used otherwise
                zero = 0 if inside.variables[given[0].target][0] == INTEGER else 0.0
                before = [p.Compute(self.name("own"), "add", (given[0].init, zero))]
                given = (replace(given[0], init=before[0].target),)
                rest = self.under_own_name(rest, given[0])
        at = self.one([0, len(rest), int(self.random.integers(len(rest) + 1))], [5, 1, 2])
        rest = [*rest[:at], *guard, *rest[at:]]
        if self.maybe(0.15):
            rest += self.breaks(inside)
        body = (counter, *declared, *rest)
        last = {}
        for d in (*given, *declared, counter):
            kind, free = inside.variables.get(d.target, (inside.values[d.target], False))
            last[d.target] = self.fresh(kind) if free else kind
        self.forget_slots(names)
        name, runs = self.name("loop"), int(self.one([1, 2])) if self.maybe(0.12) else None
        if may_run_later and self.maybe(0.2):
            runs, names.later[name] = 0, last
        else:
            names.values |= last
        max_steps = int(self.one([10, 4, 3, 1])) if self.maybe(0.05) else None
        opened_by = "frame" if self.maybe(0.1) else "loop"
        return [*before, p.Loop(name, body, runs, max_steps, given, opened_by)]

    def run_later(self, names):
        """Run a loop that was recorded here or in an outer body, once or twice; its variables are then known here."""
        name = self.one(names.later)
        last = names.later.pop(name)  # a run in an inner body would remove them
        names.values |= {target: self.fresh(kind) for target, kind in last.items()}
        self.forget_slots(names)
        return [p.Run(name, tuple(last))] * int(self.one([1, 2]))

    def under_own_name(self, body, given):
        """Read a loop variable by its outer name, in some positions where an operator is called."""

        def own(argument):
            return (
                given.init if isinstance(argument, str) and argument == given.target and self.maybe(0.5) else argument
            )

        found = []
        for s in body:
            if is_recorded(s):  # Python's `+` of two arrays is an array
                s = replace(s, arguments=tuple(map(own, s.arguments)))
            elif isinstance(s, (p.Update, p.Write)):
                s = replace(s, value=own(s.value))
            elif isinstance(s, p.Declare) and s.init is not None:
                s = replace(s, init=own(s.init))
            elif isinstance(s, p.WITH_BODIES):
                s = replace(s, body=tuple(self.under_own_name(s.body, given)))
            found.append(s)
        return found

    def forget_slots(self, names):
        """Discard slots that were named before a loop, which may have written them."""
        names.slots = {}

    def repeat(self, names):
        """Write some statements several times: a Python loop."""
        x = self.value(names, lambda kind: kind.shape)
        if x is None or x in names.slots:
            return None
        kind, state, counter = names.values[x], self.name("h"), self.name("k")
        first = p.Compute(state, "tanh", (x,))
        inside = replace(names.inside(), depth=names.depth, slots={}, values={**names.values, state: kind})
        inside.values[counter] = INTEGER
        inside.counters.append(counter)
        body = self.statements(inside)
        step = self.binary(inside, state, kind)
        again = p.Compute(state, "tanh", (step.target,))
        names.values[state] = kind
        self.forget_slots(names)
        return [first, p.Repeat(counter, int(self.one([2, 3, 1])), (*body, step, again))]

    def cond(self, names):
        """Draw a condition of one value, or a mask of sequences or rows, with two sides."""
        x = self.value(names, lambda kind: bool(kind.shape) and isinstance(kind.shape[0], str))
        if x is None or x in names.slots:
            return None
        kind = names.values[x]
        if kind.levels > 0 and self.maybe(0.5):
            level = int(self.random.integers(kind.levels))
            before, condition = self.mask_of_sequences(names, x, level)
        elif kind.levels == 0 and len(kind.shape) == 2 and self.maybe(0.5):
            level, column, condition = 0, self.name("a"), self.name("mask")
            limit = float(self.one([0.31, -0.17]))
            before = [p.Compute(column, "first column", (x,)), p.Compute(condition, "greater_than", (column, limit))]
        else:
            before, condition = self.breaks(names)[:1], None
            if not before:
                return None
            level, condition = 0, before[0].target
        has_mask = condition.startswith("mask")
        kinds = [kind] if has_mask or self.maybe(0.5) else [kind, NUMBER]
        empty = [name for name, info in names.arrays.items() if info.element is None]
        sides = self.side(names, kind, kinds, has_mask), self.side(names, kind, kinds, has_mask, empty)
        targets = tuple(self.name("a") for _ in kinds)
        names.values |= dict(zip(targets, kinds, strict=True))
        self.forget_slots(names)
        return [*before, p.Cond(targets, condition, x, sides, level, self.one(["cond", "IfElse"]))]

    def mask_of_sequences(self, names, x, level):
        lengths, condition = self.name("i"), self.name("mask")
        how = self.one([("greater_than", 1), ("less_than", 2), (">=", 1)])
        return [
            p.Compute(lengths, "lengths of level", (x, level)),
            p.Compute(condition, how[0], (lengths, how[1])),
        ], condition

    def side(self, names, kind, kinds, has_mask, hidden=()):
        """Draw one side: results of given kinds, where those of parts have the structure of the part.

        It does not use hidden arrays, of which perhaps only the other side knows the elements.
        """
        inside, parameter = names.inside(), self.name("part")
        inside.arrays = {name: info for name, info in inside.arrays.items() if name not in hidden}
        part = self.fresh(kind) if has_mask else kind
        inside.values[parameter] = part
        body = self.statements(inside) if self.maybe(0.7) else []
        results = []
        for wanted in kinds:
            if wanted == NUMBER:
                numbers = inside.of(lambda other: other == NUMBER)
                made = [] if numbers else [self.set(inside, "sum", [parameter], NUMBER)]
                body += made
                results.append(made[0].target if made else self.recent(numbers))
            else:
                if self.maybe(0.6):
                    body.append(self.binary(inside, parameter, part))
                results.append(self.recent(inside.of(lambda other: other == part)))
        return p.Side(parameter, tuple(body), tuple(results))

    def map(self, names):
        """Draw map_fn."""
        x = self.value(names, lambda kind: kind.levels > 0 or (len(kind.shape) > 0 and isinstance(kind.shape[0], str)))
        if x is None or x in names.slots:
            return None
        kind, inside, parameter = names.values[x], names.inside(), self.name("part")
        part = self.fresh(kind._replace(levels=kind.levels - 1)) if kind.levels else kind._replace(shape=kind.shape[1:])
        inside.values[parameter] = part
        body = self.statements(inside) if self.maybe(0.7) else []
        targets, results, elements, stacked = [], [], [], []
        for _ in range(int(self.one([1, 1, 2]))):
            more, result, element, stack, out = self.result_of_map(names, inside, x, kind, part, parameter, body)
            body += more
            targets.append(self.name("a"))
            results.append(result)
            elements.append(element)
            stacked.append(stack)
            names.values[targets[-1]] = out
        self.forget_slots(names)
        arguments = map(tuple, (body, results, elements, stacked))
        return [p.MapFn(tuple(targets), x, parameter, *arguments)]

    def result_of_map(self, names, inside, x, kind, part, parameter, body):
        """Choose the result of a body for which lodcore's rules determine the outcome."""
        count = f"{kind.shape[0]} pooled" if kind.levels else kind.shape[0]
        same = [name for name in inside.of(lambda other: other == part)]
        numbers = inside.of(lambda other: other == NUMBER)
        if part.shape and self.maybe(0.4):
            result = self.recent(same)
            if kind.levels:
                return [], result, part.element, False, kind
            return [], result, part.element, True, kind
        if numbers and self.maybe(0.7):
            return [], self.recent(numbers), NUMBER.element, True, Kind("float64", 0, (count,))
        if kind.levels == 1 and len(part.shape) == 2 and self.maybe(0.5):
            # rows that a map_fn reads from an array may be of any width, for what the rules know
            rows = parameter if any(isinstance(s, p.MapFn) for s in body) else self.recent(same)
            made = self.set(inside, "sum of rows", [rows], VECTOR)
            return [made], made.target, VECTOR.element, True, Kind("float64", 0, (count, WIDTH))
        made = self.set(inside, "sum", [parameter], NUMBER)
        return [made], made.target, NUMBER.element, True, Kind("float64", 0, (count,))
