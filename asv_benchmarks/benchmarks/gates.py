"""Recurrent networks with the product of their inputs, and the backward pass, on batches of words."""

import numpy as np

from lodcore import LoDTensor, dynamic_gru, dynamic_lstm, vjp
from lodcore.ops.networks.gates import GateRule
from lodcore.ops.networks.gru import GRUWeights, gru_backward, gru_forward, simple_backward, simple_forward
from lodcore.ops.networks.lstm import LSTMWeights, lstm_backward, lstm_forward

SEED = 7
GATES = {"lstm": 4, "gru": 3, "simple": 1}


def drawn(cell, width, count, dtype="float32"):
    """Draw a batch of words, mean length 7.5, and the weights of a network."""
    random, gates = np.random.default_rng(SEED), GATES[cell]
    sizes = np.clip(random.normal(7.5, 2.2, count).round(), 1, 22).astype(np.int64)
    offsets = np.append(0, np.cumsum(sizes))
    x = random.standard_normal((offsets[-1], width)).astype(dtype)
    weight, weight_x = (
        (random.standard_normal((width, gates * width)) / np.sqrt(width)).astype(dtype) for _ in range(2)
    )
    return x, offsets, weight, weight_x, np.zeros(gates * width, dtype)


def network(cell, width, count):
    """Make two calls: the forward pass, and both passes."""
    x, offsets, weight, weight_x, bias = drawn(cell, width, count)
    ones = np.ones((len(x), width), x.dtype)
    if cell == "lstm":
        weights = LSTMWeights(weight, weight_x, bias)

        def there():
            return lstm_forward(x, offsets, weights, GateRule())[2]

        return there, lambda: lstm_backward(there(), ones, None)
    forward, backward, rule = {
        "gru": (gru_forward, gru_backward, GateRule()),
        "simple": (simple_forward, simple_backward, 1),
    }[cell]
    weights = GRUWeights(weight, weight_x, bias)

    def start():
        return forward(x, offsets, weights, rule)[1]

    return start, lambda: backward(start(), ones)


class Networks:
    """Seconds of a network for a batch."""

    params = [list(GATES), [64, 256], [32, 128]]
    param_names = ["cell", "width", "sequences"]
    repeat = (5, 50, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, cell, width, sequences):
        self.there, self.there_and_back = network(cell, width, sequences)

    def time_forward(self, *parameters):
        self.there()

    def time_forward_and_backward(self, *parameters):
        self.there_and_back()


class Operators:
    """Seconds of the operators on inputs that are already multiplied, and of their gradients."""

    params = [["lstm", "gru"], [64, 256]]
    param_names = ["operator", "width"]
    repeat = (5, 50, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, operator, width):
        values, offsets, weight, _, bias = drawn(operator, width, 32)
        x = LoDTensor.from_offsets(np.tile(values, GATES[operator]), offsets)
        run = dynamic_lstm if operator == "lstm" else dynamic_gru
        self.call = lambda: run(x, weight, bias)
        results, self.pullback = vjp(run, x, weight, bias)
        self.ones = [np.ones_like(one.values) for one in (results if isinstance(results, tuple) else (results,))]

    def time_call(self, *parameters):
        self.call()

    def time_gradient(self, *parameters):
        self.pullback(*self.ones)
