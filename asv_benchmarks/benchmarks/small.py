"""Small calls, where the overhead dominates. They share no setup, so that asv runs each many times per sample."""

import numpy as np

from lodcore import (
    LoD,
    LoDTensor,
    TensorArray,
    concat_batches,
    cross_entropy,
    gather_sequences,
    sequence_concat,
    sequence_expand,
    sequence_expand_as,
    sequence_pad,
    sequence_reverse,
    sequence_slice,
    sequence_unpad,
)

from . import flat

OFFSETS = np.array([0, 2, 5, 6, 10])
LENGTHS = np.diff(OFFSETS)
VALUES = np.arange(10, dtype=np.float32)
INDEX = np.array([3, 0, 0, 2])
PAIRS = np.array([0, 4, 1, 5, 2, 6, 3, 7])
STARTS = np.array([1, 0, 1, 2])
SIZES = np.array([1, 2, 0, 2])
DOCUMENTS = np.array([0, 1, 4])
ARRAYS = flat.to_arrays(VALUES, OFFSETS)
X = LoDTensor.from_offsets(VALUES, OFFSETS)
NESTED = LoDTensor.from_offsets(VALUES, DOCUMENTS, OFFSETS)
PADDED = X.to_padded()
MASK, BITS = X > 4, VALUES > 4
SCORES, LABELS = np.linspace(-1, 1, 50, dtype=np.float32).reshape(10, 5), np.arange(10) % 5
STEPS, INDICES_MAP = TensorArray.unpack(X, 0)
UNPACKED = flat.unpack(VALUES, OFFSETS)

CALLS = {  # lodcore, and the NumPy idiom
    "x[i]": (lambda: X[1], lambda: VALUES[OFFSETS[1] : OFFSETS[2]]),
    "x[a:b]": (lambda: X[1:3], lambda: flat.slice_outer(VALUES, OFFSETS, 1, 3)),
    "x[mask]": (
        lambda: X[MASK],
        lambda: (VALUES[BITS], np.concatenate([[0], np.cumsum(BITS)])[OFFSETS]),
    ),
    "x.max": (lambda: X.max(axis=1), lambda: np.maximum.reduceat(VALUES, OFFSETS[:-1])),
    "x.std": (
        lambda: X.std(axis=1),
        lambda: np.sqrt(np.add.reduceat((VALUES - VALUES.mean()) ** 2, OFFSETS[:-1]) / LENGTHS),
    ),
    "cross_entropy": (
        lambda: cross_entropy(SCORES, LABELS),
        lambda: np.log(np.exp(SCORES).sum(axis=1)) - SCORES[np.arange(10), LABELS],
    ),
    "LoD.from_offsets": (lambda: LoD.from_offsets(OFFSETS), lambda: flat.is_valid(OFFSETS, 10)),
    "LoD.from_lengths": (lambda: LoD.from_lengths(LENGTHS), lambda: flat.offsets_from_lengths(LENGTHS)),
    "LoDTensor": (lambda: LoDTensor(VALUES, X.lod), lambda: (VALUES, OFFSETS)),
    "lengths": (lambda: X.lengths, lambda: np.diff(OFFSETS)),
    "segment_ids": (X.lod.segment_ids, lambda: flat.segment_ids(LENGTHS)),
    "gather_sequences": (lambda: gather_sequences(X, INDEX), lambda: flat.take(VALUES, OFFSETS, INDEX)),
    "sequence_slice": (
        lambda: sequence_slice(X, STARTS, SIZES),
        lambda: flat.slice_each(VALUES, OFFSETS, STARTS, SIZES),
    ),
    "concat_batches": (lambda: concat_batches([X, X]), lambda: flat.concat([(VALUES, OFFSETS), (VALUES, OFFSETS)])),
    "sequence_concat": (
        lambda: sequence_concat([X, X]),
        lambda: flat.take(*flat.concat([(VALUES, OFFSETS), (VALUES, OFFSETS)]), PAIRS),
    ),
    "sequence_expand": (
        lambda: sequence_expand(X, X.lod),
        lambda: flat.take(VALUES, OFFSETS, flat.segment_ids(LENGTHS)),
    ),
    "sequence_expand_as": (lambda: sequence_expand_as(VALUES[:4], X), lambda: np.repeat(VALUES[:4], LENGTHS)),
    "sequence_reverse": (
        lambda: sequence_reverse(X),
        lambda: VALUES[np.repeat(OFFSETS[:-1] + OFFSETS[1:] - 1, LENGTHS) - np.arange(10)],
    ),
    "sequence_pad": (lambda: sequence_pad(X), lambda: flat.pad(VALUES, LENGTHS)),
    "sequence_unpad": (lambda: sequence_unpad(PADDED, LENGTHS), lambda: flat.unpad(PADDED, LENGTHS)),
    "split": (lambda: list(NESTED), lambda: flat.split(VALUES, OFFSETS, DOCUMENTS)),
    "from_arrays": (lambda: LoDTensor.from_arrays(ARRAYS), lambda: flat.from_arrays(ARRAYS)),
    "to_arrays": (X.to_arrays, lambda: flat.to_arrays(VALUES, OFFSETS)),
    "to_padded": (X.to_padded, lambda: flat.pad(VALUES, LENGTHS)),
    "from_padded": (lambda: LoDTensor.from_padded(PADDED, LENGTHS), lambda: flat.unpad(PADDED, LENGTHS)),
    "unpack": (lambda: TensorArray.unpack(X, 0), lambda: flat.unpack(VALUES, OFFSETS)),
    "pack": (lambda: STEPS.pack(0, INDICES_MAP), lambda: flat.pack(*UNPACKED, OFFSETS)),
}


class Small:
    """Seconds of a call on 4 sequences of 10 rows in total."""

    params = [["lodcore", "flat"], list(CALLS)]
    param_names = ["way", "call"]
    repeat = (5, 20, 0.2)
    rounds = 1
    warmup_time = 0.02

    def time_call(self, way, call):
        CALLS[call][way == "flat"]()
