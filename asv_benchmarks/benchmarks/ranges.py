"""Ranges of numbers, one per sequence."""

import numpy as np

import lodcore

from .common import Times


class Arange(Times, widths=[1]):
    """Make a range of each length."""

    def lodcore(self, batch):
        lengths = batch.lengths
        return lambda: lodcore.arange(lengths)

    def flat(self, batch):
        lengths, offsets = batch.lengths, batch.offsets
        return lambda: np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
