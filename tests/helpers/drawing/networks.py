"""Drawing networks over sequences: unpack, a loop over steps with a shrinking state, pack."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reference.graph import statements as p
from tests.helpers.drawing.loops import Loops
from tests.helpers.drawing.names import INTEGER, WIDTH, ArrayInfo, Kind


@dataclass
class Steps:
    """The input of a network: the tensor, the level, and names of the steps, their map, order and number."""

    x: str
    kind: Kind
    level: int
    sort: bool
    array: str
    map: str
    order: str
    size: str


class Networks(Loops):
    """Draws networks."""

    def network(self, names):
        """Draw a network over the sequences of a level."""
        x = self.value(names, lambda kind: kind.levels > 0 and kind.shape[1:] == (WIDTH,))
        if x is None or x in names.slots:
            return None
        kind = names.values[x]
        steps = Steps(
            x, kind, int(self.random.integers(kind.levels)), self.maybe(0.65), *map(self.name, ["steps", "map"]), "", ""
        )
        found = self.steps(names, steps)
        boot, more = self.boot_state(steps)
        outputs, loop = self.loop_over_steps(names, steps, boot)
        packed, levels = self.name("a"), steps.level + 1
        structure = kind.shape[0] if levels == kind.levels else self.length()
        names.values[packed] = Kind("float64", levels, (structure, WIDTH))
        return [*found, *more, *loop, p.Ask(packed, "pack", outputs, (steps.level, steps.map))]

    def steps(self, names, steps):
        """Convert sequences to steps, and name their order: the map, a table, or the rank of the steps."""
        how = self.one(["unpack", "instance", "operator", "segment"], [4, 1, 1, 1])
        element = Kind("float64", steps.kind.levels - steps.level - 1, (self.length(), WIDTH))
        kind = "VarArray" if how == "segment" else "TensorArray"
        names.arrays[steps.array] = ArrayInfo(kind, element, free=True, grows=False, rank=steps.map)
        found = [p.Unpack(steps.array, steps.map, steps.x, steps.level, steps.sort, how)]
        steps.order, steps.size = steps.map, self.name("a")
        if steps.sort and steps.level == 0 and self.maybe(0.5):
            steps.order = self.name("table")
            found.append(p.Compute(steps.order, "lod_rank_table", (steps.x,)))
        elif self.maybe(0.3):
            steps.order = self.name("table")
            found.append(p.Compute(steps.order, "rank of steps", (steps.array,)))
        names.values[steps.size] = INTEGER
        if steps.order != steps.map and self.maybe(0.3):
            lengths = Kind("int64", 0, (self.length(),))
            found.append(self.set(names, "lengths in order", [steps.order], lengths))
        return [*found, p.Ask(steps.size, "size", steps.array)]

    def boot_state(self, steps):
        """Draw the initial state: one row per sequence of the level, in the order of the steps."""
        found, here = [], steps.x
        for _ in range(steps.kind.levels - steps.level):
            pooled = self.name("a")
            found.append(p.Compute(pooled, self.one(["pool mean", "pool sum", "pool last"]), (here,)))
            here = pooled
        if steps.level:  # the rows of all sequences, consecutively
            array, flat = self.name("array"), self.name("a")
            found += [p.Unstack(array, here), p.Ask(flat, "concat", array)]
            here = flat
        boot = self.name("boot")
        if not steps.sort and self.maybe(0.5):
            how = ("tanh", (here,))  # their own order is that of the steps
        elif self.maybe(0.3):
            how = ("boot", (steps.array, here))
        else:
            how = ("reorder_by_rank", (here, steps.order))
        return boot, [*found, p.Compute(boot, *how)]

    def loop_over_steps(self, names, steps, boot):
        """Draw the loop over the steps; the place of the state is the corner case. Return the written array."""
        inside = names.inside()
        counter, guard = self.guard(names, inside, steps.size)
        counter = replace(counter, init=self.one([None, 0]), advance=None)
        inside.values[counter.target] = names.values[counter.target] = INTEGER
        t, state, outputs = counter.target, self.name("h"), self.name("outputs")
        rows = Kind("float64", 0, (self.length(), WIDTH)).element
        made = p.Make(outputs, self.one(["TensorArray", "VarArray"]), self.one([None, None, steps.size]), True, rows)
        before, declared, earlier, last, after = self.place_of_the_state(t, boot, state, rows)
        here = self.name("a")
        body = [
            *earlier,
            p.Compute(here, "shrink_memory", (last, t, steps.order)),
            *self.cell(names, steps, t, here, state),
        ]
        after.append(p.Write(outputs, t, state, self.one(["write", "[]", "copy"])))
        extra = self.statements(inside) if self.maybe(0.3) and self.budget > 0 else []
        rest = [*extra, *body, *(reversed(after) if self.maybe(0.5) else after)]
        at = 0 if self.maybe(0.85) else len(extra)
        runs = 1 if self.maybe(0.1) else None
        loop = p.Loop(self.name("loop"), (counter, *declared, *rest[:at], *guard, *rest[at:]), runs)
        self.forget_slots(names)
        return outputs, [made, *before, loop]

    def place_of_the_state(self, t, boot, state, rows):
        """Keep the state in a loop variable or an array: statements before the loop, and before and after the cell."""
        where = self.one(["variable", "read", "slot"])
        if where == "variable":
            last = self.name("s")
            return [], [p.Declare(last, boot)], [], last, [p.Update(last, state)]
        states, last, index = self.name("states"), self.name("a"), self.name("i")
        kind = "VarArray" if where == "slot" else self.one(["TensorArray", "VarArray"], [2, 1])
        reading = p.Get(last, states, index, boot) if where == "slot" else p.Read(last, states, index, boot, "default")
        writing = self.one(["update", "slot"] if kind == "VarArray" else ["write", "[]"])
        earlier = [p.Compute(index, self.one(["-", "minus"]), (t, 1)), reading]
        return [p.Make(states, kind, None, True, rows)], [], earlier, last, [p.Write(states, t, state, writing)]

    def cell(self, names, steps, t, before, state):
        """Compute the next state from the step and the previous state."""
        step, left, right, both = (self.name("a") for _ in range(4))
        info = names.arrays[steps.array]
        by_slot = info.element.levels == 0 and info.kind == "VarArray" and self.maybe(0.5)
        found = [
            p.Get(step, steps.array, t) if by_slot else p.Read(step, steps.array, t, None, self.one(["read", "[]"]))
        ]
        rows = step
        for _ in range(info.element.levels):
            pooled = self.name("a")
            found.append(p.Compute(pooled, self.one(["pool sum", "pool mean"]), (rows,)))
            rows = pooled
        found.append(p.Compute(left, self.one(["@", "matmul"]), (rows, "W")))
        found.append(p.Compute(right, *self.one([("@", (before, "W")), ("mul", (before, "v")), ("*", (before, 0.5))])))
        found.append(p.Compute(both, self.one(["+", "add", "mul"]), (left, right)))
        return [*found, p.Compute(state, self.one(["tanh", "sigmoid"]), (both,))]

    def batch_as_state(self, names):
        """Draw a loop whose state is a shrinking batch of sequences."""
        x = self.value(names, lambda kind: kind.levels > 0)
        if x is None or x in names.slots:
            return None
        kind, table, first = names.values[x], self.name("table"), self.name("a")
        found = [p.Compute(table, "lod_rank_table", (x,)), p.Compute(first, "reorder_by_rank", (x, table))]
        inside = names.inside()
        counter, guard = self.guard(names, inside)
        state, less, after = self.name("s"), self.name("a"), self.name("a")
        inside.values[less] = self.fresh(kind)
        body = [p.Compute(less, "shrink_memory", (state, counter.target, table))]
        body += self.statements(inside) if self.maybe(0.3) else []
        body += [p.Compute(after, self.one(["tanh", "sigmoid"]), (less,)), p.Update(state, after)]
        for name, last in [(first, kind), (state, kind), (counter.target, None)]:
            names.values[name] = self.fresh(last) if last else inside.values[name]
        return [*found, p.Loop(self.name("loop"), (counter, p.Declare(state, first), *guard, *body))]
