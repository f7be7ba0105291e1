"""Indexing of each sequence: slices, single rows, masks, numbers; and the backward pass."""

import functools

import numpy as np

from lodcore import LoDTensor, vjp

from . import flat
from .common import WIDTHS, Batch, Times


class Indexed(Batch):
    """A batch of sequences with a mask and numbers for their rows."""

    @functools.cached_property
    def row_mask(self):
        return self.rng("mask").random(self.rows) < 0.7

    @functools.cached_property
    def numbers(self):
        """A few rows of each sequence, by their numbers."""
        rng = self.rng("numbers")
        sizes = np.minimum(self.lengths, rng.integers(0, 9, len(self)))
        of = np.repeat(self.lengths, sizes)
        return sizes, (rng.random(len(of)) * of).astype(np.int64)


class Questions(Times):
    """Benchmarks of an Indexed batch."""

    def setup(self, way, *batch):
        self.call = getattr(self, way)(Indexed(*batch))

    def lodcore(self, batch):
        raise NotImplementedError


class Choose(Questions, widths=WIDTHS):
    """Take a row where a mask is true, and zeros elsewhere: `np.where` with one bool per row."""

    def lodcore(self, batch):
        x, mask = batch.tensor, batch.tensor.with_values(batch.row_mask)
        return lambda: np.where(mask, x, 0)

    def flat(self, batch):
        values, mask = batch.values, batch.row_mask
        mask = mask.reshape(-1, *[1] * (values.ndim - 1))
        return lambda: np.where(mask, values, 0)


class SliceEach(Questions, widths=WIDTHS):
    """Compute x[:, 1:9]."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x[:, 1:9]

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets

        def call():
            starts = np.minimum(offsets[:-1] + 1, offsets[1:])
            stops = np.minimum(offsets[:-1] + 9, offsets[1:])
            return flat.slice_each(values, offsets, starts - offsets[:-1], stops - starts)

        return call

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded[:, 1:9].copy()


class Stride(Questions, widths=WIDTHS):
    """Compute x[:, ::2]."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x[:, ::2]

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets

        def call():
            sizes = (np.diff(offsets) + 1) // 2
            cut = flat.offsets_from_lengths(sizes)
            numbers = np.repeat(offsets[:-1] - 2 * cut[:-1], sizes) + 2 * np.arange(cut[-1])
            return values.take(numbers, axis=0), cut

        return call

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded[:, ::2].copy()


class Reverse(Questions, widths=WIDTHS):
    """Compute x[::-1]: the sequences in reverse order."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x[::-1]

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: flat.take(values, offsets, np.arange(len(offsets) - 2, -1, -1))

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded[::-1].copy()


class MaskRows(Questions, widths=WIDTHS):
    """Compute x[mask], where a mask of rows keeps the sequences."""

    def lodcore(self, batch):
        x = batch.tensor
        mask = LoDTensor(batch.row_mask, x.lod)
        return lambda: x[mask]

    def flat(self, batch):
        values, offsets, mask = batch.values, batch.offsets, batch.row_mask

        def call():
            kept = np.concatenate([[0], np.cumsum(mask)])[offsets]
            return values[mask], kept

        return call


class MaskRowsBackward(Questions, widths=WIDTHS):
    """Propagate the cotangent of x[mask]."""

    def lodcore(self, batch):
        mask = LoDTensor(batch.row_mask, batch.tensor.lod)
        y, pullback = vjp(lambda x: x[mask], batch.tensor)
        return lambda: pullback(y)

    def flat(self, batch):
        values, mask = batch.values, batch.row_mask
        d = values[mask]

        def call():
            d_x = np.zeros_like(values)
            d_x[mask] = d
            return d_x

        return call


class MaskSequences(Questions, widths=WIDTHS):
    """Compute x[mask], some of the sequences."""

    def lodcore(self, batch):
        x, mask = batch.tensor, batch.rng("some").random(len(batch)) < 0.5
        return lambda: x[mask]

    def flat(self, batch):
        values, offsets, mask = batch.values, batch.offsets, batch.rng("some").random(len(batch)) < 0.5
        return lambda: flat.take(values, offsets, np.flatnonzero(mask))


class TakeRows(Questions, widths=WIDTHS):
    """Compute x[index], where each sequence has its own list of numbers."""

    def lodcore(self, batch):
        x, (sizes, numbers) = batch.tensor, batch.numbers
        index = LoDTensor.from_lengths(numbers, sizes)
        return lambda: x[index]

    def flat(self, batch):
        values, offsets, (sizes, numbers) = batch.values, batch.offsets, batch.numbers
        return lambda: values.take(np.repeat(offsets[:-1], sizes) + numbers, axis=0)


class AssignRows(Questions, widths=WIDTHS):
    """Set x[mask] = 0."""

    def lodcore(self, batch):
        x = batch.tensor.clone()
        mask = LoDTensor(batch.row_mask, x.lod)

        def call():
            x[mask] = 0

        return call

    def flat(self, batch):
        values, mask = batch.values.copy(), batch.row_mask

        def call():
            values[mask] = 0

        return call
