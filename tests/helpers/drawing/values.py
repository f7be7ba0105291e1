"""Drawing values, indices and computations."""

from __future__ import annotations

import numpy as np

from reference.graph import statements as p
from reference.graph.values import Nested
from tests.helpers.drawing.names import INTEGER, NUMBER, WIDTH, Kind


class Values:
    """Draws computations of programs."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.count = 0
        self.infos = {}
        self.budget = int(self.random.choice([8, 14, 20, 28]))

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
        """Choose a name, preferably a recent one."""
        names = list(names)
        return self.one(names, np.arange(1, len(names) + 1))

    def fresh(self, kind):
        """Make a kind with a new number of rows, or a new structure."""
        return kind if not kind.shape else kind._replace(shape=(self.length(), *kind.shape[1:]))

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

    def set(self, names, function, arguments, kind, prefix="a"):
        """Compute something under a new name."""
        target = self.name(prefix)
        names.values[target] = kind
        return p.Compute(target, function, tuple(arguments))

    def value(self, names, wanted):
        """Choose a float of a kind, sometimes a slot."""

        def suits(kind):
            return wanted(kind) and (kind.dtype == "float64" or (kind == INTEGER and not wanted(NUMBER)))

        slots = [name for name, (_, kind) in names.slots.items() if suits(kind)]
        if slots and self.maybe(0.4):
            return self.one(slots)
        found = names.of(lambda kind: kind.dtype == "float64" and suits(kind)) or names.of(suits)
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
        # NumPy converts a Variable to a number; and the result of indexing a number is computed at recording
        counters = [name for name in names.counters[-1:] if not name.startswith("k")]  # a counter of Python is a number
        counters = [name for name in counters if self.kind_of(names, name).shape == ()]  # a vector selects sequences
        here = [0, 0, 1] if names.depth == 0 else counters if kind.levels else []
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
            return [self.set(names, "sum of rows", [x], kind._replace(shape=kind.shape[1:]))]
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
        """Draw a function of two values of one structure, or of which one is a number or a row."""
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
        if self.maybe(0.25):
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
        """Draw an index, and the statements that compute it."""
        counters = names.counters
        if not counters or self.maybe(0.12):
            return [], self.one([0, 1, 2, 0, *names.integers()[-2:]])
        counter = self.one(counters, np.arange(1, len(counters) + 1) ** 2)
        if self.maybe(0.65):
            return [], counter
        if len(counters) > 1 and self.maybe(0.4):
            first, second = (names.values[name] for name in counters[-2:])
            twice = self.set(names, self.one(["*", "mul"]), [counters[-2], 2], first, "i")
            both = self.set(names, "add", [twice.target, counters[-1]], max(first, second), "i")  # one may have an axis
            return [twice, both], both.target
        function = self.one([("minus", [counter, 1]), ("add", [counter, 1]), ("-", [counter, 1])])
        made = self.set(names, *function, names.values[counter], "i")
        return [made], made.target
