"""Rows grouped by a key column, and batches joined by a key."""

import numpy as np

import lodcore

from .common import WIDTHS, Times


def keys_of(batch):
    """Make a key for each row: as many keys as sequences."""
    return batch.rng("keys").integers(0, len(batch), batch.rows)


class GroupBy(Times, widths=WIDTHS):
    """Group unordered rows by integer keys."""

    def lodcore(self, batch):
        keys, values = keys_of(batch), batch.values
        return lambda: lodcore.group_by(keys, values)

    def flat(self, batch):
        keys, values = keys_of(batch), batch.values

        def call():
            order = np.argsort(keys, kind="stable")
            found, counts = np.unique(keys, return_counts=True)
            return found, values[order], counts

        return call


class JoinByKey(Times, widths=WIDTHS):
    """Join two batches by a key of each sequence."""

    def lodcore(self, batch):
        x, order = batch.tensor, batch.permutation
        return lambda: lodcore.join_by_key(x, x, np.arange(len(x)), order)
