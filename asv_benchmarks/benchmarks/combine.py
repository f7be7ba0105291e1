"""Combinations of elements: pairs of one sequence, pairs of two, several sequences interleaved."""

import numpy as np

import lodcore
from lodcore import LoDTensor

from .common import WIDTHS, Times


def short(batch):
    """Keep at most 8 rows of each sequence: all pairs of long ones would not fit into memory."""
    return lodcore.sequence_truncate(batch.tensor, 8)


class Pairs(Times, widths=WIDTHS):
    """Pair each row of a sequence with those that follow it."""

    def lodcore(self, batch):
        x = short(batch)
        return lambda: lodcore.sequence_pairs(x)

    def flat(self, batch):
        x = short(batch)
        values, offsets = x.values, x.offsets

        def call():
            ends = np.repeat(offsets[1:], np.diff(offsets))
            counts = ends - np.arange(len(values)) - 1
            first = np.repeat(np.arange(len(values)), counts)
            begins = np.cumsum(counts) - counts
            second = first + 1 + np.arange(len(first)) - begins[first]
            return values[first], values[second]

        return call


class Cartesian(Times, widths=WIDTHS):
    """Pair each row of a sequence with all rows of another one."""

    def lodcore(self, batch):
        x = short(batch)
        return lambda: lodcore.cartesian(x, x)


class Interleave(Times, widths=WIDTHS):
    """Join two batches, with their rows in turn."""

    def lodcore(self, batch):
        x = batch.tensor
        y = LoDTensor(x.values[::-1].copy(), x.lod)
        return lambda: lodcore.sequence_interleave([x, y])
