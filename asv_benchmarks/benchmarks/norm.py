"""Layer norm of many rows, forward and backward."""

import numpy as np

from lodcore import LoDTensor, nn, vjp

SEED = 7


class LayerNorm:
    """Seconds of a layer for 100,000 rows, and of the backward pass."""

    params = [[16, 64, 512], ["float32", "float64"]]
    param_names = ["width", "dtype"]
    repeat = (3, 20, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, width, dtype):
        random = np.random.default_rng(SEED)
        count = 100_000 * 64 // max(width, 64)
        self.x = LoDTensor.from_lengths(random.standard_normal((count, width)).astype(dtype), [count // 2] * 2)
        self.layer = nn.LayerNorm(width)
        self.parameters = self.layer.init(random, dtype)
        _, self.pullback = vjp(self.layer, self.parameters, self.x)
        self.ones = np.ones((count, width), dtype)

    def time_forward(self, *parameters):
        self.layer(self.parameters, self.x)

    def time_backward(self, *parameters):
        self.pullback(self.ones)
