"""The first step of compiled cells: what is multiplied by states of zeros is not computed, and nobody sees it."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, kernels
from lodcore.graph.loops.machine import Compiled
from tests.helpers.random_cells import run
from tests.helpers.tables import for_each

pytestmark = [
    pytest.mark.not_on_reference,
    pytest.mark.skipif(not kernels.matrix.is_fast(), reason="nothing is compiled without fused products"),
]

LENGTHS, WIDTH = [3, 0, 1, 5, 2], 4


def gru(p, x, h):
    both = lodcore.sigmoid(x @ p["x"] + h @ p["g"])
    z, r = both[:, :WIDTH], both[:, WIDTH:]
    n = np.tanh(x @ p["c"] + (r * h) @ p["h"])
    h = h + z * (n - h)
    return h, h


def with_parts(p, x, state):
    """Multiply columns of a state, and products of two states."""
    h, m = state
    m = np.tanh((h[:, 1:3] * m) @ p["m"] + m * 0.5 + x[:, :2])
    h = np.tanh(x @ p["c"] + (h * h) @ p["h"]) * (h @ p["h"]) + x
    return h, (h, m)


CELLS = {"gru": (gru, (WIDTH,)), "parts": (with_parts, (WIDTH, 2))}
SHAPES = {"x": (WIDTH, 2 * WIDTH), "g": (WIDTH, 2 * WIDTH), "c": (WIDTH, WIDTH), "h": (WIDTH, WIDTH), "m": (2, 2)}


@for_each("name", [*CELLS])
@for_each(
    "odd", [None, ("x", np.nan), ("x", np.inf), ("c", np.inf), ("h", np.nan), ("g", 1e30), ("h", 1e38), ("m", -np.inf)]
)
@for_each("is_reverse", [False, True])
def test_zeros_give_what_computing_gives(name, odd, is_reverse, monkeypatch):
    cell, widths = CELLS[name]
    random = np.random.default_rng(3)
    parameters = {key: random.standard_normal(shape).astype("f4") for key, shape in SHAPES.items()}
    rows = random.standard_normal((sum(LENGTHS), WIDTH)).astype("f4")
    if odd is not None:
        (rows if odd[0] == "x" else parameters[odd[0]])[0, 1] = odd[1]
    x, found = LoDTensor.from_lengths(rows, LENGTHS), []
    states = [np.zeros((len(LENGTHS), width), "f4") for width in widths]
    state = states[0] if len(states) == 1 else tuple(states)
    with np.errstate(all="ignore"):
        for computed in (False, True):
            with monkeypatch.context() as patch:
                if computed:
                    patch.setattr(Compiled, "_zeros", lambda self, boots, outer: (False,) * len(boots))
                found.append(run(cell, parameters, x, state, is_reverse))
    for some, others in zip(*found, strict=True):
        for one, other in zip(some, others, strict=True):
            np.testing.assert_array_equal(one, other)
