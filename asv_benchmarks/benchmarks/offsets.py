"""Offsets, lengths, the number of the sequence and the place of each row, and the check of offsets."""

import numpy as np

from lodcore import LoD

from . import flat
from .common import Times


class FromLengths(Times):
    """Make offsets of lengths."""

    def lodcore(self, batch):
        lengths = batch.lengths
        return lambda: LoD.from_lengths(lengths)

    def flat(self, batch):
        lengths = batch.lengths
        return lambda: flat.offsets_from_lengths(lengths)

    def padded(self, batch):
        lengths, longest = batch.lengths, batch.padded_shape[1]
        return lambda: np.arange(longest) < lengths[:, None]

    def copy(self, batch):
        return batch.offsets.copy


class FromOffsets(Times):
    """Check offsets and keep a private copy; `flat` checks alone."""

    def lodcore(self, batch):
        offsets, rows = batch.offsets, batch.rows
        return lambda: LoD.from_offsets(offsets, num_rows=rows)

    def flat(self, batch):
        offsets, rows = batch.offsets, batch.rows
        return lambda: offsets if flat.is_valid(offsets, rows) else None

    def copy(self, batch):
        return batch.offsets.copy


class FromSegmentIds(Times):
    """Make offsets of the number of the sequence of each row."""

    def lodcore(self, batch):
        ids, count = flat.segment_ids(batch.lengths), len(batch)
        return lambda: LoD.from_segment_ids(ids, count)

    def flat(self, batch):
        ids, count = flat.segment_ids(batch.lengths), len(batch)
        return lambda: flat.offsets_from_lengths(np.bincount(ids, minlength=count))

    def copy(self, batch):
        return flat.segment_ids(batch.lengths).copy


class Lengths(Times):
    """Make lengths of offsets."""

    def lodcore(self, batch):
        return batch.tensor.lod.lengths

    def flat(self, batch):
        offsets = batch.offsets
        return lambda: np.diff(offsets)

    def padded(self, batch):
        mask = batch.mask
        return lambda: mask.sum(axis=1)

    def copy(self, batch):
        return batch.lengths.copy


class SegmentIds(Times):
    """Number the sequence of each row."""

    def lodcore(self, batch):
        return batch.tensor.lod.segment_ids

    def lodcore_out(self, batch):
        lod, out = batch.tensor.lod, np.empty(batch.rows, np.int64)
        return lambda: lod.segment_ids(out=out)

    def flat(self, batch):
        lengths = batch.lengths
        return lambda: flat.segment_ids(lengths)

    def padded(self, batch):
        mask = batch.mask
        return lambda: mask.nonzero()[0]

    def copy(self, batch):
        return flat.segment_ids(batch.lengths).copy


class Positions(Times):
    """Number the place of each row in its sequence."""

    def lodcore(self, batch):
        return batch.tensor.lod.positions

    def lodcore_out(self, batch):
        lod, out = batch.tensor.lod, np.empty(batch.rows, np.int64)
        return lambda: lod.positions(out=out)

    def flat(self, batch):
        offsets = batch.offsets
        return lambda: flat.positions(offsets)

    def padded(self, batch):
        mask = batch.mask
        return lambda: mask.nonzero()[1]

    def copy(self, batch):
        return flat.positions(batch.offsets).copy
