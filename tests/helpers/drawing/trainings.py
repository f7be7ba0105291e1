"""Draw Programs as users write them: layers, branches, loops, dropout and steps of optimizers on one batch."""

from __future__ import annotations

import random

import numpy as np

import lodcore
from lodcore import LoDTensor, TensorArray, nn, ops
from lodcore.graph import IfElse, Program, append_backward, cond, data, map_fn, parameter, while_loop

GENERATORS = (np.random.PCG64, np.random.Philox, np.random.SFC64, np.random.MT19937)
NAMES = ("total", "é/", "a b", "x#")


class Drawing:
    """One Program that is drawn: `x` is a batch of sequences of rows, `d` has one row per sequence, all are 2 wide."""

    def __init__(self, seed):
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        kind = self.random.choice(GENERATORS)
        self.generators = [np.random.Generator(kind(seed + j)) for j in range(2)]
        self.parameters = {}

    def choose(self, *choices):
        return self.random.choice(choices)

    def hold(self, value):
        """Return a value as parameters, a single one with a name or without."""
        key = f"p{len(self.parameters)}"
        named = isinstance(value, np.ndarray) and self.random.random() < 0.6
        made = parameter(value, key) if named else lodcore.tree_map(parameter, value)
        self.parameters[key] = made
        return made

    def weight(self, *shape):
        return self.hold(self.rng.normal(size=shape) * 0.5)

    def drop(self, x):
        return nn.dropout(x, self.choose(0.2, 0.5), self.choose(*self.generators))

    def sequences(self, x, d, depth=0):
        """Return a batch of the same sequences."""
        return self.choose(*SIMPLE, *(NESTED if depth < 3 else ()))(self, x, d, depth)

    def rows(self, x, d):
        """Return one row per sequence."""
        return self.choose(*ROWS)(self, x, d)


def looped(g, x, d, depth):
    loop, count, later = while_loop(max_steps=g.choose(None, 7)), g.random.randrange(1, 4), g.choose(False, True)
    with loop.loop(exec_immediately=not later):
        t, state = loop.loop_var(0), loop.loop_var(x)
        loop.break_if(t >= count)
        state.update(g.sequences(state, d, depth + 1))
    if later:
        loop()
    return state * 1.0


def in_steps(g, x, d, depth):
    steps, places = TensorArray.unpack(x, 0, g.choose(True, False))
    outputs, loop = TensorArray(), while_loop()
    with loop.loop():
        t = loop.loop_var(0)
        loop.break_if(t >= steps.size())
        outputs.write(t, cond(t > 1, lambda v: v * 2.0, lodcore.tanh, steps.read(t)))
    return outputs.pack(0, places)


def blocks(g, x, d, depth):
    branches = IfElse(lodcore.lod_lengths(x) > 1)
    with branches.true_block():
        branches.output(g.sequences(branches.input(x), branches.input(d), depth + 1))
    with branches.false_block():
        branches.output(branches.input(x) * g.weight())
    return branches()[0]


def recurrent(g, x, d, depth):
    layer = g.choose(nn.GRU, nn.LSTM, nn.SimpleRNN)(2, 2)
    return layer(g.hold(layer.init(g.rng, np.float64)), x, is_reverse=g.choose(True, False))[0]


def own_cell(g, x, d, depth):
    w, u, drops = g.weight(2, 2), g.weight(2, 2), g.choose(True, False)

    def cell(parameters, row, state):
        state = lodcore.tanh(row @ w + state @ u)
        return (state, g.drop(state)) if drops else (state, state)

    return nn.dynamic_rnn(cell, None, x, d)[0]


def by_mask(g, x, d, depth):
    branch = [lambda x, d: g.sequences(x, d, depth + 1)] * 2
    return cond(lodcore.lod_lengths(x) > g.random.randrange(3), *branch, x, d)


def by_number(g, x, d, depth):
    return cond(ops.sum(x) > g.random.uniform(-1, 1), lambda x: g.sequences(x, d, depth + 1), lambda x: x * 1.0, x)


SIMPLE = (
    lambda g, x, d, depth: lodcore.tanh(x),
    lambda g, x, d, depth: x @ g.weight(2, 2) + g.weight(2),
    lambda g, x, d, depth: lodcore.sequence_softmax(x) * x,
    lambda g, x, d, depth: g.drop(x),
    lambda g, x, d, depth: lodcore.sequence_reverse(x),
    lambda g, x, d, depth: x * lodcore.sequence_expand_as(d, x),
    lambda g, x, d, depth: lodcore.where(x > 0.1, x, x * 0.5),
    lambda g, x, d, depth: map_fn(lambda one, row: lodcore.tanh(one) * row, (x, d)),
    lambda g, x, d, depth: x[:, ::-1],
    lambda g, x, d, depth: x - x.mean(axis=1, keepdims=True),
    lambda g, x, d, depth: lodcore.stop_gradient(x) * x + g.weight(2),
    lambda g, x, d, depth: lodcore.lookup_table(g.weight(4, 2), ops.cast(x.sum(axis=-1) > 0, np.int64)) * x,
    in_steps,
    recurrent,
    own_cell,
)

NESTED = (looped, blocks, by_mask, by_number)

ROWS = (
    lambda g, x, d: lodcore.sequence_pool(x, g.choose("sum", "mean", "sqrt", "max", "last", "first")),
    lambda g, x, d: d @ g.weight(2, 2),
    lambda g, x, d: g.drop(d),
    lambda g, x, d: cond(d[:, 0] > 0, lambda d: d * 2.0, lambda d: d + g.weight(2), d),
    lambda g, x, d: map_fn(lambda row: {"x": row * 2.0, "y": ops.sum(row)}, d)["x"],
)

OPTIMIZERS = (
    lambda: nn.SGD(0.1),
    lambda: nn.SGD(nn.step_schedule(0.1, 0.5, 2), momentum=0.9),
    lambda: nn.Adam(0.05),
    lambda: nn.AdamW(nn.cosine_schedule(0.1, 5, 1), weight_decay=0.1),
)


def draw_batch(g):
    """Return sequences and one row for each."""
    lengths = [g.choose(0, 1, 1, 2, 3) for _ in range(g.random.randrange(5))]
    rows = LoDTensor.from_lengths(g.rng.normal(size=(sum(lengths), 2)), lengths)
    return {"x": rows, "d": g.rng.normal(size=(len(lengths), 2))}


def draw_loss(g, x, d):
    """Return a loss, and the sums of what it is computed from."""
    sums = []
    for _ in range(g.random.randrange(2, 7)):
        x = g.sequences(x, d)
        d = g.rows(x, d) if g.choose(True, False) else d
        sums += [ops.sum(x), ops.sum(d)]  # of all, since what nothing needs draws no random numbers in a Program
    return ops.sum(x * x) + ops.sum(d * d), sums


def draw_training(seed, runs=4):
    """Return a Program, the feeds of some runs, and what each fetches by name."""
    g = Drawing(seed)
    with Program() as program:
        x, d = (
            data("x", (None, 2), "float64", num_levels=1),
            data("d", (None, 2), "float64", cast=g.choose(True, False)),
        )
        loss, sums = draw_loss(g, x, d)
        loss = lodcore.mul(loss, 1.0, name="loss")
        named = [lodcore.mul(one, 1.0, name=f"{g.choose(*NAMES)}{number}") for number, one in enumerate(sums)]
        names = ["loss", *[one.name for one in named]]
        leaves, how = lodcore.tree_leaves(g.parameters), g.choose("use", "update", "learn", "learn")
        if how == "update":
            for v in leaves[:2]:
                v.update(v * 0.9)
        elif how == "learn" and leaves:
            gradients = append_backward(loss, parameters=g.parameters)
            if g.choose(True, False):
                gradients, _ = nn.clip_by_global_norm(gradients, 1.0)
            g.choose(*OPTIMIZERS)().step(g.parameters, gradients)
            names += [name for name in ("x@GRAD", "d@GRAD") if name in program.names]
    feeds = [draw_batch(g) for _ in range(runs)]
    return program, feeds, [g.random.sample(names, g.random.randrange(len(names) + 1)) for _ in feeds]
