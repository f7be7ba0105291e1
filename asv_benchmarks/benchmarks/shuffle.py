"""Random orders within sequences."""

import numpy as np

import lodcore

from .common import WIDTHS, Times


class ShuffleWithin(Times, widths=WIDTHS):
    """Shuffle the rows of each sequence."""

    def lodcore(self, batch):
        x, rng = batch.tensor, np.random.default_rng(0)
        return lambda: lodcore.sequence_shuffle(x, rng)

    def flat(self, batch):
        values, lengths, rng = batch.values, batch.lengths, np.random.default_rng(0)

        def call():
            ids = np.repeat(np.arange(len(lengths)), lengths)
            return values[np.lexsort((rng.random(len(values)), ids))]

        return call


class Sample(Times, widths=WIDTHS):
    """Draw five rows of each sequence without replacement."""

    def lodcore(self, batch):
        x, rng = batch.tensor, np.random.default_rng(0)
        return lambda: lodcore.sequence_sample(x, 5, rng)
