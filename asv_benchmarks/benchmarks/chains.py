"""Chains of elementwise operators of a Program, beside one after another in NumPy; forward, and with gradients."""

import numpy as np

import lodcore
from lodcore.graph import Executor, Program, append_backward, data, parameter

from .graph import Timed

CELLS = 1 << 20


class Chain(Timed):
    """tanh(x * w + b), or (((x * w + b) * x) - b) * w, of a million numbers of float32.

    - together: a Program
    - numpy: the same functions of arrays
    - gradients: the Program with the gradients of the sum by x, w and b
    """

    params = [["together", "numpy", "gradients"], ["tanh", "cheap"], [1, 16, 64, 256]]
    param_names = ["way", "chain", "width"]

    def prepared(self, way, chain, width):
        random = np.random.default_rng(0)
        x = random.normal(size=(CELLS // width, width)).astype(np.float32)
        w, b = (random.normal(size=width).astype(np.float32) for _ in "wb")
        if way == "numpy":
            return lambda: function(chain, x, w, b)
        with Program() as program:
            given = data("x", (None, width), "float32")
            lines = [parameter(value, name) for name, value in (("w", w), ("b", b))]
            fetch = [function(chain, given, *lines)]
            if way == "gradients":
                loss = lodcore.ops.sum(fetch[0])
                fetch = [loss, *append_backward(loss, parameters=[given, *lines])]
        executor = Executor()
        return lambda: executor.run(program, {"x": x}, fetch)


def function(chain, x, w, b):
    return np.tanh(x * w + b) if chain == "tanh" else ((x * w + b) * x - b) * w
