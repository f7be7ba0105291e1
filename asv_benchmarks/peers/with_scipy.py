"""SciPy: each sequence is a row of a sparse matrix, with its numbers in consecutive columns from 0."""

from functools import partial

import numpy as np
import scipy
from benchmarks import embedding, flat
from scipy import sparse

VERSION = scipy.__version__


def matrix(values, offsets, longest):
    if values.ndim > 1:
        raise NotImplementedError("rows of width 1 alone")
    return sparse.csr_array((values, flat.positions(offsets), offsets), (len(offsets) - 1, longest))


def of(batch):
    return matrix(batch.values, batch.offsets, batch.longest)


def arrays(x):
    return [x.data, x.indptr]


def take(x, index):
    return lambda: x[index]


def summing(columns, offsets, count):
    """Return the matrix that sums the rows of each sequence."""
    return sparse.csr_array((np.ones(len(columns), np.float32), columns, offsets), (len(offsets) - 1, count))


def pool(batch):
    sums, values = summing(np.arange(batch.rows), batch.offsets, batch.rows), batch.values
    return lambda: np.asarray(sums @ values)


def bag(batch):
    table, numbers = embedding.drawn(batch)
    sums = summing(numbers, batch.offsets, len(table))
    return lambda: np.asarray(sums @ table)


OPERATIONS = {
    "lod.Lengths": lambda batch: partial(np.diff, of(batch).indptr),
    "gather.Permute": lambda batch: take(of(batch), batch.permutation),
    "gather.Subset": lambda batch: take(of(batch), batch.subset),
    "gather.Concat": lambda batch: partial(
        sparse.vstack, [matrix(*part, batch.longest) for part in batch.parts], "csr"
    ),
    "lod.Slice": lambda batch: take(of(batch), slice(len(batch) // 4, 3 * len(batch) // 4)),
    "pad.Pad": lambda batch: batch.padded_shape and of(batch).toarray,
    "pool.Pool": pool,
    "embedding.Bag": bag,
}
