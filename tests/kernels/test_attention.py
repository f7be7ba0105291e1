"""Attention of one query per sequence and its gradients: kernel and twin, and every path."""

import hashlib
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodcore import kernels
from tests.helpers.against_twin import agree, unwritten
from tests.helpers.draw import int64, lengths, running_sum
from tests.helpers.rows import REALS, scores
from tests.helpers.tables import for_each

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


@pytest.mark.not_on_reference
@for_each(("dtype", "width"), [(dtype, width) for dtype in REALS for width in (1, 15, 16, 17, 33, 40, 49, 64, 70)])
def test_every_column_and_every_row_counts(dtype, width):
    """The best row is late in a long sequence; whole numbers, so that products are exact."""
    query = (1 + np.arange(2 * width).reshape(2, width) % 3).astype(dtype)
    memory = np.zeros((70, width), dtype)
    memory[np.arange(70), np.arange(70) % width] = 1 + np.arange(70) % 4
    memory[40] = 2000
    offsets, scale = int64([0, 2, 70]), 0.5
    weights, context = np.empty(70, dtype), np.empty((2, width), dtype)
    kernels.attention.attend_rows(query, memory, memory, offsets, scale, weights, context)
    assert weights[2:].tolist() == [0.0] * 38 + [1.0] + [0.0] * 29
    assert (context[1] == 2000).all()
    memory[40] = memory[39]
    kernels.attention.attend_rows(query, memory, memory, offsets, scale, weights, context)
    powers = np.exp(scale * np.einsum("rc,rc->r", memory.astype("f8"), query[[0, 0] + [1] * 68].astype("f8")) - 30)
    for s, at in enumerate((slice(0, 2), slice(2, 70))):
        np.testing.assert_allclose(weights[at], powers[at] / powers[at].sum(), rtol=1e-4)
        np.testing.assert_allclose(context[s], weights[at].astype("f8") @ memory[at], rtol=1e-4)


@pytest.mark.not_on_reference
@for_each(("dtype", "least"), [(REALS[0], 87.3), (REALS[0], 87.1), (REALS[1], 708.3), (REALS[1], 707.5)])
def test_small_weights_are_not_zero(dtype, least):
    """The exponential is 0 only where it would be subnormal."""
    memory, weights = np.array([[0], [-least], [-least - 0.2]], dtype), np.empty(3, dtype)
    kernels.attention.attend_rows(np.ones((1, 1), dtype), memory, memory, int64([0, 3]), 1.0, weights, memory[:1] * 0)
    wanted = [
        math.exp(-least),
        math.exp(-least - 0.2) if least + 0.2 < {4: 87.33654, 8: 708.3964}[dtype.itemsize] else 0,
    ]
    np.testing.assert_allclose(weights[1:], wanted, rtol=1e-4, atol=0)


@pytest.mark.not_on_reference
@pytest.mark.parametrize("shared", [False, True])
def test_gradients_are_those_of_the_definition(shared):
    """Of query, memory and values, for a scale that is not 1, and a cotangent of the weights."""
    random = np.random.default_rng(1)
    offsets, scale = int64([0, 3, 3, 7]), 0.3
    query, memory, d_context = random.normal(size=(3, 2)), random.normal(size=(7, 2)), random.normal(size=(3, 2))
    values, d_weights = memory if shared else random.normal(size=(7, 2)), random.normal(size=7)

    def run(query, memory, values):
        weights, context = np.empty(7), np.empty((3, 2))
        kernels.attention.attend_rows(query, memory, values, offsets, scale, weights, context)
        return weights, context

    def loss(*inputs):
        weights, context = run(*inputs)
        return (weights * d_weights).sum() + (context * d_context).sum()

    inputs, outs = [query, memory, values], [np.empty(7), *map(np.empty_like, (query, memory, values))]
    arguments = [d_context, d_weights, *inputs, offsets, scale, run(*inputs)[0], *outs, shared]
    arguments[-2] = outs[3][:0] if shared else outs[3]
    kernels.attention.attend_rows_back(*arguments)
    for j, found in enumerate(outs[1:3] if shared else outs[1:]):
        numeric = np.empty_like(found)
        for at in np.ndindex(found.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [x.copy() for x in inputs]
                moved[j][at] += step
                sides.append(loss(*(moved[:2] + moved[1:2] if shared else moved)))
            numeric[at] = (sides[0] - sides[1]) / 2e-6
        np.testing.assert_allclose(found, numeric, atol=1e-7, err_msg=["query", "memory", "values"][j])


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


def test_arrays_that_do_not_belong_together():
    query, memory, values, offsets = np.ones((1, 3)), np.ones((2, 3)), np.ones((2, 4)), int64([0, 2])
    line, context = np.ones(2), np.full((1, 4), 7.0)
    good = [query, memory, values, offsets, 1.0, line, context]
    back = [np.ones((1, 4)), line, query, memory, values, offsets, 1.0, line, np.ones(2)]
    back += [np.ones((1, 3)), np.ones((2, 3)), np.full((2, 4), 7.0), False]
    for function, arguments in [(kernels.attention.attend_rows, good), (kernels.attention.attend_rows_back, back)]:
        for at, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                shapes = [np.add(argument.shape, one) for one in np.eye(argument.ndim, dtype=int)]
                for wrong in [int64([0, 3]), int64([0])] if argument is offsets else map(np.ones, shapes):
                    with pytest.raises(ValueError, match="belong together"):
                        function(*arguments[:at], wrong, *arguments[at + 1 :])
    with pytest.raises(ValueError, match="belong together"):
        kernels.attention.attend_rows_back(*back[:-1], True)
    assert (context == 7).all()
