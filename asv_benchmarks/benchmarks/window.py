"""Windows of rows: multiplied by a matrix, and weighted column by column."""

import numpy as np

from .common import WIDTHS, Times

LENGTH = 3  # rows of a window
NEW_WIDTH = {1: 1, 64: 64}


def filter_of(batch):
    return batch.rng("filter").standard_normal((LENGTH * batch.width, NEW_WIDTH[batch.width])).astype(batch.dtype)


def taps_of(batch):
    shape = (LENGTH,) if batch.width == 1 else (LENGTH, batch.width)
    return batch.rng("taps").standard_normal(shape).astype(batch.dtype)


def in_sequence(batch, step):
    """Return which rows have a row `step` positions later, and the numbers of those rows."""
    rows = np.arange(batch.rows)
    ends = np.repeat(batch.offsets[1:], batch.lengths)
    starts = np.repeat(batch.offsets[:-1], batch.lengths)
    return (rows + step < ends) & (rows + step >= starts), np.clip(rows + step, 0, batch.rows - 1)


class Conv(Times, widths=WIDTHS):
    """Multiply windows by a matrix: gathered row by row (`flat`), or slices of a padded array side by side."""

    def lodcore(self, batch):
        from lodcore import sequence_conv

        x, weights = batch.tensor, filter_of(batch)
        return lambda: sequence_conv(x, weights, LENGTH)

    def lodcore_out(self, batch):
        from lodcore import sequence_conv

        x, weights = batch.tensor, filter_of(batch)
        out = np.empty((batch.rows, NEW_WIDTH[batch.width]), batch.dtype)
        return lambda: sequence_conv(x, weights, LENGTH, out=out)

    def flat(self, batch):
        values, weights = batch.values.reshape(batch.rows, batch.width), filter_of(batch)

        def call():
            columns = np.empty((batch.rows, LENGTH, batch.width), batch.dtype)
            for j in range(LENGTH):
                inside, rows = in_sequence(batch, j - LENGTH // 2)
                columns[:, j] = values[rows] * inside[:, None]
            return columns.reshape(batch.rows, -1) @ weights

        return call

    def padded(self, batch):
        padded, weights = batch.padded.reshape(*batch.padded.shape[:2], batch.width), filter_of(batch)
        mask, edge = batch.mask[:, :, None], LENGTH // 2

        def call():
            wide = np.pad(padded, ((0, 0), (edge, LENGTH - 1 - edge), (0, 0)))
            size = padded.shape[1]
            columns = np.concatenate([wide[:, j : j + size] for j in range(LENGTH)], axis=2)
            return (columns @ weights) * mask

        return call


class ConvBackward(Times, widths=WIDTHS):
    """Compute the gradients of rows and filter."""

    def lodcore(self, batch):
        from lodcore import sequence_conv, vjp

        y, pullback = vjp(lambda x, weights: sequence_conv(x, weights, LENGTH), batch.tensor, filter_of(batch))
        return lambda: pullback(y)


class RowConv(Times, widths=WIDTHS):
    """Weight each row and the following ones: gathered row by row (`flat`), or slices of a padded array."""

    def lodcore(self, batch):
        from lodcore import row_conv

        x, taps = batch.tensor, taps_of(batch)
        return lambda: row_conv(x, taps)

    def lodcore_out(self, batch):
        from lodcore import row_conv

        x, taps, out = batch.tensor, taps_of(batch), np.empty_like(batch.values)
        return lambda: row_conv(x, taps, out=out)

    def flat(self, batch):
        values, taps = batch.values, taps_of(batch)

        def call():
            total = values * taps[0]
            for j in range(1, LENGTH):
                inside, rows = in_sequence(batch, j)
                total += values[rows] * inside.reshape(-1, *[1] * (values.ndim - 1)) * taps[j]
            return total

        return call

    def padded(self, batch):
        padded, taps = batch.padded, taps_of(batch)

        def call():
            total = padded * taps[0]
            for j in range(1, LENGTH):
                total[:, :-j] += padded[:, j:] * taps[j]
            return total

        return call


class RowConvBackward(Times, widths=WIDTHS):
    """Compute the gradients of rows and filter."""

    def lodcore(self, batch):
        from lodcore import row_conv, vjp

        y, pullback = vjp(row_conv, batch.tensor, taps_of(batch))
        return lambda: pullback(y)
