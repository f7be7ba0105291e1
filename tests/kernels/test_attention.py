"""Attention of one query per sequence and its gradients: kernel and twin, and every path."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum
from tests.helpers.paths import on_each_path
from tests.helpers.rows import REALS, scores

OFFSETS = lengths(None, 5, 5).map(running_sum).map(int64)
WIDTHS = [0, 1, 2, 5, 16, 17, 40]


def drawn_batch(seed, offsets, dtype, width, value_width):
    """Draw a query, memory, values, and the cotangents of context and weights."""
    n_seqs, n_rows = len(offsets) - 1, offsets[-1]
    shapes = [(n_seqs, width), (n_rows, width), (n_rows, value_width), (n_seqs, value_width)]
    made = [scores(seed + k, count, dtype, size) for k, (count, size) in enumerate(shapes)]
    return *made, scores(seed + 4, n_rows, dtype, 1).reshape(-1)


@pytest.mark.not_on_reference
@given(
    st.integers(0, 2**32), OFFSETS, st.sampled_from(REALS), st.sampled_from(WIDTHS), st.sampled_from(WIDTHS),
    st.booleans(),
)  # fmt: skip
def test_twins(seed, offsets, dtype, width, value_width, shared):
    query, memory, values, d_context, d_weights = drawn_batch(seed, offsets, dtype, width, value_width)
    values, d_context = (memory, query) if shared else (values, d_context)
    weights = unwritten(len(memory), dtype=dtype)
    context = unwritten(*d_context.shape, dtype=dtype)
    agree("attention.attend_rows", query, memory, values, offsets, 0.5, weights, context)
    kernels.attention.attend_rows(query, memory, values, offsets, 0.5, weights, context)
    weights.flags.writeable = False
    outs = [unwritten(*x.shape, dtype=dtype) for x in (d_weights, query, memory, values)]
    outs[3] = outs[3][:0] if shared else outs[3]
    arguments = (d_context, d_weights, query, memory, values, offsets, 0.5, weights, *outs, shared)
    agree("attention.attend_rows_back", *arguments)


@given(OFFSETS, st.integers(0, 2**32))
def test_weights_are_a_softmax_and_the_context_their_sum(offsets, seed):
    random = np.random.default_rng(seed)
    query, memory = random.normal(size=(len(offsets) - 1, 4)), random.normal(size=(offsets[-1], 4))
    weights, context = np.empty(len(memory)), np.empty_like(query)
    kernels.attention.attend_rows(query, memory, memory, offsets, 2.0, weights, context)
    for s, (start, stop) in enumerate(pairwise(offsets)):
        powers = np.exp(2 * memory[start:stop] @ query[s])
        np.testing.assert_allclose(weights[start:stop], powers / powers.sum(), rtol=1e-12)
        np.testing.assert_allclose(context[s], weights[start:stop] @ memory[start:stop], atol=1e-12)


def digest():
    """Compute seeded batches of all kinds of widths, and hash the results."""
    found = hashlib.sha256()
    random = np.random.default_rng(3)
    for seed in range(100):
        dtype, width = REALS[seed % 2], WIDTHS[1:][seed % 6]
        offsets = np.append(0, np.cumsum(random.integers(0, 30, 5)))
        query, memory, values, d_context, d_weights = drawn_batch(5 * seed, offsets, dtype, width, 19)
        weights, context = np.empty(len(memory), dtype), np.empty((5, 19), dtype)
        kernels.attention.attend_rows(query, memory, values, offsets, 0.3, weights, context)
        outs = [np.empty_like(x) for x in (weights, query, memory, values)]
        kernels.attention.attend_rows_back(
            d_context, d_weights, query, memory, values, offsets, 0.3, weights, *outs, False
        )
        for array in (weights, context, *outs):
            found.update(array.tobytes())
    return found.hexdigest()


@pytest.mark.not_on_reference
def test_every_path_has_the_same_bits():
    assert set(on_each_path("tests.kernels.test_attention", "digest").values()) == {digest()}


def test_arrays_that_do_not_belong_together():
    query, memory, values, offsets = np.ones((1, 3)), np.ones((2, 3)), np.ones((2, 4)), int64([0, 2])
    line, context = np.ones(2), np.full((1, 4), 7.0)
    good = [query, memory, values, offsets, 1.0, line, context]
    back = [np.ones((1, 4)), line, query, memory, values, offsets, 1.0, line, np.ones(2)]
    back += [np.ones((1, 3)), np.ones((2, 3)), np.full((2, 4), 7.0), False]
    for function, arguments in [(kernels.attention.attend_rows, good), (kernels.attention.attend_rows_back, back)]:
        for at, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                shape = [n + 1 for n in argument.shape]
                wrong = int64([0, 3]) if argument is offsets else np.ones(shape)
                with pytest.raises(ValueError, match="belong together"):
                    function(*arguments[:at], wrong, *arguments[at + 1 :])
    with pytest.raises(ValueError, match="belong together"):
        kernels.attention.attend_rows_back(*back[:-1], True)
    assert (context == 7).all()
