"""Offsets, lengths, segment ids and positions of rows; levels that are sliced, dropped, added, split."""

import numpy as np

from lodcore import LoD

from . import flat
from .common import Times


class FromLengths(Times):
    """Compute offsets from lengths."""

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
    """Check offsets and keep a private copy; `flat` only checks."""

    def lodcore(self, batch):
        offsets, rows = batch.offsets, batch.rows
        return lambda: LoD.from_offsets(offsets, num_rows=rows)

    def flat(self, batch):
        offsets, rows = batch.offsets, batch.rows
        return lambda: offsets if flat.is_valid(offsets, rows) else None

    def copy(self, batch):
        return batch.offsets.copy


class FromSegmentIds(Times):
    """Compute offsets from the sequence number of each row."""

    def lodcore(self, batch):
        ids, count = flat.segment_ids(batch.lengths), len(batch)
        return lambda: LoD.from_segment_ids(ids, count)

    def flat(self, batch):
        ids, count = flat.segment_ids(batch.lengths), len(batch)
        return lambda: flat.offsets_from_lengths(np.bincount(ids, minlength=count))

    def copy(self, batch):
        return flat.segment_ids(batch.lengths).copy


class Lengths(Times):
    """Compute lengths from offsets."""

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
    """Compute the sequence number of each row."""

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
    """Compute the position of each row in its sequence."""

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


class RowOffsets(Times):
    """Convert the offsets of documents from sentences to rows."""

    def lodcore(self, batch):
        lod = batch.tensor_of_documents.lod
        return lambda: lod.row_offsets(0)

    def flat(self, batch):
        documents, offsets = batch.documents, batch.offsets
        return lambda: offsets[documents]

    def copy(self, batch):
        return batch.documents.copy


class Slice(Times):
    """Slice the middle half of the sequences: a view, whose offsets are written when they are first used."""

    def lodcore(self, batch):
        x, start, stop = batch.tensor, len(batch) // 4, 3 * len(batch) // 4
        return lambda: x[start:stop]

    def flat(self, batch):
        values, offsets, start, stop = batch.values, batch.offsets, len(batch) // 4, 3 * len(batch) // 4
        return lambda: flat.slice_outer(values, offsets, start, stop)

    def copy(self, batch):
        return batch.offsets[len(batch) // 2 :].copy


class DropOuter(Times):
    """Return the sentences of all documents as one batch."""

    def lodcore(self, batch):
        x = batch.tensor_of_documents
        return lambda: x.flatten(0)

    def flat(self, batch):
        values, levels = batch.values, [batch.documents, batch.offsets]
        return lambda: (values, *levels[1:])

    def copy(self, batch):
        return batch.offsets.copy


class DropInner(Times):
    """Join the sentences of each document."""

    def lodcore(self, batch):
        lod = batch.tensor_of_documents.lod
        return lambda: lod.drop(1)

    def flat(self, batch):
        documents, offsets = batch.documents, batch.offsets
        return lambda: offsets[documents]

    def copy(self, batch):
        return batch.documents.copy


class Append(Times):
    """Split each row of a batch into smaller ones."""

    def lodcore(self, batch):
        documents, lengths = LoD.from_offsets(batch.documents), batch.lengths
        return lambda: documents.append(lengths=lengths)

    def flat(self, batch):
        documents, lengths = batch.documents, batch.lengths
        return lambda: (documents, flat.offsets_from_lengths(lengths))

    def copy(self, batch):
        return batch.offsets.copy


class Split(Times):
    """Return each document as a batch: rows as views, offsets from 0."""

    def lodcore(self, batch):
        x = batch.tensor_of_documents
        return lambda: [(document.values, document.offsets) for document in x]

    def flat(self, batch):
        values, offsets, documents = batch.values, batch.offsets, batch.documents
        return lambda: flat.split(values, offsets, documents)

    def copy(self, batch):
        return batch.offsets.copy


class Concat(Times):
    """Join the structures of 64 batches, without their rows."""

    def lodcore(self, batch):
        first, *others = [LoD.from_offsets(offsets) for _, offsets in batch.parts]
        return lambda: first.concat(*others)

    def flat(self, batch):
        parts = [offsets for _, offsets in batch.parts]
        return lambda: flat.offsets_from_lengths(np.concatenate([np.diff(offsets) for offsets in parts]))

    def copy(self, batch):
        return batch.offsets.copy
