"""Drawing whole programs, most of which are valid, with the corner cases of loops and arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reference.graph import statements as p
from reference.graph.programs import ERRORS, Endless, run
from reference.graph.values import HOLE, Array
from tests.helpers.drawing.mistakes import with_a_mistake
from tests.helpers.drawing.names import INTEGER, MATRIX, NUMBER, VECTOR, WIDTH, ArrayInfo, Kind, Names
from tests.helpers.drawing.networks import Networks
from tests.helpers.meanings import meaning


class Draw(Networks):
    """Draws one program and its feeds."""

    def inputs(self):
        """Draw the inputs by name: their kinds, and a function that draws a value."""
        makers = {
            "x": (Kind("float64", 0, ("rows of x", WIDTH)), lambda: self.batch(0, (WIDTH,))),
            "v": (VECTOR, lambda: self.values(WIDTH)),
            "s": (NUMBER, lambda: np.float64(self.values()[()])),
            "q": (Kind("float64", 1, ("lod of q", WIDTH)), lambda: self.batch(1, (WIDTH,))),
            "r": (Kind("float64", 1, ("lod of r",)), lambda: self.batch(1, ())),
            "d": (Kind("float64", 2, ("lod of d", WIDTH)), lambda: self.batch(2, (WIDTH,))),
            "n": (INTEGER, lambda: np.int64(self.one([2, 3, 1, 0, 4], [4, 3, 2, 2, 1]))),
            "W": (MATRIX, lambda: self.values(WIDTH, WIDTH)),
        }
        shares = {"x": 0.6, "s": 0.4, "q": 0.5, "r": 0.15, "d": 0.3, "n": 0.6}
        chosen = [name for name, share in shares.items() if self.maybe(share)]
        return {name: makers[name] for name in [*chosen, "v", "W"]}

    def program(self):
        """Draw a program, feeds for it, and the set of parameters."""
        inputs = self.inputs()
        fixed = ["W"] + ["v"] * self.maybe(0.5)
        same = {name: inputs[name][1]() for name in fixed}
        feeds = [{name: make() for name, (_, make) in inputs.items()} | same for _ in range(2)]
        names = Names({name: kind for name, (kind, _) in inputs.items()})
        outside = self.arrays_from_outside(names)
        body = self.statements(names)
        while not any(isinstance(s, (p.Loop, p.MapFn)) for s in body):
            body += self.loop(names) or []
        results = self.results(names, body)
        outside = [(name, replace(array, element=self.element_of(name) or array.element)) for name, array in outside]
        return p.Program(tuple(inputs), tuple(outside), self.with_elements(body), tuple(results)), feeds, fixed

    def element_of(self, name):
        """Return the known facts about the elements of an array after everything is recorded."""
        info = self.infos.get(name)
        if info is None or info.element is None:
            return None
        kind = info.element
        return kind.element if not kind.shape else self.fresh(kind).element

    def with_elements(self, body):
        """Return a body with the kinds of the elements of its arrays."""
        found = []
        for s in body:
            if isinstance(s, p.Make) and s.element is None:
                s = replace(s, element=self.element_of(s.target))
            elif isinstance(s, p.WITH_BODIES):
                s = replace(s, body=self.with_elements(s.body))
            found.append(s)
        return tuple(found)

    def arrays_from_outside(self, names):
        found = []
        while self.maybe(0.35) and len(found) < 2:
            name = self.name("outer")
            kind = self.one([NUMBER, VECTOR, Kind("float64", 1, (self.length(), WIDTH))], [3, 4, 1])
            free = kind.levels > 0
            count = int(self.one([0, 1, 2, 3]))
            slots = [self.batch(1, (WIDTH,)) if free else self.values(*kind.shape) for _ in range(count)]
            if count > 1 and self.maybe(0.2):
                slots[self.random.integers(count - 1)] = HOLE
            dynamic = self.maybe(0.85)
            if not dynamic:
                slots += [HOLE] * int(self.random.integers(0, 3))
            held = [slot for slot in slots if slot is not HOLE]
            found.append((name, Array(slots, dynamic, kind.element)))
            names.arrays[name] = self.infos[name] = ArrayInfo("TensorArray", kind if held else None, free)
        return found

    def results(self, names, body):
        """Choose the results, so that arrays are read."""
        found = []
        for name, info in names.arrays.items():
            if info.element is not None and self.maybe(0.5):
                if self.maybe(0.2) and any(isinstance(s, p.Write) and s.array == name for s in body):
                    found.append(name)
                else:
                    body += self.ask(names, name) or []
        candidates = [name for name in names.values if name not in "xsqrdnvW"]
        late = candidates[-8:]
        found += [name for name in late if self.maybe(0.6)]
        return found or candidates[-1:] or ["v"]

    def statements(self, names, least=1):
        """Draw the statements of a block."""
        found = []
        for _ in range(int(self.random.integers(least, 6)) + 3 * (names.depth == 0)):
            if self.budget <= 0 and found:
                break
            kinds = [self.compute, self.write, self.read, self.make, self.loop, self.question, self.slot]
            shares = [5, 3, 3, 1.5, 2.5 if names.depth < 3 else 0, 1.5, 2.5]
            kinds += [self.integer, self.map, self.unstack, self.network, self.repeat, self.update, self.batch_as_state]
            deep = names.depth >= 2
            shares += [
                1,
                1.5 * (names.depth < 3),
                1,
                0.6 * (not deep),
                0.3,
                4 * bool(names.variables),
                0.15 * (not deep),
            ]
            kinds, shares = (
                [*kinds, self.run_later, self.cond],
                [*shares, 8 * bool(names.later), 1.5 * (names.depth < 3)],
            )
            drawn = self.one(kinds, shares)(names)
            if drawn:
                self.budget -= 1
                found += drawn
        return found


def draw_program(seed):
    """Draw a program, its feeds, its parameters, and its meaning; draw again if the meaning is uncertain."""
    for attempt in range(1000):
        draw = Draw((seed, attempt))
        program, feeds, fixed = draw.program()
        try:
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                program = with_fewer_errors(draw, program, feeds)
                meanings = [meaning(program, feed) for feed in feeds]
        except (TypeError, ValueError, AttributeError, ArithmeticError, Endless):
            continue  # shapes do not match, which lodcore reports at recording or at execution
        if any(found.error for found in meanings) and not draw.maybe(0.3):
            continue
        if not any(found.error for found in meanings) and draw.maybe(0.06):
            program = with_a_mistake(draw, program)
            meanings = [meaning(program, feed) for feed in feeds]
        if all(found.is_smooth for found in meanings):
            return program, feeds, fixed, meanings
    raise AssertionError("no program is drawn")


def with_fewer_errors(draw, program, feeds):
    """Usually replace indices whose read or write is an error; otherwise few programs would be valid."""
    for _ in range(0 if draw.maybe(0.15) else 12):
        for feed in feeds:
            try:
                run(program, feed)
            except ERRORS as error:
                failed = getattr(error, "statement", None)
                break
        else:
            return program
        if isinstance(failed, (p.Read, p.Write, p.Get)):
            better = replace(failed, index=draw.one([0, 0, 1]))
        elif isinstance(failed, p.Compute) and failed.function == "element" and any(s is failed for s in program.body):
            better = replace(failed, arguments=(failed.arguments[0], 0))
        else:
            return program
        program = replace(program, body=tuple(with_another(program.body, failed, better)))
    return program


def with_another(body, old, new):
    """Replace a statement by another one."""
    for s in body:
        if s is old:
            yield new
        elif isinstance(s, p.WITH_BODIES):
            yield replace(s, body=tuple(with_another(s.body, old, new)))
        else:
            yield s
