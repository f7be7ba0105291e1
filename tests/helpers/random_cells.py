"""Random cells over vectors, with parameters, states and inputs, and how they are run."""

import random
from contextlib import contextmanager

import numpy as np
import pytest

import lodcore
from lodcore import kernels, nn, ops
from lodcore.nn.cell_loop import Deferred
from lodcore.nn.cell_steps import CellSteps

#: Marks of the tests of compiled cells.
COMPILED_CELLS = [
    pytest.mark.not_on_reference,
    pytest.mark.skipif(not kernels.matrix.is_fast(), reason="nothing is compiled without fused products"),
]

#: What a cell does with rows x, and y of the same width; `p(*shape)` makes a parameter, q is a random.Random.
STEPS = {
    "add": lambda x, y, p, q: x + y,
    "mul": lambda x, y, p, q: x * y,
    "sub": lambda x, y, p, q: x - y,
    "div": lambda x, y, p, q: x / (1.5 + y * y),
    "sigmoid": lambda x, y, p, q: lodcore.sigmoid(x),
    "tanh": lambda x, y, p, q: np.tanh(x),
    "relu": lambda x, y, p, q: ops.relu(x),
    "columns": lambda x, y, p, q: columns(x, q.randrange(x.shape[1]), q.randrange(x.shape[1])),
    "product": lambda x, y, p, q: x @ p(x.shape[1], q.choice([1, 2, 3, 4, 6])),
    "part of a matrix": lambda x, y, p, q: x @ p(x.shape[1], 5)[:, 1 : q.choice([2, 4])],
    "bias": lambda x, y, p, q: x + p(x.shape[1]),
    "scale": lambda x, y, p, q: x * p(1),
    "where": lambda x, y, p, q: np.where(x > y, x, y * 0.5),
    "larger": lambda x, y, p, q: np.maximum(x, y),
    "smaller": lambda x, y, p, q: np.minimum(x, 0.5),
    "clip": lambda x, y, p, q: np.clip(x, -0.5, 0.5),
    "decay": lambda x, y, p, q: np.exp(-np.abs(x)),
    "square": lambda x, y, p, q: np.square(x) * 0.25,
    "power": lambda x, y, p, q: x**2 - 0.5,
    "numbers": lambda x, y, p, q: 2.0 - x * 0.5,
    "abs": lambda x, y, p, q: np.abs(x),
    "mask": lambda x, y, p, q: x * (x > y),
    "sin": lambda x, y, p, q: np.sin(x),
    "sqrt": lambda x, y, p, q: np.sqrt(1.0 + x * x),
    "mix": lambda x, y, p, q: x * y + x * 0.3 - y,
    "sum": lambda x, y, p, q: x * 0.1 - np.sum(y, axis=1, keepdims=True) * 0.1,
    "mean": lambda x, y, p, q: x - np.mean(x, axis=-1, keepdims=True),
    "numbers of rows": lambda x, y, p, q: x * np.tanh(ops.sum(y, axis=1))[:, None],
    "largest number": lambda x, y, p, q: x * 0.5 - np.max(y, axis=1, keepdims=True) * 0.5,
    "smallest numbers": lambda x, y, p, q: x * np.tanh(ops.min(y, axis=-1))[:, None],
    "parts": lambda x, y, p, q: np.concatenate(np.array_split(x, min(2, x.shape[1]), axis=1)[::-1], axis=1) + y,
    "einsum": lambda x, y, p, q: np.einsum("ij,jk->ik", x, p(x.shape[1], q.choice([1, 3]))),
    "products of rows": lambda x, y, p, q: x - np.einsum("ij,ij->i", x, y).reshape(-1, 1) * 0.1,
    "shape": lambda x, y, p, q: x.reshape(-1, x.shape[1]) * 0.5,
    "reversed": lambda x, y, p, q: x[:, ::-1] * 0.5 + y,
    "logic": lambda x, y, p, q: np.where((x > 0) & ~(y > 0), x, y * 0.5),
    "cube": lambda x, y, p, q: x**3 * 0.1,
    "softmax": lambda x, y, p, q: ops.softmax(x) * y,
    "log_softmax": lambda x, y, p, q: ops.log_softmax(x) * y,
    "norm": lambda x, y, p, q: ops.layer_norm(x, p(x.shape[1]), p(x.shape[1]), 0.1),
    "linear": lambda x, y, p, q: ops.linear(x, p(x.shape[1], 3), p(3)),
    "stop": lambda x, y, p, q: lodcore.stop_gradient(x) * 0.5 + y,
    "like": lambda x, y, p, q: np.ones_like(x) - y,
    "cast": lambda x, y, p, q: x.astype(x.dtype) * 0.5,
}


#: Widths on both sides of one and of several vectors.
WIDE = [7, 15, 16, 17, 31, 33, 47]


def columns(x, start, last):
    return x[:, min(start, last) : max(start, last) + 1]


class Cell:
    """A random cell with everything that it is called with.

    Attributes
    ----------
    parameters : dict
        Filled when the cell is first called.
    x : LoDTensor
    state : tuple of ndarray
    is_reverse : bool
    """

    def __init__(self, seed):
        one, self.seed = random.Random(seed), seed
        self.random = np.random.default_rng(seed)
        self.dtype = np.dtype(one.choice(["f4", "f8"]))
        lengths = [one.choice([0, 1, 1, 2, 3, 6]) for _ in range(one.choice([1, 2, 5, 9]))]
        is_wide = one.random() < 0.3  # beyond the vectors of the machine
        widths = [one.choice(WIDE if is_wide else [1, 2, 3, 4, 6]) for _ in range(one.choice([1, 1, 2, 3]))]
        rows = self.numbers(sum(lengths), one.choice(WIDE if is_wide else [1, 2, 3, 5, 8]))
        self.widest = 70 if is_wide else 12
        self.x = lodcore.LoDTensor.from_lengths(rows, lengths)
        self.state = tuple([self.numbers(len(lengths), width) * (one.random() < 0.7) for width in widths])
        self.state = tuple([state.astype(self.dtype) for state in self.state])
        self.count, self.is_reverse, self.parameters = one.randint(2, 12), one.random() < 0.5, {}

    def numbers(self, *shape):
        return (self.random.standard_normal(shape) * 0.5).astype(self.dtype)

    def __call__(self, parameters, x, states):
        q, pool, made = random.Random(self.seed + 1), [x, *states], []

        def parameter(*shape):
            name = f"p{len(made)}"
            made.append(name)
            if name not in self.parameters:
                self.parameters[name] = self.numbers(*shape)
            return parameters.get(name, self.parameters[name])

        for _ in range(self.count):
            first = q.choice(pool)
            second = q.choice([one for one in pool if one.shape[1] == first.shape[1]])
            if q.random() < 0.1:
                third = np.concatenate([first, q.choice(pool)], axis=1)
            else:
                third = STEPS[q.choice([*STEPS])](first, second, parameter, q)
            pool += [third] if third.shape[1] <= self.widest else []
        outputs = [q.choice(pool) for _ in range(q.choice([1, 1, 2]))]
        following = []
        for state in states:
            fit = [one for one in pool if one.shape[1] == state.shape[1]]
            chosen = q.choice(fit[1:] or fit)
            following.append(chosen if q.random() < 0.15 else np.tanh(chosen) * 0.9)
        return (outputs[0] if len(outputs) == 1 else tuple(outputs)), tuple(following)


@contextmanager
def operator_by_operator():
    """Let bodies of cells run operator by operator."""
    suits = Deferred.__dict__["suits"]
    Deferred.suits = staticmethod(lambda *rest: False)
    try:
        yield
    finally:
        Deferred.suits = suits


@contextmanager
def compilations():
    """Count the bodies that are compiled, and those that are not: a list of bools."""
    of, found = CellSteps.__dict__["of"], []

    def counted(loop, *rest):
        made = of.__func__(CellSteps, loop, *rest)
        found.append(made is not None)
        return made

    CellSteps.of = staticmethod(counted)
    try:
        yield found
    finally:
        CellSteps.of = of


def numbers(*shape, dtype="f4"):
    """Draw small numbers, the same ones for a shape."""
    return (np.random.default_rng(shape).standard_normal(shape) * 0.5).astype(dtype)


def anew(cell):
    """Return a cell that no record is kept for."""

    class Anew:
        def __call__(self, *arguments):
            return cell(*arguments)

    return Anew()


def arrays_of(tree):
    return [np.asarray(getattr(one, "values", one)) for one in lodcore.tree_leaves(tree)]


def run(cell, parameters, x, state, is_reverse=False):
    """Run a cell under vjp; return results and gradients, each a list of arrays."""

    def steps(parameters, x, state):
        return nn.dynamic_rnn(cell, parameters, x, state, is_reverse=is_reverse)

    return with_gradients(steps, parameters, x, state)


def with_gradients(f, *inputs):
    """Return results of a function and gradients of its inputs, each a list of arrays."""
    results, pull = lodcore.vjp(f, *inputs)
    random = np.random.default_rng(7)
    drawn = iter([random.standard_normal(one.shape).astype(one.dtype) for one in arrays_of(results)])
    cotangents = lodcore.tree_map(lambda _: next(drawn), results)
    return arrays_of(results), arrays_of(pull(*cotangents))


def assert_near(found, wanted, what):
    """Compare arrays whose sums were added in another order."""
    assert len(found) == len(wanted)
    for k, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (what, k)
        near = 2e-4 if one.dtype == np.float32 else 1e-9
        size = np.abs(other[np.isfinite(other)]).max(initial=1.0)
        np.testing.assert_allclose(one, other, rtol=near, atol=near * size, err_msg=f"{what} {k}")


def bits(arrays):
    return [array.tobytes() for array in arrays]
