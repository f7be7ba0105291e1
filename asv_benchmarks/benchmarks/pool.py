"""Pooling of sequences to one row each, and the backward pass."""

import numpy as np

from . import flat
from .common import WIDTHS, Times

POOL_TYPES = ["sum", "mean", "max", "first"]


class Pool(Times, widths=WIDTHS):
    """Sum each sequence: `reduceat` on values and offsets, or masked rows of a padded array."""

    pool_type = "sum"
    reduce, neutral = np.add, 0

    def lodcore(self, batch):
        from lodcore import sequence_pool

        x, pool_type = batch.tensor, self.pool_type
        return lambda: sequence_pool(x, pool_type)

    def lodcore_out(self, batch):
        from lodcore import sequence_pool

        x, pool_type = batch.tensor, self.pool_type
        out = np.empty((len(batch), *batch.values.shape[1:]), batch.dtype)
        return lambda: sequence_pool(x, pool_type, out=out)

    def flat(self, batch):
        values, offsets, reduce = batch.values, batch.offsets, self.reduce
        return lambda: flat.reduce_sequences(values, offsets, reduce)

    def padded(self, batch):
        padded, mask, reduce, neutral = batch.padded, batch.mask, self.reduce, self.neutral
        mask = mask.reshape(*mask.shape, *[1] * (padded.ndim - 2))
        return lambda: reduce.reduce(np.where(mask, padded, np.float32(neutral)), axis=1)


class PoolMax(Pool, widths=WIDTHS):
    """Compute the maximum of each column of each sequence."""

    pool_type = "max"
    reduce, neutral = np.maximum, -np.inf


class PoolLast(Times, widths=WIDTHS):
    """Copy the last row of each sequence."""

    pool_type = "last"
    lodcore, lodcore_out = Pool.lodcore, Pool.lodcore_out

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets

        def call():
            out = np.zeros((len(offsets) - 1, *values.shape[1:]), values.dtype)
            full = offsets[1:] > offsets[:-1]
            out[full] = values[offsets[1:][full] - 1]
            return out

        return call

    def padded(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: padded[np.arange(len(lengths)), lengths - 1]


class PoolBackward(Times, widths=WIDTHS):
    """Compute the gradient of the sums: each row for all rows of its sequence."""

    pool_type = "sum"

    def lodcore(self, batch):
        from lodcore import sequence_pool, vjp

        result, pullback = vjp(lambda x: sequence_pool(x, self.pool_type), batch.tensor)
        return lambda: pullback(result)

    def lodcore_out(self, batch):
        from lodcore import sequence_pool, vjp

        result, pullback = vjp(lambda x: sequence_pool(x, self.pool_type), batch.tensor)
        out = (np.empty_like(batch.values),)
        return lambda: pullback(result, out=out)

    def flat(self, batch):
        lengths = batch.lengths
        rows = np.ones((len(batch), *batch.values.shape[1:]), batch.dtype)
        return lambda: np.repeat(rows, lengths, axis=0)

    def padded(self, batch):
        mask = batch.mask
        rows = np.ones((len(batch), 1, *batch.values.shape[1:]), batch.dtype)
        mask = mask.reshape(*mask.shape, *[1] * (rows.ndim - 2))
        return lambda: rows * mask


class PoolMaxBackward(Times, widths=WIDTHS):
    """Compute the gradient of the maxima: each cell at its position."""

    pool_type = "max"
    lodcore, lodcore_out = PoolBackward.lodcore, PoolBackward.lodcore_out
