"""A training step: loss and gradients of a small network over sequences, clipping, and the optimizer."""

import numpy as np

import lodcore
from lodcore import LoDTensor, nn

SEED, WORDS, WIDTH, CLASSES = 7, 10_000, 64, 10
LAYERS = {
    "words": nn.Embedding(WORDS, WIDTH),
    "norm": nn.LayerNorm(WIDTH),
    "attention": nn.AdditiveAttention(WIDTH, WIDTH, WIDTH),
    "out": nn.Linear(WIDTH, CLASSES),
}


def loss(parameters, documents, labels, rng, kind):
    """Look up words, apply dropout, attend to them with a learned query, and classify."""
    x = nn.dropout(LAYERS["words"](parameters["words"], documents), 0.1, rng)
    x = LAYERS["norm"](parameters["norm"], x)
    query = np.zeros((len(documents), 1), np.float32) + parameters["query"]
    if kind == "dot":
        context, _ = nn.dot_attention(query, x)
    else:
        context, _ = LAYERS["attention"](parameters["attention"], query, x)
    return lodcore.mean(nn.cross_entropy(LAYERS["out"](parameters["out"], context), labels, label_smoothing=0.1))


class Step:
    """Seconds of a step for a batch of sequences of about 20 words."""

    params = [["dot", "additive"], [32, 256]]
    param_names = ["attention", "sequences"]
    repeat = (3, 20, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, kind, sequences):
        self.rng, self.kind = np.random.default_rng(SEED), kind
        lengths = self.rng.integers(1, 40, sequences)
        self.documents = LoDTensor.from_lengths(self.rng.integers(0, WORDS, lengths.sum()), lengths)
        self.labels = self.rng.integers(0, CLASSES, sequences)
        self.parameters = {name: layer.init(self.rng) for name, layer in LAYERS.items()}
        self.parameters["query"] = np.ones(WIDTH, np.float32)
        self.optimizer = nn.AdamW(1e-3)
        self.state = self.optimizer.init(self.parameters)
        self.loss_and_gradients = lodcore.value_and_grad(loss)

    def time_loss_and_gradients(self, *parameters):
        self.loss_and_gradients(self.parameters, self.documents, self.labels, self.rng, self.kind)

    def time_step(self, *parameters):
        _, gradients = self.loss_and_gradients(self.parameters, self.documents, self.labels, self.rng, self.kind)
        gradients, _ = nn.clip_by_global_norm(gradients, 1.0)
        self.optimizer.step(self.parameters, gradients, self.state, in_place=True)
