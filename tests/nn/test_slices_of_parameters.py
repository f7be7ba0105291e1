"""Cells that cut their parameters: slices are read where they are, and gradients written where they belong."""

import numpy as np

import lodcore
from lodcore import LoDTensor, nn
from lodcore.graph import Program, parameter
from tests.helpers.random_cells import COMPILED_CELLS, assert_near, bits, compilations, operator_by_operator, run
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS

LENGTHS, WIDTH = [3, 0, 1, 5, 2], 4


def disjoint(p, x, h):
    n = np.tanh(x @ p["w"][:, :WIDTH] + h @ p["w"][:, WIDTH : 2 * WIDTH] + p["b"][:WIDTH])
    return n, n * p["b"][WIDTH:] + h * 0.5


def overlapping(p, x, h):
    h = np.tanh(x @ p["w"][:, 1:5] + h @ p["w"][:, 2:6] + p["b"][2:6]) * p["b"][1:5]
    return h, h


def beside_the_whole(p, x, h):
    """The whole matrix is read, too, and a slice of a slice, and one that is computed with."""
    all_of = x @ p["w"]
    h = np.tanh(all_of[:, :WIDTH] + h @ p["w"][:, :6][:, 2:] + (x * h) @ (p["w"][:, :WIDTH] * 2) + p["b"][-WIDTH:])
    return h + x @ p["w"][:, 4:], h


def empty_and_backwards(p, x, h):
    h = np.tanh(x @ p["w"][::-1][:, :WIDTH] + h @ p["w"][-WIDTH:, :WIDTH] + p["b"][3 : 3 + WIDTH])
    return h, h


def all_by_one_input(p, x, h):
    n = np.tanh(x @ p["w"][:, 3:] + (h @ p["w"][:, :5] + p["b"][:5])) * (x @ p["w"][:, :3]).sum(1, keepdims=True)
    return n, h * 0.5 + n[:, :WIDTH]


def all_by_columns_of_one_input(p, x, h):
    left = np.concatenate([x, x * 2], axis=1)[:, 1 : 1 + WIDTH]
    h = np.tanh(left @ p["w"][:, :WIDTH] + left @ p["w"][:, WIDTH:]) + x @ p["w"][:, :WIDTH] + h * p["b"][:WIDTH]
    return h, h


@for_each(
    "cell",
    [disjoint, overlapping, beside_the_whole, empty_and_backwards, all_by_one_input, all_by_columns_of_one_input],
)
@for_each("dtype", ["f4", "f8"])
def test_slices_have_values_and_gradients_as_in_operators(cell, dtype):
    random = np.random.default_rng(4)
    parameters = {"w": random.standard_normal((WIDTH, 2 * WIDTH)).astype(dtype)}
    parameters["b"] = random.standard_normal(2 * WIDTH).astype(dtype)
    x = LoDTensor.from_lengths(random.standard_normal((sum(LENGTHS), WIDTH)).astype(dtype), LENGTHS)
    state = random.standard_normal((len(LENGTHS), WIDTH)).astype(dtype)
    with operator_by_operator():
        wanted = run(lambda *given: cell(*given), parameters, x, state)
    before = {name: value.copy() for name, value in parameters.items()}
    with compilations() as compiled:
        found = [run(cell, parameters, x, state) for _ in range(4)]
    assert compiled
    assert all(compiled)
    for some in found:
        for one, other, what in zip(some, wanted, ("results", "gradients"), strict=True):
            assert_near(one, other, what)
        assert list(map(bits, some)) == list(map(bits, found[0]))
    for name, value in before.items():
        np.testing.assert_array_equal(parameters[name], value)
    only = lodcore.value_and_grad(lambda b: lodcore.sum(nn.dynamic_rnn(cell, {**parameters, "b": b}, x, state)[0]))
    both = lodcore.value_and_grad(lambda p: lodcore.sum(nn.dynamic_rnn(cell, p, x, state)[0]))
    np.testing.assert_array_equal(only(parameters["b"])[1], both(parameters)[1]["b"])


def gru(p, x, h):
    gates = lodcore.sigmoid(x @ p["w"][:, : 2 * WIDTH] + h @ p["u"][:, : 2 * WIDTH])
    new = np.tanh(x @ p["w"][:, 2 * WIDTH :] + (gates[:, WIDTH:] * h) @ p["u"][:, 2 * WIDTH :])
    h = h + gates[:, :WIDTH] * (new - h)
    return h, h


@for_each("read", ["all", "half", "twice", "of two inputs"])
def test_an_input_is_multiplied_once_by_all_slices_of_an_array(read):
    def cell(p, x, h):
        if read == "all":
            return gru(p, x, h)
        first = x @ p["w"][:, :WIDTH]
        if read == "half":
            return first + h, h
        if read == "twice":
            return first + x @ p["w"][:, WIDTH:] @ p["v"] + x @ p["w"][:, :WIDTH] + h, h
        return first + (x * h) @ p["w"][:, WIDTH:] @ p["v"], h

    random = np.random.default_rng(1)
    shapes = {"w": (WIDTH, 3 * WIDTH), "u": (WIDTH, 3 * WIDTH), "v": (2 * WIDTH, WIDTH)}
    parameters = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    x = LoDTensor.from_lengths(random.standard_normal((sum(LENGTHS), WIDTH)), LENGTHS)
    state = random.standard_normal((len(LENGTHS), WIDTH))
    with Program() as program:
        given = {name: parameter(value, name) for name, value in parameters.items()}
        nn.dynamic_rnn(cell, given, x, state)
    steps = next(op for op in program.ops if op.name == "recurrence").arguments["loop"]
    multiplied = [op for name, ops in steps.groups if name == "for all rows at once" for op in ops]
    assert len(multiplied) == {"all": 2, "half": 1, "twice": 3, "of two inputs": 1}[read]
    assert len(steps.compiled.body.parts_of_products) == (2 if read == "all" else 0)
