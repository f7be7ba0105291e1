"""Rows that are ids: windows of them, removal of some, and columns given by ids."""

import numpy as np

from .common import Times

SIZE = 3  # of a window
FEW, MANY = [0, 1, 2], list(range(0, 200, 2))
N_COLUMNS = 64
DTYPES = ["int64", "int32"]


class Enumerate(Times, widths=[1], dtypes=DTYPES):
    """List windows of numbers: gathered position by position (`flat`), or slices of a padded array."""

    def lodcore(self, batch):
        from lodcore import sequence_enumerate

        x = batch.tensor
        return lambda: sequence_enumerate(x, SIZE)

    def lodcore_out(self, batch):
        from lodcore import sequence_enumerate

        x, out = batch.tensor, np.empty((batch.rows, SIZE), batch.dtype)
        return lambda: sequence_enumerate(x, SIZE, out=out)

    def flat(self, batch):
        values, offsets, lengths = batch.values, batch.offsets, batch.lengths

        def call():
            ends = np.repeat(offsets[1:], lengths)
            out = np.zeros((len(values), SIZE), values.dtype)
            rows = np.arange(len(values))
            for j in range(SIZE):
                inside = rows + j < ends
                out[inside, j] = values[rows[inside] + j]
            return out

        return call

    def padded(self, batch):
        padded = batch.padded

        def call():
            wide = np.pad(padded, ((0, 0), (0, SIZE - 1)))
            return np.stack([wide[:, j : j + padded.shape[1]] for j in range(SIZE)], axis=2)

        return call


class Erase(Times, widths=[1], dtypes=DTYPES):
    """Remove a few numbers: by a mask of rows (`flat`), or of a padded array."""

    tokens = FEW

    def lodcore(self, batch):
        from lodcore import sequence_erase

        x, tokens = batch.tensor, self.tokens
        return lambda: sequence_erase(x, tokens)

    def flat(self, batch):
        values, offsets, tokens = batch.values, batch.offsets, self.tokens

        def call():
            kept = ~np.isin(values, tokens)
            counts = np.zeros(len(values) + 1, np.int64)
            np.cumsum(kept, out=counts[1:])
            return values[kept], counts[offsets]

        return call

    def padded(self, batch):
        padded, mask, tokens = batch.padded, batch.mask, self.tokens

        def call():
            kept = mask & ~np.isin(padded, tokens)
            lengths = kept.sum(axis=1)
            out = np.zeros_like(padded)
            out[np.arange(padded.shape[1]) < lengths[:, None]] = padded[kept]
            return out, lengths

        return call


class EraseMany(Erase, widths=[1], dtypes=DTYPES):
    """Remove a hundred numbers."""

    tokens = MANY


class Scatter(Times, widths=[1], dtypes=["int64"]):
    """Add ones to the columns given by numbers: `np.add.at` on lines and columns (`flat`)."""

    def lodcore(self, batch):
        from lodcore import LoDTensor, sequence_scatter

        ids = LoDTensor(batch.values % N_COLUMNS, batch.tensor.lod)
        updates, x = LoDTensor(np.ones(batch.rows), ids.lod), np.zeros((len(batch), N_COLUMNS))
        return lambda: sequence_scatter(x, ids, updates)

    def flat(self, batch):
        ids, lengths = batch.values % N_COLUMNS, batch.lengths
        updates, x = np.ones(batch.rows), np.zeros((len(batch), N_COLUMNS))

        def call():
            out = x.copy()
            np.add.at(out, (np.repeat(np.arange(len(lengths)), lengths), ids), updates)
            return out

        return call
