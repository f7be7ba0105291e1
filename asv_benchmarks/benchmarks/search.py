"""Binary search in sorted sequences, and interpolation, sequence by sequence."""

import numpy as np

import lodcore

from .common import Times


class Search(Times):
    """Search for all rows in their sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        known = lodcore.sequence_sort(x)
        return lambda: lodcore.sequence_searchsorted(known, x)

    def arrays(self, batch):
        parts = [(np.sort(part), part) for part in batch.arrays]
        return lambda: np.concatenate([np.searchsorted(known, part) for known, part in parts])


class Interpolate(Times):
    """Interpolate at all rows between the points of their sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        known = lodcore.sequence_sort(x)
        return lambda: lodcore.sequence_interp(x, known, known)

    def arrays(self, batch):
        parts = [(part, np.sort(part)) for part in batch.arrays if len(part)]
        return lambda: np.concatenate([np.interp(part, known, known) for part, known in parts])
