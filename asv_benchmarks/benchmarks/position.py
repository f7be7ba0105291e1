"""Elements of sequences at the same position: x.sum(axis=0) and similar functions; and the backward pass."""

import numpy as np

from lodcore import LoDTensor, ops, vjp

from .common import WIDTHS, Times


def places(batch):
    """Return the position of each row."""
    return np.arange(batch.rows) - np.repeat(batch.offsets[:-1], batch.lengths)


class SumOfPositions(Times, widths=WIDTHS):
    """Sum the elements at the same position."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x.sum(axis=0)

    def flat(self, batch):
        values, longest = batch.values, batch.longest

        def call():
            sums = np.zeros((longest, *values.shape[1:]), values.dtype)
            np.add.at(sums, places(batch), values)
            return sums

        return call

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded.sum(axis=0)


class MaxOfPositions(SumOfPositions, widths=WIDTHS):
    """Compute the maximum of the elements at the same position."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x.max(axis=0)

    def flat(self, batch):
        values, longest = batch.values, batch.longest
        least = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min

        def call():
            best = np.full((longest, *values.shape[1:]), least, values.dtype)
            np.maximum.at(best, places(batch), values)
            return best

        return call

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded.max(axis=0)


class SumOfPositionsBackward(Times, widths=WIDTHS):
    """Propagate the cotangent of sums over positions."""

    def lodcore(self, batch):
        y, pullback = vjp(lambda x: x.sum(axis=0), batch.tensor)
        return lambda: pullback(y)

    def flat(self, batch):
        d = batch.padded.sum(axis=0)
        return lambda: d[places(batch)]


class ByPosition(Times, widths=WIDTHS):
    """Reorder the rows by their positions."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: ops.by_position(x)

    def flat(self, batch):
        values = batch.values

        def call():
            at = places(batch)
            order = np.argsort(at, kind="stable")
            return values[order], np.bincount(at)

        return call


class AnyOfPositions(Times):
    """Compute whether any element at a position is true."""

    def lodcore(self, batch):
        x = LoDTensor(batch.values > 8, batch.tensor.lod)
        return lambda: x.any(axis=0)

    def padded(self, batch):
        padded = np.zeros(batch.padded_shape, bool)
        padded[batch.mask] = batch.values > 8
        return lambda: padded.any(axis=0)
