"""dot_attention, compared with the formula and with differences of its results."""

import numpy as np
import pytest

from lodcore import LoDTensor, ops, vjp
from tests.helpers.agree import values_of
from tests.helpers.tables import for_each


@pytest.mark.not_on_reference
@for_each("width", [1, 2, 4])
def test_dot_attention_divides_scores_by_the_root_of_the_width(width):
    weights = np.exp([2 * np.sqrt(width), 0]) / (np.exp(2 * np.sqrt(width)) + 1)
    query, memory = np.full((1, width), 2.0), LoDTensor.from_lengths(np.outer([1.0, 0.0], [1] * width), [2])
    for asked in (query, LoDTensor.from_lengths(query, [1])):
        context, found = ops.dot_attention(asked, memory)
        np.testing.assert_allclose(values_of(found), weights, rtol=1e-14)
        np.testing.assert_allclose(values_of(context), [[weights[0]] * width], rtol=1e-14)


@pytest.mark.not_on_reference
def test_dot_attention_gradient_of_a_memory_that_is_also_the_values():
    query, rows = np.cos(np.arange(6.0)).reshape(3, 2), np.sin(np.arange(8.0)).reshape(4, 2)
    d, d_weights = np.cos(1 + np.arange(6.0)).reshape(3, 2), np.sin(2 + np.arange(12.0)).reshape(3, 4)

    def loss(rows, scale):
        weights = np.exp(query @ rows.T * scale)
        weights /= weights.sum(1, keepdims=True)
        return (d * (weights @ rows)).sum() + (d_weights * weights).sum()

    for scale in (1 / np.sqrt(2), 3.0):
        steps = np.eye(8).reshape(8, 4, 2) * 1e-6
        wanted = [(loss(rows + step, scale) - loss(rows - step, scale)) / 2e-6 for step in steps]
        asked, memory = LoDTensor.from_lengths(query, [3]), LoDTensor.from_lengths(rows, [4])
        _, back = vjp(lambda m, asked=asked, scale=scale: ops.dot_attention(asked, m, scale=scale), memory)
        (found,) = back(d, d_weights.ravel())
        np.testing.assert_allclose(values_of(found).ravel(), wanted, rtol=1e-6, atol=1e-8)
