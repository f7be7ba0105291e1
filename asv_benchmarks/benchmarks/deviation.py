"""Standard deviations of sequences."""

import numpy as np

from lodcore import sequence_std

from .common import WIDTHS, Times


class Deviation(Times, widths=WIDTHS):
    """The standard deviation of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_std(x)

    def arrays(self, batch):
        parts = batch.arrays
        return lambda: np.stack([np.std(part, axis=0) for part in parts])

    def flat(self, batch):
        values, starts, lengths = batch.values, batch.offsets[:-1], batch.lengths

        def call():
            wide = lengths.reshape(-1, *[1] * (values.ndim - 1))
            means = np.add.reduceat(values, starts) / wide
            return np.sqrt(np.add.reduceat((values - np.repeat(means, lengths, axis=0)) ** 2, starts) / wide)

        return call
