"""Levels above levels: counted in rows, cut, dropped, added, and split into their sequences."""

import numpy as np

from lodcore import LoD

from . import flat
from .common import Times


class RowOffsets(Times):
    """Count the offsets of documents in rows instead of sentences."""

    def lodcore(self, batch):
        lod = batch.tensor_of_documents.lod
        return lambda: lod.row_offsets(0)

    def flat(self, batch):
        documents, offsets = batch.documents, batch.offsets
        return lambda: offsets[documents]

    def copy(self, batch):
        return batch.documents.copy


class Slice(Times):
    """Cut the middle half of the sequences out: rows as a view, offsets from 0."""

    def lodcore(self, batch):
        x, start, stop = batch.tensor, len(batch) // 4, 3 * len(batch) // 4

        def call():
            y = x[start:stop]
            return y.values, y.offsets

        return call

    def flat(self, batch):
        values, offsets, start, stop = batch.values, batch.offsets, len(batch) // 4, 3 * len(batch) // 4
        return lambda: flat.slice_outer(values, offsets, start, stop)

    def copy(self, batch):
        return batch.offsets[len(batch) // 2 :].copy


class DropOuter(Times):
    """Take the sentences of all documents as one batch."""

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
    """Cut each row of a batch into smaller ones."""

    def lodcore(self, batch):
        documents, lengths = LoD.from_offsets(batch.documents), batch.lengths
        return lambda: documents.append(lengths=lengths)

    def flat(self, batch):
        documents, lengths = batch.documents, batch.lengths
        return lambda: (documents, flat.offsets_from_lengths(lengths))

    def copy(self, batch):
        return batch.offsets.copy


class Split(Times):
    """Give each document as a batch of its own: rows as views, offsets from 0."""

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
