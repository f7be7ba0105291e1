"""Rows and their neighbours within sequences."""

import numpy as np

import lodcore

from .common import WIDTHS, Times


class Diff(Times, widths=WIDTHS):
    """Subtract from each row the one before it."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_diff(x)

    def arrays(self, batch):
        parts = batch.arrays
        return lambda: np.concatenate([np.diff(part, axis=0) for part in parts])

    def flat(self, batch):
        values, kept = batch.values, np.ones(len(batch.values), bool)
        kept[batch.offsets[:-1][batch.lengths > 0]] = False
        return lambda: np.diff(values, axis=0)[kept[1:]]


class Shift(Times, widths=WIDTHS):
    """Shift the rows of each sequence by one position."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_shift(x)

    def flat(self, batch):
        values, starts = batch.values, batch.offsets[:-1][batch.lengths > 0]

        def call():
            moved = np.empty_like(values)
            moved[1:] = values[:-1]
            moved[starts] = 0
            return moved

        return call


class RunningMaximum(Times, widths=WIDTHS):
    """Compute the running maximum."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_accumulate(x, np.maximum)

    def arrays(self, batch):
        parts = batch.arrays
        return lambda: np.concatenate([np.maximum.accumulate(part) for part in parts])


class MovingAverage(Times):
    """Compute the exponential moving average."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sequence_moving_average(x, 0.1)


class Windows(Times):
    """Make windows of four rows, as a level."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: lodcore.sliding_window(x, 4)
