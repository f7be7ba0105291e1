"""Draw whole programs, most of which have a meaning, with the corners that loops and arrays have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from reference.graph import programs as p
from reference.graph.values import HOLE, Array, Element, Nested
from tests.graph.ways_of_running import meaning

WIDTH = 2


class Kind(NamedTuple):
    """What a value is: its shape, where a text is a length that the run tells; that of a nested one names its LoD."""

    dtype: str
    levels: int
    shape: tuple[Any, ...]

    @property
    def element(self):
        return Element(self.dtype, self.levels, tuple(None if isinstance(n, str) else n for n in self.shape))

    def like(self, other):
        """Tell whether a loop variable, or an array, may hold both."""
        same = (self.dtype, self.levels, len(self.shape)) == (other.dtype, other.levels, len(other.shape))
        return same and self.shape[1:] == other.shape[1:]


NUMBER, VECTOR, INTEGER = Kind("float64", 0, ()), Kind("float64", 0, (WIDTH,)), Kind("int64", 0, ())
MATRIX = Kind("float64", 0, (WIDTH, WIDTH))


@dataclass
class ArrayInfo:
    """What is known of an array: its elements, whether they differ in their numbers of rows, and who may write."""

    kind: str
    element: Kind | None = None
    free: bool = False
    grows: bool = True
    rank: str | None = None


@dataclass
class Names:
    """What has a name where a statement stands."""

    values: dict[str, Kind] = field(default_factory=dict)
    arrays: dict[str, ArrayInfo] = field(default_factory=dict)
    slots: dict[str, tuple[str, Kind]] = field(default_factory=dict)
    variables: dict[str, tuple[Kind, bool]] = field(default_factory=dict)  # of the innermost loop, and whether free
    counters: list[str] = field(default_factory=list)
    depth: int = 0

    def inside(self):
        """Begin a body."""
        return Names(dict(self.values), dict(self.arrays), {}, {}, list(self.counters), self.depth + 1)

    def of(self, wanted):
        return [name for name, kind in self.values.items() if wanted(kind)]

    def floats(self):
        return self.of(lambda kind: kind.dtype == "float64")

    def integers(self):
        return self.of(lambda kind: kind == INTEGER)


def is_recorded(statement):
    """Tell whether a statement calls an operator, whatever its arguments; `+` of two arrays is NumPy's."""
    return isinstance(statement, p.Compute) and statement.function.islower() and statement.function != "element"


class Draw:
    """Draws one program and its feeds."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.count = 0
        self.infos = {}
        self.budget = int(self.random.choice([6, 10, 16, 24]))

    # -- choices -------------------------------------------------------------------------------------------------

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def length(self):
        return self.name("length")

    def maybe(self, probability):
        return self.random.random() < probability

    def one(self, choices, weights=None):
        choices = list(choices)
        if weights is not None:
            weights = np.array(weights, float) / np.sum(weights)
        return choices[self.random.choice(len(choices), p=weights)]

    def recent(self, names):
        """Choose a name, late ones rather than early ones."""
        names = list(names)
        return self.one(names, np.arange(1, len(names) + 1))

    def fresh(self, kind):
        """Make a kind whose number of rows, or structure, is one of its own."""
        return kind if not kind.shape else kind._replace(shape=(self.length(), *kind.shape[1:]))

    # -- inputs ----------------------------------------------------------------------------------------------------

    def values(self, *shape):
        return self.random.uniform(-0.9, 0.9, shape).round(2)

    def lengths(self, count):
        drawn = self.random.integers(0, 4, count)
        for at in (0, -1):
            if count and self.maybe(0.2):
                drawn[at] = 0
        return drawn * int(self.maybe(0.93))

    def batch(self, levels, width, count=None):
        count = int(self.one([2, 3, 1, 4, 0], [4, 4, 2, 2, 1])) if count is None else count
        if levels == 0:
            return self.values(count, *width)
        inside = [self.batch(levels - 1, width, int(n)) for n in self.lengths(count)]
        return Nested(inside, levels, width)

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
        chosen = [name for name, share in zip("xsqrdn", [0.6, 0.4, 0.5, 0.15, 0.3, 0.6], strict=True) if self.maybe(share)]
        return {name: makers[name] for name in [*chosen, "v", "W"]}

    def program(self):
        """Draw a program, feeds for it, and what is a parameter."""
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
        """Say what is known of the elements of an array when all is recorded."""
        info = self.infos.get(name)
        if info is None or info.element is None:
            return None
        kind = info.element
        return kind.element if not kind.shape else self.fresh(kind).element

    def with_elements(self, body):
        """Tell each array what it will hold."""
        found = []
        for s in body:
            if isinstance(s, p.Make) and s.element is None:
                s = replace(s, element=self.element_of(s.target))
            elif isinstance(s, (p.Loop, p.MapFn, p.Repeat)):
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
        """Choose what comes back, and see that arrays are looked at."""
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

    # -- statements ----------------------------------------------------------------------------------------------

    def statements(self, names, least=1):
        """Draw the statements of a block."""
        found = []
        for _ in range(int(self.random.integers(least, 6)) + 2 * (names.depth == 0)):
            if self.budget <= 0 and found:
                break
            kinds = [self.compute, self.write, self.read, self.make, self.loop, self.question, self.slot]
            shares = [5, 3, 3, 1.5, 2.5 if names.depth < 3 else 0, 1.5, 1]
            kinds += [self.integer, self.map, self.unstack, self.rnn, self.repeat, self.update, self.batch_as_state]
            deep = names.depth >= 2
            shares += [1, 0.8 * (not deep), 1, 0.6 * (not deep), 0.3, 4 * bool(names.variables), 0.15 * (not deep)]
            drawn = self.one(kinds, shares)(names)
            if drawn:
                self.budget -= 1
                found += drawn
        return found

    def set(self, names, function, arguments, kind, prefix="a"):
        """Compute something under a new name."""
        target = self.name(prefix)
        names.values[target] = kind
        return p.Compute(target, function, tuple(arguments))

    def value(self, names, wanted):
        """Choose a float of a kind, a slot sometimes."""
        slots = [name for name, (_, kind) in names.slots.items() if wanted(kind)]
        if slots and self.maybe(0.4):
            return self.one(slots)
        found = names.of(lambda kind: kind.dtype == "float64" and wanted(kind)) or names.of(
            lambda kind: kind == INTEGER and wanted(kind) and not wanted(NUMBER)
        )
        return self.recent(found) if found else None

    def kind_of(self, names, name):
        return names.values[name] if name in names.values else names.slots[name][1]

    def compute(self, names):
        """Draw a computation of floats."""
        x = self.value(names, lambda kind: True)
        kind = self.kind_of(names, x)
        choices = ["unary", "binary", "binary", "binary"]
        choices += ["matmul"] * (2 * (kind.shape[-1:] == (WIDTH,)))
        choices += ["sum"] * bool(kind.shape)
        choices += ["rows"] * (kind.levels == 0 and len(kind.shape) == 2)
        choices += ["nested"] * (2 * (kind.levels > 0))
        # NumPy asks a Variable for a number; and what a number takes of a tensor is taken while it is recorded
        here = [0, 0, 1] if names.depth == 0 else names.counters[-1:] if kind.levels else []
        choices += ["element"] * (bool(here) and (kind.levels > 0 or len(kind.shape) == 2))
        choices += ["concat"] * (kind.levels > 0)
        which = self.one(choices)
        if which == "unary":
            return [self.set(names, self.one(["tanh", "sigmoid"]), [x], kind)]
        if which == "binary":
            return [self.binary(names, x, kind)]
        if which == "matmul":
            return [self.set(names, self.one(["matmul", "@"]), [x, "W"], kind)]
        if which == "sum":
            return [self.set(names, "sum", [x], NUMBER)]
        if which == "rows":
            return [self.set(names, "sum of rows", [x], VECTOR)]
        if which == "element":
            at = self.one(here)
            part = kind._replace(levels=max(kind.levels - 1, 0))
            part = self.fresh(part) if kind.levels else part._replace(shape=kind.shape[1:])
            return [self.set(names, "element", [x, at], part)]
        if which == "concat":
            y = self.value(names, lambda other: other.like(kind))
            return [self.set(names, "concat_batches", [x, y], self.fresh(kind))]
        return [self.of_nested(names, x, kind)]

    def binary(self, names, x, kind):
        """Draw a function of two values that have one structure, or of which one is a number or a row."""
        function = self.one(["add", "+", "minus", "-", "mul", "*", "mul"])
        row = Kind("float64", 0, kind.shape[1:])
        y = self.value(names, lambda other: other in (kind, kind, NUMBER, row))
        if y is None or self.maybe(0.15):
            y = float(self.one([0.5, -0.5, 2.0, 1.0, -1.0]))
        elif self.maybe(0.3) and self.kind_of(names, y) in (kind, NUMBER):
            x, y = y, x
        return self.set(names, function, [x, y], kind)

    def of_nested(self, names, x, kind):
        if self.maybe(0.3):
            return self.set(names, "reverse", [x], kind)
        if self.maybe(0.15):
            count = (f"{kind.shape[0]} pooled",) if kind.levels == 1 else (self.length(),)
            return self.set(names, self.one(["lengths", "lod_lengths"]), [x], Kind("int64", 0, count))
        how = self.one(["pool sum", "pool mean", "pool last"])
        shape = (f"{kind.shape[0]} pooled", *kind.shape[1:])
        return self.set(names, how, [x], kind._replace(levels=kind.levels - 1, shape=shape))

    def integer(self, names):
        """Draw a computation of integers."""
        found = names.integers()
        if not found:
            return None
        x = self.recent(found)
        many = names.of(lambda kind: kind.dtype == "int64" and kind.shape)
        if many and self.maybe(0.5):
            x = self.recent(many)
            return [self.set(names, "float", [x], names.values[x]._replace(dtype="float64"))]
        if self.maybe(0.3):
            return [self.set(names, "float", [x], NUMBER)]
        function, y = self.one([("add", 1), ("+", 2), ("minus", 1), ("-", 1), ("*", 2), ("%", 2), ("add", x)])
        return [self.set(names, function, [x, y], INTEGER, "i")]

    def index(self, names):
        """Draw an index, and what must be computed for it before."""
        counters = names.counters
        if not counters or self.maybe(0.12):
            return [], self.one([0, 1, 2, 0, *names.integers()[-2:]])
        counter = self.one(counters, np.arange(1, len(counters) + 1) ** 2)
        if self.maybe(0.65):
            return [], counter
        if len(counters) > 1 and self.maybe(0.4):
            twice = self.set(names, self.one(["*", "mul"]), [counters[-2], 2], INTEGER, "i")
            both = self.set(names, "add", [twice.target, counters[-1]], INTEGER, "i")
            return [twice, both], both.target
        made = self.set(names, *self.one([("minus", [counter, 1]), ("add", [counter, 1]), ("-", [counter, 1])]), INTEGER, "i")
        return [made], made.target

    # -- arrays ----------------------------------------------------------------------------------------------------

    def make(self, names):
        """Make an array, and often write to it at once."""
        name, kind = self.name("array"), self.one(["TensorArray", "VarArray"], [3, 1])
        size = self.one([None, None, None, 2, 3, *[n for n in ("n",) if n in names.values]])
        dynamic = size is None or self.maybe(0.6)
        names.arrays[name] = self.infos[name] = ArrayInfo(kind)
        first = self.write_to(names, name) if self.maybe(0.5) else []
        return [p.Make(name, kind, size, dynamic), *(first or [])]

    def write(self, names):
        found = list(names.arrays)
        return self.write_to(names, self.recent(found)) if found else self.make(names)

    def write_to(self, names, name):
        """Write to an array what it can hold."""
        info = names.arrays[name]
        if info.element is None:
            value = self.value(names, lambda kind: True)
            if names.integers() and self.maybe(0.12):
                value = self.recent(names.integers())
            kind = self.kind_of(names, value)
            info.free = isinstance(kind.shape[0] if kind.shape else 0, str) and (names.depth > 0 or self.maybe(0.3))
            info.element = self.fresh(kind) if info.free else kind
        else:
            fits = (lambda kind: kind.like(info.element)) if info.free else (lambda kind: kind == info.element)
            value = self.value(names, fits)
            if value is None:
                return None
        before, at = self.index(names) if info.grows else ([], 0)
        how = ["write", "write", "write", "[]", "copy", "operator"] + ["update", "slot"] * (2 * (info.kind == "VarArray"))
        self.touch(names, name)
        return [*before, p.Write(name, at, value, self.one(how))]

    def touch(self, names, name):
        """Let no slot of an array be used any more: it was written otherwise."""
        names.slots = {slot: held for slot, held in names.slots.items() if held[0] != name}

    def read(self, names):
        found = [name for name, info in names.arrays.items() if info.element is not None]
        if not found:
            return self.unstack(names)
        name = self.recent(found)
        info = names.arrays[name]
        before, at = self.index(names)
        kind = self.fresh(info.element) if info.free else info.element
        default, how = None, self.one(["read", "read", "[]", "operator"])
        if self.maybe(0.3):
            default = self.value(names, lambda other: other.like(kind) if info.free else other == kind)
            if kind == NUMBER and self.maybe(0.4):
                default = 0.5
            how = how if default is None else self.one(["default", "keyword"])
        target = self.name("a")
        names.values[target] = kind
        return [*before, p.Read(target, name, at, default, how)]

    def slot(self, names):
        """Name a slot of a VarArray, and write through it sometimes."""
        found = [name for name, info in names.arrays.items() if info.kind == "VarArray" and info.element is not None]
        if not found:
            return None
        name = self.recent(found)
        info, target = names.arrays[name], self.name("slot")
        before, at = self.index(names)
        kind = self.fresh(info.element) if info.free else info.element
        boot = None
        if self.maybe(0.5):
            boot = self.value(names, lambda other: other.like(kind) if info.free else other == kind)
            boot = 0.5 if kind == NUMBER and self.maybe(0.5) else boot
        made = [*before, p.Get(target, name, at, boot)]
        fits = (lambda other: other.like(kind)) if info.free else (lambda other: other == kind)
        value = self.value(names, fits) if info.grows and self.maybe(0.4) else None
        if value is not None:
            self.touch(names, name)
            made.append(p.Put(target, value))
        names.slots[target] = (name, kind)
        return made

    def question(self, names):
        found = list(names.arrays)
        return self.ask(names, self.recent(found)) if found else None

    def ask(self, names, name):
        """Ask an array for its size, its elements together, or its steps as sequences."""
        info = names.arrays[name]
        target = self.name("a")
        if info.element is None or self.maybe(0.25):
            names.values[target] = INTEGER
            return [p.Ask(target, "size", name)]
        kind = info.element
        if kind.shape and self.maybe(0.1):
            names.values[target] = Kind("int64", 0, (self.length(),))
            return [p.Ask(target, "sizes", name)]
        if not info.free and kind.shape and not kind.levels and self.maybe(0.25):
            if len(kind.shape) == 1 or self.maybe(0.3):
                names.values[target] = kind._replace(shape=(kind.shape[0], self.length(), *kind.shape[1:]))
                return [p.Ask(target, "stack", name, (1,))]
            names.values[target] = kind._replace(shape=(kind.shape[0], self.length()))
            return [p.Ask(target, "concat", name, (1,))]
        if kind.shape and (kind.levels or len(kind.shape) == 2) and (info.free or self.maybe(0.4)):
            names.values[target] = self.fresh(kind)
            return [p.Ask(target, "concat", name)]
        if kind.levels:
            names.values[target] = Kind("float64", kind.levels + 1, (self.length(), *kind.shape[1:]))
            return [p.Ask(target, "stack", name)]
        if info.free:
            return None
        names.values[target] = kind._replace(shape=(self.length(), *kind.shape))
        return [p.Ask(target, "stack", name)]

    def unstack(self, names):
        """Make an array of a tensor, or cut its sequences into steps."""
        x = self.value(names, lambda kind: kind.levels > 0 or (len(kind.shape) > 0 and isinstance(kind.shape[0], str)))
        if x is None or x in names.slots:
            return None
        kind, name = names.values[x], self.name("array")
        how = self.one(["unstack", "unstack_from", "instance", "operator", "segment"])
        info = ArrayInfo("VarArray" if how == "segment" else "TensorArray", grows=True)
        if kind.levels and (how == "segment" or self.maybe(0.5)):
            level = int(self.random.integers(kind.levels))
            how = self.one(["unpack", "instance", "operator", "segment"], [3, 1, 1, 1])
            info = ArrayInfo("VarArray" if how == "segment" else "TensorArray", grows=False, rank=self.name("map"))
            info.element, info.free = Kind("float64", kind.levels - level - 1, (self.length(), *kind.shape[1:])), True
            names.arrays[name] = info
            return [p.Unpack(name, info.rank, x, level, self.maybe(0.6), how)]
        if kind.levels:
            info.element, info.free = Kind("float64", kind.levels - 1, (self.length(), *kind.shape[1:])), True
        else:
            info.element = kind._replace(shape=kind.shape[1:])
        names.arrays[name] = info
        return [p.Unstack(name, x, how)]

    # -- loops -----------------------------------------------------------------------------------------------------

    def guard(self, names, inside, limit=None):
        """Draw the break that ends a loop for sure: statements, where the first is the counter."""
        counter = self.name("t")
        limits = [2, 3, 1, 0, 4][: 5 - names.depth]
        limit = self.one([*limits, *[n for n in ("n",) if n in names.values] * 2]) if limit is None else limit
        init = self.one([None, 0, 0, 0, 1])
        advance = self.one([None, None, None, 1, 2]) if init is not None else None
        function = ">=" if init == 1 or advance == 2 or self.maybe(0.7) else self.one(["equal", "=="])
        function = "greater_equal_than" if function == ">=" and self.maybe(0.5) else function
        inside.values[counter] = INTEGER
        if init == 0 and self.maybe(0.06):  # the seed's counters have one element
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
        """Give loop variables their next values; two of one kind change places sometimes."""
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
            return [p.Compute(condition, "equal", (self.one(names.counters), int(self.one([1, 0, 2])))), p.Break(condition)]
        x = self.value(names, lambda kind: kind == NUMBER)
        if x is None or x in names.slots:
            return []
        limit = float(self.one([0.31, 0.97, 2.03, -0.53]))
        first = p.Compute(condition, self.one(["greater_than", ">", "less_than"]), (x, limit))
        if not names.counters or self.maybe(0.5):
            return [first, p.Break(condition)]
        late, both = self.name("stop"), self.name("stop")
        second = p.Compute(late, "greater_than", (self.one(names.counters), 1))
        return [first, second, p.Compute(both, self.one(["logical_or", "logical_and"]), (condition, late)), p.Break(both)]

    def loop(self, names):
        """Draw a loop."""
        inside = names.inside()
        counter, guard = self.guard(names, inside)
        declared = [self.declare(names, inside) for _ in range(int(self.random.integers(0, 4)))]
        rest = self.statements(inside)
        return self.closed_loop(names, inside, counter, guard, declared, rest)

    def closed_loop(self, names, inside, counter, guard, declared, rest):
        """Put a loop together: where it breaks is the corner."""
        given, before = (), []
        if self.maybe(0.08) and declared and declared[0].advance is None:
            given, declared = (declared[0],), declared[1:]
            if isinstance(given[0].init, str):  # under a name that nothing else has
                zero = 0 if inside.variables[given[0].target][0] == INTEGER else 0.0
                before = [p.Compute(self.name("own"), "add", (given[0].init, zero))]
                given = (replace(given[0], init=before[0].target),)
                rest = self.under_own_name(rest, given[0])
        at = self.one([0, len(rest), int(self.random.integers(len(rest) + 1))], [5, 1, 2])
        rest = [*rest[:at], *guard, *rest[at:]]
        if self.maybe(0.15):
            rest += self.breaks(inside)
        body = (counter, *declared, *rest)
        for d in (*given, *declared, counter):
            kind, free = inside.variables.get(d.target, (inside.values[d.target], False))
            names.values[d.target] = self.fresh(kind) if free else kind
        self.forget_slots(names)
        runs = int(self.one([1, 2])) if self.maybe(0.12) else None
        max_steps = int(self.one([10, 4, 3, 1])) if self.maybe(0.05) else None
        opened_by = "frame" if self.maybe(0.1) else "loop"
        return [*before, p.Loop(self.name("loop"), body, runs, max_steps, given, opened_by)]

    def under_own_name(self, body, given):
        """Read a loop variable by the name that it has outside, in some places."""
        return [
            replace(s, arguments=tuple(given.init if a == given.target and self.maybe(0.5) else a for a in s.arguments))
            if isinstance(s, p.Compute)
            else s
            for s in body
        ]

    def forget_slots(self, names):
        """Use no slot that was named before a loop, which may have written it."""
        names.slots = {}

    def repeat(self, names):
        """Write some statements several times: a loop of Python."""
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
            more, result, element, stack, out = self.result_of_map(names, inside, x, kind, part, parameter)
            body += more
            targets.append(self.name("a"))
            results.append(result)
            elements.append(element)
            stacked.append(stack)
            names.values[targets[-1]] = out
        self.forget_slots(names)
        arguments = map(tuple, (body, results, elements, stacked))
        return [p.MapFn(tuple(targets), x, parameter, *arguments)]

    def result_of_map(self, names, inside, x, kind, part, parameter):
        """Choose what a body gives of which lodcore's rules say what it becomes."""
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
            made = self.set(inside, "sum of rows", [self.recent(same)], VECTOR)
            return [made], made.target, VECTOR.element, True, Kind("float64", 0, (count, WIDTH))
        made = self.set(inside, "sum", [parameter], NUMBER)
        return [made], made.target, NUMBER.element, True, Kind("float64", 0, (count,))

    # -- networks ----------------------------------------------------------------------------------------------------

    def rnn(self, names):
        """Draw a network over the sequences of a level: unpack, a loop over steps, pack."""
        x = self.value(names, lambda kind: kind.levels > 0 and kind.shape[1:] == (WIDTH,))
        if x is None or x in names.slots:
            return None
        kind = names.values[x]
        level = int(self.random.integers(kind.levels))
        sort = self.maybe(0.65)
        steps, ranks = self.name("steps"), self.name("map")
        how = self.one(["unpack", "instance", "operator", "segment"], [4, 1, 1, 1])
        found = [p.Unpack(steps, ranks, x, level, sort, how)]
        element = Kind("float64", kind.levels - level - 1, (self.length(), WIDTH))
        info = ArrayInfo("VarArray" if how == "segment" else "TensorArray", element, True, False, ranks)
        names.arrays[steps] = info
        table = ranks
        if sort and level == 0 and self.maybe(0.5):
            table = self.name("table")
            found.append(p.Compute(table, "lod_rank_table", (x,)))
        elif self.maybe(0.3):
            table = self.name("table")
            found.append(p.Compute(table, "rank of steps", (steps,)))
        boot, more = self.boot_state(names, x, kind, level, steps, table, sort)
        found += more
        size = self.name("a")
        found.append(p.Ask(size, "size", steps))
        names.values[size] = INTEGER
        return found + self.network(names, kind, level, steps, ranks, table, boot, size, element)

    def boot_state(self, names, x, kind, level, steps, table, sort):
        """Draw the first state: one row a sequence of the level, in the order of the steps."""
        pooled = self.name("a")
        found, here = [], x
        rows = kind
        for _ in range(kind.levels - level):  # down to one row a sequence of the level
            pooled = self.name("a")
            found.append(p.Compute(pooled, self.one(["pool mean", "pool sum", "pool last"]), (here,)))
            here, rows = pooled, rows._replace(levels=rows.levels - 1)
        if level:  # rows of all sequences behind each other
            array, flat = self.name("array"), self.name("a")
            found += [p.Unstack(array, here), p.Ask(flat, "concat", array)]
            here = flat
        boot = self.name("boot")
        if sort or self.maybe(0.5):
            how = ("boot", (steps, here)) if self.maybe(0.3) else ("reorder_by_rank", (here, table))
        else:
            how = ("tanh", (here,))
        return boot, [*found, p.Compute(boot, *how)]

    def network(self, names, kind, level, steps, ranks, table, boot, size, element):
        """Draw the loop over the steps: where the state is kept is the corner."""
        inside = names.inside()
        counter, guard = self.guard(names, inside, size)
        counter = replace(counter, init=self.one([None, 0]), advance=None)
        where = self.one(["variable", "VarArray", "TensorArray", "slots"])
        t, here, state, outputs = counter.target, self.name("a"), self.name("h"), self.name("outputs")
        states = self.name("states")
        before, declared, body, after = [], [], [], []
        dense = Kind("float64", 0, (self.length(), WIDTH))
        made = ["VarArray", "TensorArray"][int(self.maybe(0.6))]
        before.append(p.Make(outputs, made, self.one([None, None, size]), True, element.element if element.levels and False else dense.element))
        if where == "variable":
            last = self.name("s")
            declared.append(p.Declare(last, boot))
            body.append(p.Compute(here, "shrink_memory", (last, t, table)))
        else:
            before.append(p.Make(states, "TensorArray" if where == "TensorArray" else "VarArray", None, True, dense.element))
            last, earlier = self.name("a"), self.name("i")
            body.append(p.Compute(earlier, self.one(["-", "minus"]), (t, 1)))
            if where == "slots":
                body.append(p.Get(last, states, earlier, boot))
            else:
                body.append(p.Read(last, states, earlier, boot, "default"))
            body.append(p.Compute(here, "shrink_memory", (last, t, table)))
        step = self.name("a")
        if element.levels == 0 and names.arrays[steps].kind == "VarArray" and self.maybe(0.5):
            body.append(p.Get(step, steps, t))
        else:
            body.append(p.Read(step, steps, t, None, self.one(["read", "[]"])))
        rows = step
        for _ in range(element.levels):
            pooled = self.name("a")
            body.append(p.Compute(pooled, self.one(["pool sum", "pool mean"]), (rows,)))
            rows = pooled
        left, right, both = self.name("a"), self.name("a"), self.name("a")
        body.append(p.Compute(left, self.one(["@", "matmul"]), (rows, "W")))
        body.append(p.Compute(right, *self.one([("@", (here, "W")), ("mul", (here, "v")), ("*", (here, 0.5))])))
        body.append(p.Compute(both, self.one(["+", "add", "mul"]), (left, right)))
        body.append(p.Compute(state, self.one(["tanh", "sigmoid"]), (both,)))
        extra = self.statements(inside) if self.maybe(0.3) and self.budget > 0 else []
        if where == "variable":
            after.append(p.Update(last, state))
        else:
            after.append(p.Write(states, t, state, self.one(["update", "slot"] if where != "TensorArray" else ["write", "[]"])))
        after.append(p.Write(outputs, t, state, self.one(["write", "[]", "copy"])))
        if self.maybe(0.5):
            after.reverse()
        packed = self.name("a")
        levels = level + 1
        names.values[packed] = Kind("float64", levels, (kind.shape[0] if levels == kind.levels else self.length(), WIDTH))
        names.values[counter.target] = INTEGER
        rest = [*extra, *body, *after]
        at = 0 if self.maybe(0.85) else len(extra)
        loop = p.Loop(self.name("loop"), (counter, *declared, *rest[:at], *guard, *rest[at:]), 1 if self.maybe(0.1) else None)
        return [*before, loop, p.Ask(packed, "pack", outputs, (level, ranks))]

    def batch_as_state(self, names):
        """Draw a loop whose state is a batch of sequences that shrinks."""
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

    # -- what is wrong ---------------------------------------------------------------------------------------------

    def sabotaged(self, program):
        """Make a program wrong in one place."""
        loops = [s for s in program.body if isinstance(s, p.Loop)]
        if not loops:
            return program
        loop = self.one(loops)
        at = program.body.index(loop)
        made_inside = [s.target for s in loop.body if isinstance(s, p.Read) or is_recorded(s)]
        arrays_inside = [s.target for s in loop.body if isinstance(s, (p.Make, p.Unstack))]
        inner = [s for s in loop.body if isinstance(s, p.Loop)]
        choices = ["no break"]
        choices += ["value outside"] * bool(made_inside) + ["array outside", "array written outside"] * bool(arrays_inside)
        variables = [s.target for s in loop.body if isinstance(s, p.Declare)]
        choices += ["update from inside"] * bool(inner and variables)
        choices += ["init"] * bool(made_inside)
        floating = [d for d in loop.body if isinstance(d, p.Declare) and isinstance(d.init, float)]
        choices += ["wrong update"] * (2 * bool(floating))
        arrays = [name for name, _ in program.outside] + [s.target for s in program.body[:at] if isinstance(s, p.Make)]
        choices += ["array as a loop variable"] * bool(arrays)
        which = self.one(choices)
        body = list(program.body)
        name = self.name("wrong")
        if which == "no break":
            body[at] = replace(loop, body=tuple(s for s in loop.body if not isinstance(s, p.Break)))
        elif which == "value outside":
            body.insert(at + 1, p.Compute(name, self.one(["tanh", "float", "sum"]), (self.one(made_inside),)))
        elif which == "array outside":
            body.insert(at + 1, p.Ask(name, self.one(["stack", "size", "concat"]), self.one(arrays_inside)))
        elif which == "array written outside":
            body.insert(at + 1, p.Write(self.one(arrays_inside), 0, "v"))
        elif which == "wrong update":
            wrong = self.one([v for v in ("W", "v", "n", "x", "q") if v in program.inputs])
            body[at] = replace(loop, body=(*loop.body, p.WrongUpdate(self.one(floating).target, wrong)))
        elif which == "array as a loop variable":
            body[at] = replace(loop, body=(p.Declare(name, self.one(arrays)), *loop.body))
        elif which == "init":
            body[at] = replace(loop, body=(*loop.body, p.Declare(name, self.one(made_inside))))
        else:
            chosen = self.one(inner)
            variable = self.one(variables)
            changed = replace(chosen, body=(*chosen.body, p.Update(variable, variable)))
            body[at] = replace(loop, body=tuple(changed if s is chosen else s for s in loop.body))
        return replace(program, body=tuple(body))


# -- programs that mean something ----------------------------------------------------------------------------------


def draw_program(seed):
    """Draw a program, its feeds, what is a parameter, and what it means; draw again what means nothing certain."""
    for attempt in range(1000):
        draw = Draw((seed, attempt))
        program, feeds, fixed = draw.program()
        try:
            meanings = [meaning(program, feed) for feed in feeds]
        except (TypeError, ValueError, AttributeError, RuntimeWarning, OverflowError, p.Endless):
            continue  # shapes that do not fit, which lodcore says while it is recorded or when it runs
        if any(found.error for found in meanings) and not draw.maybe(0.2):
            continue
        if not any(found.error for found in meanings) and draw.maybe(0.06):
            program = draw.sabotaged(program)
            meanings = [meaning(program, feed) for feed in feeds]
        if all(found.is_smooth for found in meanings):
            return program, feeds, fixed, meanings
    raise AssertionError("no program is drawn")
