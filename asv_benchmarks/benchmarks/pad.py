"""Sequences padded to arrays and back, and the cost of padding."""

import numpy as np

from lodcore import LoDTensor, sequence_mask, sequence_pad, sequence_unpad, vjp

from . import flat
from .common import DISTRIBUTIONS, DTYPES, WIDTHS, Batch, Peaks, Times


class Pad(Times, widths=WIDTHS):
    """Pad the sequences to the longest: by row numbers (`flat`), or by a mask (`padded`)."""

    def lodcore(self, batch):
        x, _ = batch.tensor, batch.padded_shape
        return lambda: x.to_padded()

    def lodcore_out(self, batch):
        x, out = batch.tensor, np.empty(batch.padded_shape, batch.dtype)
        return lambda: x.to_padded(out=out)

    def flat(self, batch):
        values, lengths, _ = batch.values, batch.lengths, batch.padded_shape
        return lambda: flat.pad(values, lengths)

    def padded(self, batch):
        values, lengths, shape = batch.values, batch.lengths, batch.padded_shape

        def call():
            padded = np.zeros(shape, values.dtype)
            padded[np.arange(shape[1]) < lengths[:, None]] = values
            return padded

        return call

    def copy(self, batch):
        return batch.padded.copy


class PadReplicate(Times, widths=WIDTHS):
    """Pad the sequences with their last rows."""

    def lodcore(self, batch):
        x, _ = batch.tensor, batch.padded_shape
        return lambda: x.to_padded(mode="replicate")

    def padded(self, batch):
        values, lengths, shape = batch.values, batch.lengths, batch.padded_shape
        last = np.maximum(batch.offsets[1:] - 1, batch.offsets[:-1])[:, None].clip(0, len(values) - 1)

        def call():
            steps = np.arange(shape[1])
            return values[np.minimum(batch.offsets[:-1, None] + steps, last)] * (lengths > 0).reshape(
                -1, *[1] * (len(shape) - 1)
            )

        return call


class PadDtypes(Pad, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Pad the sequences to the longest, for several sizes of a number."""


class PadPeak(Peaks):
    """Pad the sequences to the longest."""

    lodcore, flat, padded = Pad.lodcore, Pad.flat, Pad.padded


class Unpad(Times, widths=WIDTHS):
    """Remove the padding of an array: by row numbers (`flat`), or by a mask (`padded`)."""

    def lodcore(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: LoDTensor.from_padded(padded, lengths)

    def flat(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: flat.unpad(padded, lengths)

    def padded(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: padded[np.arange(padded.shape[1]) < lengths[:, None]]

    def copy(self, batch):
        return batch.values.copy


class PadOperator(Pad, widths=WIDTHS):
    """Pad the sequences to the longest, and return their lengths."""

    def lodcore(self, batch):
        x, _ = batch.tensor, batch.padded_shape
        return lambda: sequence_pad(x)

    def lodcore_out(self, batch):
        x, out = batch.tensor, np.empty(batch.padded_shape, batch.dtype)
        return lambda: sequence_pad(x, out=out)


class UnpadOperator(Unpad, widths=WIDTHS):
    """Keep the first rows of each line of a padded array."""

    def lodcore(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: sequence_unpad(padded, lengths)

    def lodcore_out(self, batch):
        padded, lengths, out = batch.padded, batch.lengths, np.empty_like(batch.values)
        return lambda: sequence_unpad(padded, lengths, out=out)


class PadBackward(Times, widths=WIDTHS):
    """Propagate the cotangents of padded rows, and sum those of the padding."""

    def lodcore(self, batch):
        _, pullback = vjp(sequence_pad, batch.tensor, np.float32(0))
        d = batch.padded
        return lambda: pullback(d, None)

    def padded(self, batch):
        d, mask = batch.padded, batch.mask
        return lambda: (d[mask], d[~mask].sum())


class Mask(Times):
    """Compute which positions of a padded array are rows."""

    def lodcore(self, batch):
        lengths, _ = batch.lengths, batch.padded_shape
        return lambda: sequence_mask(lengths)

    def padded(self, batch):
        lengths, _ = batch.lengths, batch.padded_shape
        return lambda: np.arange(lengths.max()) < lengths[:, None]


class PaddedSize:
    """The size of the padded array divided by the size of the rows: the memory cost of padding."""

    params = DISTRIBUTIONS
    param_names = ["distribution"]
    unit = "x"

    def track_ratio(self, distribution):
        batch = Batch(distribution)
        return len(batch) * batch.longest / batch.rows
