"""Whole sequences: gathered by number, sliced, and batches concatenated."""

import numpy as np

from lodcore import LoDTensor, concat_batches, gather_sequences, sequence_slice, vjp

from . import flat
from .common import DTYPES, WIDTHS, Peaks, Times


class Permute(Times, widths=WIDTHS):
    """Gather the sequences in another order."""

    def lodcore(self, batch):
        x, index = batch.tensor, batch.permutation
        return lambda: gather_sequences(x, index)

    def lodcore_out(self, batch):
        x, index, out = batch.tensor, batch.permutation, np.empty_like(batch.values)
        return lambda: gather_sequences(x, index, out=out)

    def flat(self, batch):
        values, offsets, index = batch.values, batch.offsets, batch.permutation
        return lambda: flat.take(values, offsets, index)

    def padded(self, batch):
        padded, lengths, index = batch.padded, batch.lengths, batch.permutation
        return lambda: (padded[index], lengths[index])

    def copy(self, batch):
        return batch.values.copy


class PermuteDtypes(Permute, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Gather the sequences in another order, for several sizes of a number."""


class PermutePeak(Peaks):
    """Gather the sequences in another order."""

    lodcore, flat, padded = Permute.lodcore, Permute.flat, Permute.padded


class Subset(Times, widths=WIDTHS):
    """Gather a quarter of the sequences, with repetitions."""

    def lodcore(self, batch):
        x, index = batch.tensor, batch.subset
        return lambda: gather_sequences(x, index)

    def lodcore_out(self, batch):
        x, index = batch.tensor, batch.subset
        out = np.empty_like(gather_sequences(x, index).values)
        return lambda: gather_sequences(x, index, out=out)

    def flat(self, batch):
        values, offsets, index = batch.values, batch.offsets, batch.subset
        return lambda: flat.take(values, offsets, index)

    def padded(self, batch):
        padded, lengths, index = batch.padded, batch.lengths, batch.subset
        return lambda: (padded[index], lengths[index])

    def copy(self, batch):
        return gather_sequences(batch.tensor, batch.subset).values.copy


class SubsetBackward(Times, widths=WIDTHS):
    """Add the cotangents of a quarter of the sequences, with repetitions, to their sources."""

    def lodcore(self, batch):
        index = batch.subset
        taken, pullback = vjp(lambda x: gather_sequences(x, index), batch.tensor)
        return lambda: pullback(taken.values)

    def flat(self, batch):
        values, offsets, index = batch.values, batch.offsets, batch.subset
        d, _ = flat.take(values, offsets, index)

        def call():
            rows, _ = flat.row_numbers(offsets[index], offsets[index + 1] - offsets[index])
            total = np.zeros_like(values)
            np.add.at(total, rows, d)
            return total

        return call

    def padded(self, batch):
        padded, index = batch.padded, batch.subset
        d = padded[index]

        def call():
            total = np.zeros_like(padded)
            np.add.at(total, index, d)
            return total

        return call


class SubsetOfDocuments(Times, widths=WIDTHS):
    """Gather a quarter of the documents, with repetitions, with all levels inside."""

    def lodcore(self, batch):
        x, index = batch.tensor_of_documents, batch.subset_of_documents
        return lambda: gather_sequences(x, index)

    def lodcore_out(self, batch):
        x, index = batch.tensor_of_documents, batch.subset_of_documents
        out = np.empty_like(gather_sequences(x, index).values)
        return lambda: gather_sequences(x, index, out=out)

    def flat(self, batch):
        values, offsets, documents = batch.values, batch.offsets, batch.documents
        index = batch.subset_of_documents
        return lambda: flat.take_documents(values, offsets, documents, index)

    def copy(self, batch):
        return gather_sequences(batch.tensor_of_documents, batch.subset_of_documents).values.copy


class SliceEach(Times, widths=WIDTHS):
    """Slice each sequence."""

    def lodcore(self, batch):
        x, starts, sizes = batch.tensor, batch.piece_starts, batch.piece_sizes
        return lambda: sequence_slice(x, starts, sizes)

    def lodcore_out(self, batch):
        x, starts, sizes = batch.tensor, batch.piece_starts, batch.piece_sizes
        out = np.empty_like(sequence_slice(x, starts, sizes).values)
        return lambda: sequence_slice(x, starts, sizes, out=out)

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        starts, sizes = batch.piece_starts, batch.piece_sizes
        return lambda: flat.slice_each(values, offsets, starts, sizes)

    def padded(self, batch):
        padded, starts, sizes = batch.padded, batch.piece_starts, batch.piece_sizes

        def call():
            steps = np.arange(sizes.max())
            columns = np.minimum(starts[:, None] + steps, padded.shape[1] - 1)
            pieces = padded[np.arange(len(padded))[:, None], columns]
            pieces[steps >= sizes[:, None]] = 0
            return pieces, sizes

        return call

    def copy(self, batch):
        return sequence_slice(batch.tensor, batch.piece_starts, batch.piece_sizes).values.copy


class SliceEachBackward(Times, widths=WIDTHS):
    """Scatter the cotangents of slices to their sequences, zeros elsewhere."""

    def lodcore(self, batch):
        starts, sizes = batch.piece_starts, batch.piece_sizes
        cut, pullback = vjp(lambda x: sequence_slice(x, starts, sizes), batch.tensor)
        return lambda: pullback(cut.values)

    def flat(self, batch):
        values, offsets, starts, sizes = batch.values, batch.offsets, batch.piece_starts, batch.piece_sizes
        d, _ = flat.slice_each(values, offsets, starts, sizes)

        def call():
            rows, _ = flat.row_numbers(offsets[:-1] + starts, sizes)
            total = np.zeros_like(values)
            total[rows] = d
            return total

        return call


class SliceEachPeak(Peaks):
    """Slice each sequence."""

    lodcore, flat, padded = SliceEach.lodcore, SliceEach.flat, SliceEach.padded


class Concat(Times, widths=WIDTHS):
    """Concatenate 64 batches."""

    def lodcore(self, batch):
        xs = [LoDTensor.from_offsets(*part) for part in batch.parts]
        return lambda: concat_batches(xs)

    def lodcore_out(self, batch):
        xs, out = [LoDTensor.from_offsets(*part) for part in batch.parts], np.empty_like(batch.values)
        return lambda: concat_batches(xs, out=out)

    def flat(self, batch):
        parts = batch.parts
        return lambda: flat.concat(parts)

    def padded(self, batch):
        longest = batch.padded_shape[1]
        padded = [flat.pad(values, np.diff(offsets)) for values, offsets in batch.parts]

        def call():
            rest = [((0, 0), (0, longest - part.shape[1]), *((0, 0),) * (part.ndim - 2)) for part in padded]
            return np.concatenate([np.pad(part, ends) for part, ends in zip(padded, rest, strict=True)])

        return call

    def copy(self, batch):
        return batch.values.copy
