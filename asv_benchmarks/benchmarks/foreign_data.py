"""Conversions: offsets of Arrow, and the checksum of a file."""

import numpy as np

from lodcore import from_arrow, kernels

from .common import Times


class FromArrow(Times):
    """Import a list array over the C data interface: offsets are checked and copied, values are shared."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: from_arrow(x)

    def flat(self, batch):
        offsets = batch.offsets
        return lambda: offsets.copy() if (np.diff(offsets) >= 0).all() else None

    def copy(self, batch):
        return batch.offsets.copy


class Checksum(Times):
    """Compute the checksum of offsets as read from a file."""

    def lodcore(self, batch):
        data = batch.offsets.view(np.uint8)
        return lambda: kernels.foreign_data.checksum(data, 0)

    def copy(self, batch):
        return batch.offsets.copy
