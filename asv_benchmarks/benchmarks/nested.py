"""Conversion from and to Python lists of arrays or numbers."""

from itertools import pairwise

import numpy as np

import lodcore
from lodcore import LoDTensor

from . import flat
from .common import WIDTHS, Times


class FromArrays(Times, widths=WIDTHS):
    """Make a batch of one array per sequence."""

    def lodcore(self, batch):
        arrays = batch.arrays
        return lambda: LoDTensor.from_arrays(arrays)

    def lodcore_out(self, batch):
        arrays, out = batch.arrays, batch.values.copy()
        return lambda: LoDTensor.from_arrays(arrays, out=out)

    def flat(self, batch):
        arrays = batch.arrays
        return lambda: flat.from_arrays(arrays)

    def padded(self, batch):
        arrays, shape = batch.arrays, batch.padded_shape

        def call():
            padded = np.zeros(shape, arrays[0].dtype)
            for line, array in zip(padded, arrays, strict=True):
                line[: len(array)] = array
            return padded

        return call

    def copy(self, batch):
        return batch.values.copy


class FromArraysOfTwoDtypes(Times, widths=WIDTHS):
    """Make a batch of arrays of which every second one has another dtype."""

    def lodcore(self, batch):
        arrays = of_two_dtypes(batch)
        return lambda: LoDTensor.from_arrays(arrays)

    def flat(self, batch):
        arrays = of_two_dtypes(batch)
        return lambda: flat.from_arrays(arrays)

    def copy(self, batch):
        return batch.values.copy


def of_two_dtypes(batch):
    return [array.astype(np.float64) if j % 2 else array for j, array in enumerate(batch.arrays)]


class ToArrays(Times, widths=WIDTHS):
    """Return one array per sequence, as views."""

    def lodcore(self, batch):
        return batch.tensor.to_arrays

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: flat.to_arrays(values, offsets)

    def padded(self, batch):
        padded, lengths = batch.padded, batch.lengths
        return lambda: [line[:length] for line, length in zip(padded, lengths, strict=True)]

    def copy(self, batch):
        return batch.values.copy


class Iterate(Times):
    """Iterate over the sequences."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sum(1 for _ in x)

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: sum(1 for k in range(len(offsets) - 1) if values[offsets[k] : offsets[k + 1]] is not None)

    def copy(self, batch):
        return batch.values.copy


class FromLists(Times):
    """Make a batch of lists of Python numbers."""

    def lodcore(self, batch):
        lists = [array.tolist() for array in batch.arrays]
        return lambda: lodcore.array(lists)

    def flat(self, batch):
        lists = [array.tolist() for array in batch.arrays]
        return lambda: flat.from_arrays(lists)

    def copy(self, batch):
        return batch.values.copy


class ToLists(Times):
    """Return lists of Python numbers."""

    def lodcore(self, batch):
        return batch.tensor.tolist

    def flat(self, batch):
        values, offsets = batch.values, batch.offsets
        return lambda: [array.tolist() for array in flat.to_arrays(values, offsets)]

    def copy(self, batch):
        return batch.values.copy


class FromDocuments(Times):
    """Make a batch of documents, each a list of arrays."""

    def lodcore(self, batch):
        documents = documents_of(batch)
        return lambda: lodcore.array(documents)

    def flat(self, batch):
        documents = documents_of(batch)

        def call():
            outer = flat.offsets_from_lengths([len(document) for document in documents])
            return outer, *flat.from_arrays([array for document in documents for array in document])

        return call

    def copy(self, batch):
        return batch.values.copy


def documents_of(batch):
    bounds = batch.documents.tolist()
    return [batch.arrays[a:b] for a, b in pairwise(bounds)]
