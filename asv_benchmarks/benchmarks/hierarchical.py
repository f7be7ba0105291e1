"""Words, sentences and documents of real text: training steps of a hierarchical GRU, on glosses of WordNet.

`asv_benchmarks/peers/documents.py` trains it on all glosses, and compares it with PyTorch padded on both levels.
"""

import numpy as np

from lodcore import nn, value_and_grad
from lodcore.demo.glosses.data import load
from lodcore.demo.glosses.hierarchical import Reader, ReaderSettings


class Step:
    """Seconds of a step for a batch of glosses."""

    params = [[32, 128], [64, 128]]
    param_names = ["documents", "width"]
    repeat = (3, 20, 0.3)
    rounds = 1
    warmup_time = 0.02

    def setup(self, documents, width):
        glosses, self.rng = load(), np.random.default_rng(7)
        index = self.rng.permutation(len(glosses.train.topics))[:documents]
        self.batch = glosses.train.documents[index], glosses.train.topics[index]
        settings = ReaderSettings(width=width, num_hidden=width)
        self.reader = Reader(len(glosses.words), len(glosses.topics), settings)
        self.parameters, self.optimizer = self.reader.init(self.rng), nn.Adam(1e-3)
        self.state = self.optimizer.init(self.parameters)
        self.loss_and_gradients = value_and_grad(self.reader.loss)

    def time_logits(self, *parameters):
        self.reader.logits(self.parameters, self.batch[0])

    def time_loss_and_gradients(self, *parameters):
        self.loss_and_gradients(self.parameters, *self.batch, self.rng)

    def time_step(self, *parameters):
        _, gradients = self.loss_and_gradients(self.parameters, *self.batch, self.rng)
        self.optimizer.step(self.parameters, gradients, self.state, in_place=True)


class PaddedSize:
    """How many times more words the same batch has if it is padded on both levels."""

    params = [32, 128]
    param_names = ["documents"]

    def setup(self, documents):
        glosses = load().train.documents
        self.documents = glosses[np.random.default_rng(7).permutation(len(glosses))[:documents]]

    def track_ratio(self, documents):
        sentences, words = (self.documents.lod.lengths(level) for level in (0, 1))
        return len(sentences) * int(sentences.max()) * int(words.max()) / self.documents.num_rows
