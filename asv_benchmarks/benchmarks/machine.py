"""Steps of an LSTM as a program of elementwise instructions and products, forward, beside the kernel for LSTMs."""

import numpy as np

import lodcore
from lodcore import nn

SEED = 7


def cell(parameters, x, state):
    """Run one step of an LSTM, written with operators."""
    hidden, inner = state
    width = hidden.shape[1]
    gates = x @ parameters["weight_x"] + hidden @ parameters["weight_h"] + parameters["bias"]
    new, into, keep, out = (gates[:, k * width : (k + 1) * width] for k in range(4))
    inner = lodcore.sigmoid(keep) * inner + lodcore.sigmoid(into) * lodcore.tanh(new)
    hidden = lodcore.sigmoid(out) * lodcore.tanh(inner)
    return hidden, (hidden, inner)


class Steps:
    """Seconds of a batch of words with all gradients of weights."""

    params = [["own cell", "layer"], [32, 128], [64, 256]]
    param_names = ["way", "batch", "width"]
    repeat = (5, 50, 0.1)
    rounds = 1
    warmup_time = 0.02

    def setup(self, way, batch, width):
        random = np.random.default_rng(SEED)
        lengths = np.clip(random.normal(7.5, 2.2, batch).round(), 1, 22).astype(int).tolist()
        rows = random.standard_normal((sum(lengths), width)).astype(np.float32)
        self.x = lodcore.LoDTensor.from_lengths(rows, lengths)
        layer = nn.LSTM(width, width)
        self.parameters = layer.init(random, dtype=np.dtype(np.float32))
        state = np.zeros((batch, width), np.float32)
        self.state = state, state.copy()
        self.run = self.own if way == "own cell" else layer
        self.step = lodcore.value_and_grad(lambda parameters: lodcore.sum(self.run(parameters, self.x)[0]))

    def own(self, parameters, x):
        return nn.dynamic_rnn(cell, parameters, x, self.state)

    def time_forward(self, *parameters):
        self.run(self.parameters, self.x)

    def time_gradients(self, *parameters):
        self.step(self.parameters)
