"""Reductions over windows that end at each row."""

import numpy as np

import lodcore

from .common import Times

SIZE = 10


class RollingMean(Times):
    """Compute the mean of the last ten rows."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_rolling(x, SIZE)

    def arrays(self, batch):
        parts = [part for part in batch.arrays if len(part) >= SIZE]
        windows = np.lib.stride_tricks.sliding_window_view
        return lambda: [windows(part, SIZE).mean(1) for part in parts]


class RollingMaximum(Times):
    """Compute the maximum of the last ten rows."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_rolling(x, SIZE, "max")

    def arrays(self, batch):
        parts = [part for part in batch.arrays if len(part) >= SIZE]
        windows = np.lib.stride_tricks.sliding_window_view
        return lambda: [windows(part, SIZE).max(1) for part in parts]


class RollingDeviation(Times):
    """Compute the standard deviation of the last ten rows."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_rolling(x, SIZE, "std")


class RollingMedian(Times):
    """Compute the median of the last ten rows."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_rolling(x, SIZE, "median")
