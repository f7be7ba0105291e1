"""Products of sequences, and whether all of their rows are true."""

import numpy as np

from lodcore import LoDTensor, ops, vjp

from .common import WIDTHS, Times


def near_one(batch):
    """Make values whose products neither underflow nor overflow."""
    return (0.9 + batch.values / 1275).astype(batch.values.dtype)


class Product(Times, widths=WIDTHS):
    """Multiply the rows of each sequence."""

    def lodcore(self, batch):
        x = LoDTensor(near_one(batch), batch.tensor.lod)
        return lambda: ops.sequence_prod(x)

    def flat(self, batch):
        values, starts = near_one(batch), batch.offsets[:-1][batch.lengths > 0]
        return lambda: np.multiply.reduceat(values, starts, axis=0)

    def padded(self, batch):
        padded = np.ones(batch.padded_shape, batch.dtype)
        padded[batch.mask] = near_one(batch)
        return lambda: padded.prod(axis=1)


class ProductBackward(Times, widths=WIDTHS):
    """Propagate the cotangents of products."""

    def lodcore(self, batch):
        y, pullback = vjp(ops.sequence_prod, LoDTensor(near_one(batch), batch.tensor.lod))
        return lambda: pullback(y)

    def flat(self, batch):
        values, lengths = near_one(batch), batch.lengths
        products = np.ones((len(lengths), *values.shape[1:]), values.dtype)
        return lambda: np.repeat(products, lengths, axis=0) / values


class Truth(Times):
    """Compute whether all rows of each sequence are true."""

    def lodcore(self, batch):
        x = LoDTensor(batch.values > 8, batch.tensor.lod)
        return lambda: x.all(axis=-1)

    def flat(self, batch):
        values, starts = batch.values > 8, batch.offsets[:-1][batch.lengths > 0]
        return lambda: np.logical_and.reduceat(values, starts)

    def padded(self, batch):
        padded = np.ones(batch.padded_shape, bool)
        padded[batch.mask] = batch.values > 8
        return lambda: padded.all(axis=1)
