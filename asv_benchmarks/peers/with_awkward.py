"""Awkward Array, through its high-level functions; results are packed, so that the rows are really copied."""

from functools import partial

import awkward as ak
import numpy as np

VERSION = ak.__version__


def ragged(values, *levels):
    layout = ak.contents.NumpyArray(values)
    for offsets in reversed(levels):
        layout = ak.contents.ListOffsetArray(ak.index.Index64(offsets), layout)
    return ak.Array(layout)


def of(batch):
    return ragged(batch.values, batch.offsets)


def documents_of(batch):
    return ragged(batch.values, batch.documents, batch.offsets)


def arrays(array):
    """List rows, then levels, the coarsest first."""
    layout, levels = ak.to_packed(array).layout, []
    while isinstance(layout, ak.contents.ListOffsetArray):
        levels.append(np.asarray(layout.offsets))
        layout = layout.content
    return [ak.to_numpy(layout), *levels]


def validate(batch):
    array = of(batch)
    return lambda: batch.offsets if ak.is_valid(array) else None


def take(array, index):
    return lambda: ak.to_packed(array[index])


def middle(batch):
    array = of(batch)
    return lambda: array[len(batch) // 4 : 3 * len(batch) // 4]


def from_arrays(batch):
    return lambda: ak.unflatten(np.concatenate(batch.arrays), [len(array) for array in batch.arrays])


def to_arrays(batch):
    array = of(batch)
    return lambda: [np.asarray(sequence) for sequence in array]


def pad(batch):
    if batch.width > 1:
        raise NotImplementedError("rows of width 1 alone")
    array, longest, zero = of(batch), batch.padded_shape[1], batch.values.dtype.type(0)
    return lambda: ak.to_numpy(ak.fill_none(ak.pad_none(array, longest, clip=True), zero))


def pool_max(batch):
    array = of(batch)
    return lambda: ak.to_numpy(ak.fill_none(ak.max(array, axis=1), np.float32(0)))


def softmax(batch):
    if batch.width > 1:
        raise NotImplementedError("rows of width 1 alone")
    array = ragged(batch.values / np.float32(32), batch.offsets)
    return lambda: ak.softmax(array, axis=-1)


def reverse(batch):
    array = of(batch)
    return lambda: ak.to_packed(array[:, ::-1])


OPERATIONS = {
    "lod.FromOffsets": validate,
    "lod.Lengths": lambda batch: partial(ak.num, of(batch)),
    "gather.Permute": lambda batch: take(of(batch), batch.permutation),
    "gather.Subset": lambda batch: take(of(batch), batch.subset),
    "gather.SubsetOfDocuments": lambda batch: take(documents_of(batch), batch.subset_of_documents),
    "gather.Concat": lambda batch: partial(ak.concatenate, [ragged(*part) for part in batch.parts]),
    "lod.Slice": middle,
    "lod.DropOuter": lambda batch: partial(ak.flatten, documents_of(batch)),
    "nested.FromArrays": from_arrays,
    "nested.ToArrays": to_arrays,
    "pad.Pad": pad,
    "pool.Pool": lambda batch: partial(ak.sum, of(batch), 1),
    "pool.PoolMax": pool_max,
    "softmax.Softmax": softmax,
    "expand.Reverse": reverse,
}
