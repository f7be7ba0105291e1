"""Sorting of the rows of sequences, and the greatest of them."""

import numpy as np

from lodcore import sequence_sort, sequence_topk, vjp

from .common import WIDTHS, Times

K = 4


def filled(batch):
    """Return the padded array with the greatest numbers as padding."""
    padded = batch.padded.copy()
    padded[~batch.mask] = np.inf if padded.dtype.kind == "f" else np.iinfo(padded.dtype).max
    return padded


class Sort(Times, widths=WIDTHS):
    """Sort each sequence: by two keys (`flat`), sequence by sequence (`arrays`), or along an axis (`padded`)."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_sort(x)

    def flat(self, batch):
        values, ids = batch.values, np.repeat(np.arange(len(batch)), batch.lengths)
        if values.ndim > 1:
            return lambda: np.stack([values[np.lexsort((values[:, c], ids)), c] for c in range(values.shape[1])], 1)
        return lambda: values[np.lexsort((values, ids))]

    def arrays(self, batch):
        parts = batch.arrays
        return lambda: np.concatenate([np.sort(part, axis=0) for part in parts])

    def padded(self, batch):
        padded = filled(batch)
        return lambda: np.sort(padded, axis=1)

    def copy(self, batch):
        return batch.values.copy


class SortDtypes(Sort, distributions=["nlp"], dtypes=["float32", "float64", "int64", "uint8"], widths=[1]):
    """Sort each sequence, for several dtypes."""


class SortGradient(Times, widths=WIDTHS):
    """Run only the backward pass of sorting."""

    def lodcore(self, batch):
        _, pullback = vjp(sequence_sort, batch.tensor)
        cotangent = batch.values
        return lambda: pullback(cotangent)


class TopK(Times, widths=WIDTHS):
    """Select the 4 greatest rows of each sequence, and their positions."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_topk(x, K)

    def flat(self, batch):
        values, offsets, ids = batch.values, batch.offsets, np.repeat(np.arange(len(batch)), batch.lengths)
        kept = np.minimum(batch.lengths, K)
        starts = np.cumsum(kept) - kept
        first = np.repeat(offsets[:-1] - starts, kept) + np.arange(kept.sum())

        def one_column(column):
            order = np.lexsort((-column, ids))[first]
            return column[order], order - np.repeat(offsets[:-1], kept)

        if values.ndim > 1:
            return lambda: [one_column(values[:, c]) for c in range(values.shape[1])]
        return lambda: one_column(values)

    def padded(self, batch):
        padded = batch.padded.copy()
        padded[~batch.mask] = -np.inf

        def call():
            k = min(K, padded.shape[1])
            best = np.argpartition(padded, padded.shape[1] - k, axis=1)[:, -k:]
            scores = np.take_along_axis(padded, best, 1)
            order = np.argsort(-scores, axis=1)
            return np.take_along_axis(scores, order, 1), np.take_along_axis(best, order, 1)

        return call
