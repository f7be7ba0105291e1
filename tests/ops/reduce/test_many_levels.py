"""Reductions over axes of many levels, whose positions are numbered in one pass, and of few, moved step by step."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, ops
from lodcore.ops.reduce import reduce_values

pytestmark = pytest.mark.not_on_reference


def nested(levels, seed):
    generator = np.random.default_rng(seed)
    lengths = [[3]]
    while len(lengths) <= levels:
        lengths.append(generator.integers(0 if len(lengths) > 2 else 1, 4, sum(lengths[-1])))
    return LoDTensor.from_lengths(generator.integers(0, 9, (sum(lengths[-1]), 2)) / 4, *lengths[1:])


REDUCTIONS = [
    lambda x, axes: ops.sum(x, axes),
    lambda x, axes: ops.max(x, axes, keepdims=True, empty=0),
    lambda x, axes: ops.argmax(x, np.max(axes), empty=-1),
    lambda x, axes: ops.var(x, axes, keepdims=True),
    lambda x, axes: ops.quantile(x, 0.5, axes),
    lambda x, axes: ops.average(x, axes, weights=x + 1),
    lambda x, axes: lodcore.value_and_grad(lambda x: ops.sum(ops.mean(x, axes, empty=0) ** 2))(x)[1],
]


def test_reductions_do_not_depend_on_how_axes_are_moved(monkeypatch):
    for levels in (3, 6):
        x = nested(levels, levels)
        for axes in (0, 1, (0, 1), (0, 2), (1, 3), (0, levels), (0, 2, levels), (1, levels - 1)):
            for reduce in REDUCTIONS:
                found = []
                for few in (0, 99):
                    monkeypatch.setattr(reduce_values, "FEW", few)
                    found.append(reduce(x, axes))
                one, other = (lodcore.ops.fill_nan(x, -1) for x in found)
                assert np.array_equal(one, other)
