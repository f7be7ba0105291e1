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
        parts = [part for part in batch.arrays if len(part)]
        return lambda: [np.std(part, axis=0) for part in parts]
