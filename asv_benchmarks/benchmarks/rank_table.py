"""The order by length, the longest first: rank table, steps and back."""

import numpy as np

from lodcore import TensorArray, lod_rank_table, reorder_by_rank

from . import flat
from .common import DTYPES, WIDTHS, Peaks, Times


class RankTable(Times):
    """Order the sequences by their length."""

    def lodcore(self, batch):
        lod = batch.tensor.lod
        return lambda: lod_rank_table(lod)

    def flat(self, batch):
        lengths = batch.lengths

        def call():
            order = flat.rank(lengths)
            return order, lengths[order]

        return call

    def copy(self, batch):
        return batch.lengths.copy


class Reorder(Times, widths=WIDTHS):
    """Reorder the sequences by their lengths."""

    def lodcore(self, batch):
        x = batch.tensor
        table = lod_rank_table(x)
        return lambda: reorder_by_rank(x, table)

    def flat(self, batch):
        values, offsets, order = batch.values, batch.offsets, batch.order
        return lambda: flat.take(values, offsets, order)

    def padded(self, batch):
        padded, order = batch.padded, batch.order
        return lambda: padded[order]

    def copy(self, batch):
        return batch.values.copy


class Unpack(Times, widths=WIDTHS):
    """Convert the sequences to steps, the longest first; `padded` moves the axis of steps to the front."""

    def lodcore(self, batch):
        return unpacking(batch.tensor, None)

    def lodcore_out(self, batch):
        return unpacking(batch.tensor, np.empty_like(batch.values))

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: flat.unpack(values, offsets)

    def padded(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: np.ascontiguousarray(padded[flat.rank(lengths)].swapaxes(0, 1))

    def copy(self, batch):
        return batch.values.copy


class UnpackDtypes(Unpack, distributions=["nlp"], widths=WIDTHS, dtypes=DTYPES):
    """Convert the sequences to steps, for several sizes of a number."""


class UnpackPeak(Peaks):
    """Convert the sequences to steps."""

    lodcore, lodcore_out, flat, padded = Unpack.lodcore, Unpack.lodcore_out, Unpack.flat, Unpack.padded


class Pack(Times, widths=WIDTHS):
    """Convert one array per step, each written separately, to sequences; `flat` has all steps in one array."""

    def lodcore(self, batch):
        return packing(batch.tensor, None)

    def lodcore_out(self, batch):
        return packing(batch.tensor, np.empty_like(batch.values))

    def flat(self, batch):
        steps, sizes, order, offsets = batch.steps, batch.step_sizes, batch.order, batch.offsets
        return lambda: flat.pack(steps, sizes, order, offsets)

    def padded(self, batch):
        places = np.argsort(batch.order)
        steps = [array.copy() for array in batch.padded[batch.order].swapaxes(0, 1)]
        return lambda: np.stack(steps, axis=1)[places]

    def copy(self, batch):
        return batch.values.copy


class PackPeak(Peaks):
    """Convert one array per step to sequences."""

    lodcore, lodcore_out, flat, padded = Pack.lodcore, Pack.lodcore_out, Pack.flat, Pack.padded


def unpacking(x, out):
    def call():
        steps, _ = TensorArray.unpack(x, 0, out=out)
        return steps.concat(), steps.sizes()

    return call


def packing(x, out):
    steps, indices_map = TensorArray.unpack(x, 0)
    written = TensorArray()
    for step, array in enumerate(steps):
        written.write(step, array.copy())
    return lambda: written.pack(0, indices_map, out=out)
