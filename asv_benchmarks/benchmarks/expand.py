"""Rows repeated for each row of a sequence, sequences in reverse order, and sequences of several batches joined."""

import numpy as np

from lodcore import (
    LoDTensor,
    merge_by_mask,
    sequence_concat,
    sequence_expand,
    sequence_expand_as,
    sequence_reverse,
    split_by_mask,
    vjp,
)

from . import flat
from .common import DTYPES, WIDTHS, Peaks, Times


def rows_of(batch):
    """One row per sequence."""
    return batch.values[: len(batch)].copy()


class Expand(Times, widths=WIDTHS):
    """Repeat a row for every row of its sequence."""

    def lodcore(self, batch):
        x, y = rows_of(batch), batch.tensor
        return lambda: sequence_expand_as(x, y)

    def lodcore_out(self, batch):
        x, y, out = rows_of(batch), batch.tensor, np.empty_like(batch.values)
        return lambda: sequence_expand_as(x, y, out=out)

    def flat(self, batch):
        x, lengths = rows_of(batch), batch.lengths
        return lambda: np.repeat(x, lengths, axis=0)

    def padded(self, batch):
        x, mask = rows_of(batch), batch.mask
        mask = mask.reshape(*mask.shape, *[1] * (x.ndim - 1))
        return lambda: np.where(mask, x[:, None], np.float32(0))

    def copy(self, batch):
        return batch.values.copy


class ExpandDtypes(Expand, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Repeat a row for every row of its sequence, for several sizes of a number."""


class ExpandPeak(Peaks):
    """Repeat a row for every row of its sequence."""

    lodcore, flat, padded = Expand.lodcore, Expand.flat, Expand.padded


class ExpandBackward(Times, widths=WIDTHS):
    """Sum the cotangents of the copies of each row."""

    def lodcore(self, batch):
        y, d = batch.tensor, batch.values
        _, pullback = vjp(lambda x: sequence_expand_as(x, y), rows_of(batch))
        return lambda: pullback(d)

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: flat.reduce_sequences(values, offsets, np.add)

    def padded(self, batch):
        padded = batch.padded
        return lambda: padded.sum(axis=1)


class ExpandSequences(Times, widths=WIDTHS):
    """Repeat whole sequences, each up to three times."""

    def times(self, batch):
        return batch.rng("times").integers(0, 4, len(batch))

    def lodcore(self, batch):
        x, times = batch.tensor, self.times(batch)
        y = LoDTensor.from_lengths(np.empty((times.sum(), 0)), times)
        return lambda: sequence_expand(x, y)

    def flat(self, batch):
        values, offsets, times = batch.values, batch.offsets, self.times(batch)
        return lambda: flat.take(values, offsets, flat.segment_ids(times))

    def padded(self, batch):
        padded, lengths, times = batch.padded, batch.lengths, self.times(batch)
        return lambda: (np.repeat(padded, times, axis=0), np.repeat(lengths, times))


class Reverse(Times, widths=WIDTHS):
    """Reverse the rows of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_reverse(x)

    def lodcore_out(self, batch):
        x, out = batch.tensor, np.empty_like(batch.values)
        return lambda: sequence_reverse(x, out=out)

    def flat(self, batch):
        values, offsets, lengths = batch.values, batch.offsets, batch.lengths

        def call():
            rows = np.repeat(offsets[:-1] + offsets[1:] - 1, lengths)
            rows -= np.arange(len(rows))
            return values.take(rows, axis=0)

        return call

    def padded(self, batch):
        padded, lengths = batch.padded, batch.lengths

        def call():
            steps = np.arange(padded.shape[1])
            columns = np.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)
            return padded[np.arange(len(padded))[:, None], columns]

        return call

    def copy(self, batch):
        return batch.values.copy


class ReverseDtypes(Reverse, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Reverse the rows of each sequence, for several sizes of a number."""


class ReversePeak(Peaks):
    """Reverse the rows of each sequence."""

    lodcore, flat, padded = Reverse.lodcore, Reverse.flat, Reverse.padded


class ReverseSentences(Times, widths=WIDTHS):
    """Reverse the sequences of each document, and keep the order of the rows of each."""

    def lodcore(self, batch):
        x = batch.tensor_of_documents
        return lambda: sequence_reverse(x, 0)

    def flat(self, batch):
        values, offsets, documents = batch.values, batch.offsets, batch.documents

        def call():
            index = np.repeat(documents[:-1] + documents[1:] - 1, np.diff(documents))
            index -= np.arange(len(index))
            return flat.take(values, offsets, index)

        return call


class ConcatSequences(Times, widths=WIDTHS):
    """Concatenate each sequence of two batches."""

    def lodcore(self, batch):
        xs = [batch.tensor, LoDTensor.from_offsets(batch.values.copy(), batch.offsets)]
        return lambda: sequence_concat(xs)

    def flat(self, batch):
        values, offsets, other = batch.values, batch.offsets, batch.values.copy()

        def call():
            joined = np.empty((2 * len(values), *values.shape[1:]), values.dtype)
            places = flat.positions(offsets) + np.repeat(2 * offsets[:-1], np.diff(offsets))
            joined[places] = values
            joined[places + np.repeat(np.diff(offsets), np.diff(offsets))] = other
            return joined, 2 * offsets

        return call

    def copy(self, batch):
        return np.concatenate([batch.values, batch.values]).copy


class SplitAndMerge(Times, widths=WIDTHS):
    """Split the sequences by a mask, and merge them again."""

    def chosen(self, batch):
        return batch.rng("chosen").random(len(batch)) < 0.5

    def lodcore(self, batch):
        x, mask = batch.tensor, self.chosen(batch)
        return lambda: merge_by_mask(*split_by_mask(x, mask), mask)

    def flat(self, batch):
        values, offsets, mask = batch.values, batch.offsets, self.chosen(batch)
        places = np.argsort(np.argsort(~mask, kind="stable"), kind="stable")

        def call():
            both = [flat.take(values, offsets, np.flatnonzero(side)) for side in (mask, ~mask)]
            return flat.take(*flat.concat(both), places)

        return call

    def padded(self, batch):
        padded, lengths, mask = batch.padded, batch.lengths, self.chosen(batch)

        def call():
            merged, sizes = np.empty_like(padded), np.empty_like(lengths)
            for side in (mask, ~mask):
                merged[side], sizes[side] = padded[side], lengths[side]
            return merged, sizes

        return call
