"""Attention over 1,000 sequences of about 30 rows: by dot products and additive, forward and backward."""

import numpy as np

from lodcore import LoDTensor, nn, vjp

SEED, COUNT = 7, 1000


def batch(width, several):
    """Make queries and a memory of float32."""
    random = np.random.default_rng(SEED)
    lengths = random.integers(20, 41, COUNT)
    memory = LoDTensor.from_lengths(random.standard_normal((lengths.sum(), width), np.float32), lengths)
    return (memory if several else random.standard_normal((COUNT, width), np.float32)), memory


class Attention:
    """Seconds of attention, and of its gradients; with one query per sequence, or one per row."""

    params = [["dot", "additive"], ["one query", "several"], [64]]
    param_names = ["kind", "queries", "width"]
    repeat = (3, 20, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, kind, queries, width):
        query, memory = batch(width, queries == "several")
        layer = nn.AdditiveAttention(width, width, 16)
        parameters = layer.init(np.random.default_rng(SEED))
        if kind == "dot":
            self.call, self.given = (lambda query, memory: nn.dot_attention(query, memory)[0]), (query, memory)
        else:
            self.call, self.given = (lambda *given: layer(*given)[0]), (parameters, query, memory)
        result = self.call(*self.given)
        self.ones = np.ones_like(getattr(result, "values", result))

    def time_forward(self, *parameters):
        self.call(*self.given)

    def time_forward_and_backward(self, *parameters):
        vjp(self.call, *self.given)[1](self.ones)
