"""The flat NumPy idioms: the operations of lodcore with whole-array NumPy on values and offsets."""

from itertools import pairwise

import numpy as np


def offsets_from_lengths(lengths):
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def is_valid(offsets, rows):
    return bool(offsets[0] == 0 and offsets[-1] == rows and (offsets[1:] >= offsets[:-1]).all())


def segment_ids(lengths):
    return np.repeat(np.arange(len(lengths)), lengths)


def positions(offsets):
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def row_numbers(starts, lengths):
    """List the row numbers of ranges, consecutively; return also their offsets."""
    offsets = offsets_from_lengths(lengths)
    numbers = np.repeat(starts - offsets[:-1], lengths)
    numbers += np.arange(len(numbers))
    return numbers, offsets


def take(values, offsets, index):
    starts = offsets[index]
    numbers, taken = row_numbers(starts, offsets[index + 1] - starts)
    return values.take(numbers, axis=0), taken


def take_documents(values, offsets, documents, index):
    starts = documents[index]
    numbers, outer = row_numbers(starts, documents[index + 1] - starts)
    rows, inner = take(values, offsets, numbers)
    return rows, outer, inner


def slice_each(values, offsets, starts, sizes):
    numbers, cut = row_numbers(offsets[:-1] + starts, sizes)
    return values.take(numbers, axis=0), cut


def slice_outer(values, offsets, start, stop):
    return values[offsets[start] : offsets[stop]], offsets[start : stop + 1] - offsets[start]


def split(values, offsets, documents):
    bounds = documents.tolist()
    return [slice_outer(values, offsets, a, b) for a, b in pairwise(bounds)]


def concat(batches):
    rows = np.concatenate([values for values, _ in batches])
    return rows, offsets_from_lengths(np.concatenate([np.diff(offsets) for _, offsets in batches]))


def from_arrays(arrays):
    return np.concatenate(arrays), offsets_from_lengths([len(a) for a in arrays])


def to_arrays(values, offsets):
    bounds = offsets.tolist()
    return [values[a:b] for a, b in pairwise(bounds)]


def pad(values, lengths):
    longest = int(lengths.max())
    numbers, _ = row_numbers(np.arange(len(lengths)) * longest, lengths)
    padded = np.zeros((len(lengths), longest, *values.shape[1:]), values.dtype)
    padded.reshape(-1, *values.shape[1:])[numbers] = values
    return padded


def unpad(padded, lengths):
    numbers, offsets = row_numbers(np.arange(len(lengths)) * padded.shape[1], lengths)
    return padded.reshape(-1, *padded.shape[2:]).take(numbers, axis=0), offsets


def rank(lengths):
    return np.argsort(-lengths, kind="stable")


def unpack(values, offsets):
    """Return the rows step by step, the longest sequence first, the size of each step, and the order."""
    lengths = np.diff(offsets)
    order = rank(lengths)
    descending = lengths[order]
    longest = int(descending[0])
    sizes = len(lengths) - np.searchsorted(descending[::-1], np.arange(longest), side="right")
    steps = np.repeat(np.arange(longest), sizes)
    places = np.arange(len(steps)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return values.take(offsets[:-1][order][places] + steps, axis=0), sizes, order


def pack(steps, sizes, order, offsets):
    """Convert the result of `unpack` back to sequences."""
    lengths = np.diff(offsets)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    starts = np.cumsum(sizes) - sizes
    return steps.take(starts[positions(offsets)] + np.repeat(places, lengths), axis=0)


def reduce_sequences(values, offsets, reduce):
    out = np.zeros((len(offsets) - 1, *values.shape[1:]), values.dtype)
    full = offsets[1:] > offsets[:-1]
    out[full] = reduce.reduceat(values, offsets[:-1][full], axis=0)
    return out
