"""Recurrent layers as users call them, fused and looped: a loss of their outputs, and its gradient."""

import numpy as np

from lodcore import LoDTensor, nn, ops, value_and_grad

from .gates import drawn

LAYERS = {
    "simple": nn.SimpleRNN,
    "lstm": nn.LSTM,
    "lstm with all": lambda n_in, width: nn.LSTM(n_in, width, peepholes=True, projection=width // 2, clip=5.0),
    "gru": nn.GRU,
    "bidirectional": lambda n_in, width: nn.Bidirectional(nn.GRU(n_in, width // 2)),
}


class Layers:
    """Seconds of a layer for a batch of words."""

    params = [list(LAYERS), ["fused", "looped"], [64, 256], [32, 128]]
    param_names = ["layer", "way", "width", "sequences"]
    repeat = (5, 30, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, name, way, width, sequences):
        layer = LAYERS[name](width, width)
        if way == "looped" and name == "bidirectional":
            raise NotImplementedError  # it has no cell
        values, offsets, *_ = drawn("simple", width, sequences)
        self.x = LoDTensor.from_offsets(values, offsets)
        self.parameters = layer.init(np.random.default_rng(0))
        self.run = layer if way == "fused" else lambda parameters, x: nn.dynamic_rnn(layer.cell, parameters, x)
        self.step = value_and_grad(lambda parameters, x: ops.sum(self.run(parameters, x)[0]), (0, 1))

    def time_forward(self, *parameters):
        self.run(self.parameters, self.x)

    def time_forward_and_backward(self, *parameters):
        self.step(self.parameters, self.x)


class Documents:
    """Seconds of words to sentences to documents: a layer in each step of a loop, or consecutive layers."""

    params = ["layer in a loop", "layer after layer"]
    param_names = ["way"]
    repeat = (5, 30, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, way):
        random = np.random.default_rng(7)
        sentences, width = random.integers(1, 9, 32), 64
        words = random.integers(1, 20, sentences.sum())
        self.x = LoDTensor.from_lengths(
            random.standard_normal((words.sum(), width)).astype(np.float32), sentences, words
        )
        inner, outer = nn.GRU(width, width), nn.GRU(width, width)
        self.parameters = [inner.init(random), outer.init(random)]

        def cell(parameters, words, state):
            return outer.cell(parameters[1], inner(parameters[0], words)[1], state)

        def looped(parameters, x):
            boot = outer.initial_state(parameters[1], len(sentences))
            return ops.sum(nn.dynamic_rnn(cell, parameters, x, boot, level=0)[1])

        def layered(parameters, x):
            vectors = inner(parameters[0], x)[1]
            return ops.sum(outer(parameters[1], ops.lod_reset(vectors, target_lod=[self.x.offsets.tolist()]))[1])

        self.step = value_and_grad(looped if way == "layer in a loop" else layered)

    def time_forward_and_backward(self, way):
        self.step(self.parameters, self.x)
