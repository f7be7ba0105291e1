"""Rows of a table by their numbers, single and pooled."""

import mmap

import numpy as np

from . import flat
from .common import DISTRIBUTIONS, Times

HEIGHT, WIDTHS = 50_000, [1, 64]


def in_huge_pages(shape):
    """Make an array of float32 in huge pages: otherwise each process would have other pages and places by chance."""
    memory = mmap.mmap(-1, 4 * int(np.prod(shape)))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.float32).reshape(shape)


def drawn(batch):
    """Draw a table and numbers of its rows with a skewed distribution, one per row of the batch."""
    rng = batch.rng("table")
    table = in_huge_pages((HEIGHT, batch.width))
    table[:] = rng.standard_normal(table.shape)
    return table, (rng.random(batch.rows) ** 3 * HEIGHT).astype(np.int64)


class Bag(Times, distributions=DISTRIBUTIONS, widths=WIDTHS):
    """Sum the rows whose numbers are in each sequence: gathered and `reduceat`, or a padded array of numbers."""

    def lodcore(self, batch):
        from lodcore import LoDTensor, embedding_bag

        table, numbers = drawn(batch)
        ids = LoDTensor.from_offsets(numbers, batch.offsets)
        return lambda: embedding_bag(table, ids)

    def lodcore_out(self, batch):
        from lodcore import LoDTensor, embedding_bag

        table, numbers = drawn(batch)
        ids = LoDTensor.from_offsets(numbers, batch.offsets)
        out = np.empty((len(batch), batch.width), table.dtype)
        return lambda: embedding_bag(table, ids, out=out)

    def flat(self, batch):
        (table, numbers), offsets = drawn(batch), batch.offsets
        return lambda: flat.reduce_sequences(table.take(numbers, axis=0), offsets, np.add)

    def padded(self, batch):
        table, numbers = drawn(batch)
        padded = np.zeros(batch.padded_shape[:2], np.int64)
        padded[batch.mask] = numbers
        mask = batch.mask[..., None]
        return lambda: np.where(mask, table[padded], np.float32(0)).sum(axis=1)


class WeightedBag(Times, distributions=["nlp"], widths=WIDTHS):
    """Sum the rows whose numbers are in each sequence, each times a weight."""

    def lodcore(self, batch):
        from lodcore import LoDTensor, embedding_bag

        table, numbers = drawn(batch)
        ids, weights = LoDTensor.from_offsets(numbers, batch.offsets), batch.rng("weights").random(batch.rows)
        weights = weights.astype(table.dtype)
        return lambda: embedding_bag(table, ids, per_sample_weights=weights)

    def flat(self, batch):
        (table, numbers), offsets = drawn(batch), batch.offsets
        weights = batch.rng("weights").random(batch.rows).astype(table.dtype)[:, None]
        return lambda: flat.reduce_sequences(table.take(numbers, axis=0) * weights, offsets, np.add)


class Lookup(Times, distributions=["nlp"], widths=WIDTHS):
    """Gather the row of each number."""

    def lodcore(self, batch):
        from lodcore import LoDTensor, lookup_table

        table, numbers = drawn(batch)
        ids = LoDTensor.from_offsets(numbers, batch.offsets)
        return lambda: lookup_table(table, ids)

    def lodcore_out(self, batch):
        from lodcore import LoDTensor, lookup_table

        table, numbers = drawn(batch)
        ids = LoDTensor.from_offsets(numbers, batch.offsets)
        out = np.empty((batch.rows, batch.width), table.dtype)
        return lambda: lookup_table(table, ids, out=out)

    def flat(self, batch):
        table, numbers = drawn(batch)
        return lambda: table.take(numbers, axis=0)


class MergeGradient(Times, distributions=["nlp"], widths=WIDTHS):
    """Sum the rows of a gradient that belong to one row of the table."""

    def lodcore(self, batch):
        from lodcore import SparseTensor

        _, numbers = drawn(batch)
        gradient = SparseTensor(numbers, np.ones((batch.rows, batch.width), "float32"), HEIGHT)
        return gradient.merge

    def flat(self, batch):
        _, numbers = drawn(batch)
        values = np.ones((batch.rows, batch.width), "float32")

        def call():
            order = np.argsort(numbers, kind="stable")
            unique, starts = np.unique(numbers[order], return_index=True)
            return unique, np.add.reduceat(values[order], starts, axis=0)

        return call
