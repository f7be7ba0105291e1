"""Sorting positions of the rows of sequences, and quantiles."""

import numpy as np

from lodcore import sequence_argsort, sequence_median, sequence_quantile, sequence_sort

from .common import Times

CHANCES = [0.1, 0.25, 0.5, 0.75, 0.9]


class ArgSort(Times):
    """Find the positions that sort the rows of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_argsort(x)

    def flat(self, batch):
        values, ids = batch.values, np.repeat(np.arange(len(batch)), batch.lengths)
        return lambda: np.lexsort((values, ids)) - np.repeat(batch.offsets[:-1], batch.lengths)

    def arrays(self, batch):
        parts = batch.arrays
        return lambda: np.concatenate([np.argsort(part, kind="stable") for part in parts])


class SortText(Times):
    """Sort numbers in the form of text."""

    def lodcore(self, batch):
        x = batch.tensor.with_values(batch.values.astype("U8"))
        return lambda: sequence_sort(x)

    def arrays(self, batch):
        parts = [part.astype("U8") for part in batch.arrays]
        return lambda: np.concatenate([np.sort(part) for part in parts])


class Median(Times):
    """Compute the median of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_median(x)

    def arrays(self, batch):
        parts = [part for part in batch.arrays if len(part)]
        return lambda: [np.median(part) for part in parts]


class Quantiles(Times):
    """Compute five quantiles of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_quantile(x, CHANCES)

    def arrays(self, batch):
        parts = [part for part in batch.arrays if len(part)]
        return lambda: [np.quantile(part, CHANCES) for part in parts]
