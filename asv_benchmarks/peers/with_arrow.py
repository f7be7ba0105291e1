"""PyArrow: large list arrays; rows wider than 1 are fixed-size lists."""

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

VERSION = pa.__version__


def ragged(values, *levels):
    array = pa.array(values.ravel())
    if values.ndim > 1:
        array = pa.FixedSizeListArray.from_arrays(array, values.shape[1])
    for offsets in reversed(levels):
        array = pa.LargeListArray.from_arrays(pa.array(offsets), array)
    return array


def of(batch):
    return ragged(batch.values, batch.offsets)


def documents_of(batch):
    return ragged(batch.values, batch.documents, batch.offsets)


def arrays(array):
    """List rows, then levels, the coarsest first."""
    levels = []
    while pa.types.is_large_list(array.type):
        offsets = np.asarray(array.offsets)
        levels.append(offsets - offsets[0])
        array = array.flatten()
    if pa.types.is_fixed_size_list(array.type):
        width = array.type.list_size
        return [array.flatten().to_numpy().reshape(-1, width), *levels]
    return [array.to_numpy(), *levels]


def validate(batch):
    array = ragged(batch.values, batch.offsets)
    return lambda: array.validate(full=True) or batch.offsets


def split(batch):
    array = documents_of(batch)
    return lambda: [document.values for document in array]


def from_arrays(batch):
    if batch.width > 1:
        raise NotImplementedError("no list of arrays with two axes")
    return partial(pa.array, batch.arrays, type=pa.large_list(pa.from_numpy_dtype(batch.dtype)))


OPERATIONS = {
    "lod.FromOffsets": validate,
    "lod.Lengths": lambda batch: partial(pc.list_value_length, of(batch)),
    "lod.SegmentIds": lambda batch: partial(pc.list_parent_indices, of(batch)),
    "gather.Permute": lambda batch: partial(of(batch).take, pa.array(batch.permutation)),
    "gather.Subset": lambda batch: partial(of(batch).take, pa.array(batch.subset)),
    "gather.SubsetOfDocuments": lambda batch: partial(documents_of(batch).take, pa.array(batch.subset_of_documents)),
    "gather.Concat": lambda batch: partial(pa.concat_arrays, [ragged(*part) for part in batch.parts]),
    "lod.Slice": lambda batch: partial(of(batch).slice, len(batch) // 4, 3 * len(batch) // 4 - len(batch) // 4),
    "lod.DropOuter": lambda batch: partial(getattr, documents_of(batch), "values"),
    "lod.Split": split,
    "nested.FromArrays": from_arrays,
}
