"""Cells of many operators: they are compiled in time that grows with their number, however deep and however shared."""

import numpy as np

from lodcore import LoDTensor
from tests.helpers.random_cells import COMPILED_CELLS, assert_near, compilations, operator_by_operator, run
from tests.helpers.tables import for_each

pytestmark = COMPILED_CELLS


def chain(p, x, h):
    for _ in range(370):  # of three operators each, deeper than Python's stack
        h = np.tanh(h * 0.9 + x)
    return h, h


def squares(p, x, h):
    for _ in range(60):  # a value that is read twice, sixty times: 2**60 ways through it
        h = h * h * 0.5 + x
    return h, np.tanh(h)


def sums(p, x, h):
    for _ in range(60):
        h = (h + h) * 0.5 * h + (h - x) * h
        h = np.tanh(h)
    return h, h


@for_each("cell", [chain, squares, sums])
def test_a_cell_of_many_operators_is_compiled(cell):
    random = np.random.default_rng(1)
    x = LoDTensor.from_lengths((random.standard_normal((4, 2)) * 0.1).astype("f4"), [3, 1])
    state = (random.standard_normal((2, 2)) * 0.1).astype("f4")
    with operator_by_operator():
        wanted = run(lambda *given: cell(*given), {}, x, state)
    with compilations() as compiled:
        found = run(cell, {}, x, state)
    assert compiled == [True]
    for one, other, what in zip(found, wanted, ("results", "gradients"), strict=True):
        assert_near(one, other, what)
