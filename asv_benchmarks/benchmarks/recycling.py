"""Results in recycled memory, and in fresh pages."""

import numpy as np

from lodcore import (
    gather_sequences,
    get_recycled_bytes,
    sequence_expand_as,
    sequence_pool,
    sequence_reverse,
    set_recycled_bytes,
)

from .common import Batch

ROWS = {"16 KiB": 2**6, "1 MiB": 2**12, "16 MiB": 2**16, "64 MiB": 2**18}  # of 64 float32
OPERATORS = ["gather", "reverse", "expand"]


class Wide:
    """Operators of width 64 whose result is new each time."""

    params = [["recycled", "fresh"], OPERATORS, list(ROWS)]
    param_names = ["memory", "operator", "result"]
    repeat = (5, 30, 1.0)
    warmup_time = 0.05

    def setup(self, memory, operator, result):
        batch = Batch("uniform", 64, rows=ROWS[result])
        x = batch.tensor
        if operator == "gather":
            index = np.random.default_rng(7).permutation(len(x))
            self.call = lambda: gather_sequences(x, index)
        elif operator == "reverse":
            self.call = lambda: sequence_reverse(x)
        else:
            means = sequence_pool(x, "mean")
            self.call = lambda: sequence_expand_as(means, x)
        self.before = get_recycled_bytes()
        set_recycled_bytes(2**27 if memory == "recycled" else 0)

    def teardown(self, *parameters):
        set_recycled_bytes(self.before)

    def time_call(self, *parameters):
        self.call()
