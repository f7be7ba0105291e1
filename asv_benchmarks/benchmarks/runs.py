"""Distinct values of sequences, ranks among them, and runs of equal rows."""

import numpy as np

import lodcore

from .common import Times


def whole_numbers(batch):
    """Return the batch as integers, many of them equal."""
    numbers = (np.abs(np.nan_to_num(batch.values)) * 8).astype(np.int64) % 50
    return batch.tensor.with_values(numbers), numbers, np.repeat(np.arange(len(batch)), batch.lengths)


class Unique(Times):
    """Find the distinct values of each sequence."""

    def lodcore(self, batch):
        x = whole_numbers(batch)[0]
        return lambda: lodcore.sequence_unique(x)

    def flat(self, batch):
        _, numbers, ids = whole_numbers(batch)
        return lambda: np.unique(ids * 64 + numbers) % 64


class CountUnique(Times):
    """Count the distinct values of each sequence."""

    def lodcore(self, batch):
        x = whole_numbers(batch)[0]
        return lambda: lodcore.sequence_n_unique(x)

    def flat(self, batch):
        _, numbers, ids = whole_numbers(batch)
        return lambda: np.bincount(np.unique(ids * 64 + numbers) // 64, minlength=len(batch))


class Rank(Times):
    """Rank the rows of each sequence."""

    def lodcore(self, batch):
        x = whole_numbers(batch)[0]
        return lambda: lodcore.sequence_rank(x)


class RunLengths(Times):
    """Convert sequences to runs."""

    def lodcore(self, batch):
        x = whole_numbers(batch)[0]
        return lambda: lodcore.run_lengths(x)

    def flat(self, batch):
        _, numbers, ids = whole_numbers(batch)
        together = ids * 64 + numbers

        def call():
            starts = np.flatnonzero(np.diff(together, prepend=-1))
            return numbers[starts], np.diff(starts, append=len(numbers))

        return call
