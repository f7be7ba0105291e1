"""Strategies for packing and batching."""

import numpy as np
from hypothesis import strategies as st

from lodcore import LoD, LoDTensor

METHODS = ["next_fit", "first_fit", "best_fit", "histogram", "in_order"]
METHODS += ["next_fit_decreasing", "first_fit_decreasing", "best_fit_decreasing"]


def document_lengths(most=12, longest=12):
    """Draw lengths of documents, often equal ones."""
    return st.lists(st.integers(0, longest) | st.sampled_from([0, 1, longest // 2, longest]), max_size=most)


def documents_of(lengths, dtype=np.int64, width=()):
    """Make documents whose tokens are all different."""
    lod = LoD.from_lengths(np.array(lengths, np.int64))
    count = lod.num_rows * int(np.prod(width))
    return LoDTensor(np.arange(count).reshape(lod.num_rows, *width).astype(dtype), lod)
