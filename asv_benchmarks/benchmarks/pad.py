"""To padded arrays and back, and what padding costs."""

import numpy as np

from lodcore import LoDTensor

from . import flat
from .common import DISTRIBUTIONS, DTYPES, WIDTHS, Batch, Peaks, Times


class Pad(Times, widths=WIDTHS):
    """Fill the sequences up to the longest: by row numbers (`flat`), or by a mask (`padded`)."""

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


class PadDtypes(Pad, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Fill the sequences up to the longest, for several sizes of a number."""


class PadPeak(Peaks):
    """Fill the sequences up to the longest."""

    lodcore, flat, padded = Pad.lodcore, Pad.flat, Pad.padded


class Unpad(Times, widths=WIDTHS):
    """Take the sequences out of a padded array: by row numbers (`flat`), or by a mask (`padded`)."""

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


class PaddedSize:
    """Size of the padded array over the size of the rows: what padding costs in memory."""

    params = DISTRIBUTIONS
    param_names = ["distribution"]
    unit = "x"

    def track_ratio(self, distribution):
        batch = Batch(distribution)
        return len(batch) * batch.longest / batch.rows
