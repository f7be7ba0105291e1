"""Passing 0 is not the same as passing nothing, and False is not None."""

import numpy as np
import pytest

import lodcore
from lodcore import LoD, LoDError, LoDTensor, SparseTensor, TensorArray, ops
from lodcore.batching import batches, sample_by_temperature
from lodcore.graph import while_loop

pytestmark = pytest.mark.not_on_reference
X = lodcore.array([[1.0, -2.0], [], [-3.0]])
NONE = lodcore.array([[], []])


def loop_of(steps, most):
    loop = while_loop(max_steps=most)
    with loop.loop():
        step = loop.loop_var(0)
        loop.break_if(lodcore.greater_equal_than(step, steps))
    return int(step.get())


RESULTS = {
    "LoD without levels": (lambda: LoD.from_offsets(num_rows=0).num_rows, 0),
    "LoD without rows": (lambda: LoD.from_offsets([0, 0, 0], num_rows=0).lengths().tolist(), [0, 0]),
    "lengths without rows": (lambda: LoD.from_lengths([0, 0], num_rows=0).lengths().tolist(), [0, 0]),
    "lengths of nothing": (lambda: LoD.from_lengths(num_rows=0).num_rows, 0),
    "no segments": (lambda: LoD.from_segment_ids([], 0).num_sequences(), 0),
    "a tensor of none": (lambda: LoDTensor(np.zeros((0, 3)), LoD.from_offsets(num_rows=0)).values.shape, (0, 3)),
    "no filled rows": (lambda: lodcore.from_jax(np.ones(2), np.array([0, 5]), 0).tolist(), []),
    "padded to 0": (lambda: NONE.to_padded(length=0).shape, (2, 0)),
    "at least 0": (lambda: X.to_padded(min_length=0).shape, (3, 2)),
    "maxlen 0": (lambda: lodcore.sequence_pad(NONE, maxlen=0)[0].shape, (2, 0)),
    "lengths of 0": (lambda: lodcore.sequence_unpad(np.ones((2, 3)), 0).tolist(), [[], []]),
    "axis 0": (lambda: ops.sum(X, axis=0).tolist(), [-2.0, -2.0]),
    "level 0": (lambda: lodcore.sequence_pool(lodcore.array([[[1, 2], [3]]]), "sum", level=0).tolist(), [6]),
    "initial 0 of max": (lambda: ops.max(X, axis=1, initial=0).tolist(), [1.0, 0.0, 0.0]),
    "initial 0 of min": (lambda: ops.min(X, axis=1, initial=0).tolist(), [-2.0, 0.0, -3.0]),
    "empty 0": (lambda: ops.max(X, axis=1, empty=0).tolist(), [1.0, 0.0, -3.0]),
    "empty 0 of a mean": (lambda: ops.mean(X, axis=1, empty=0).tolist(), [-0.5, 0.0, -3.0]),
    "low 0": (lambda: np.clip(X, 0, None).tolist(), [[1.0, 0.0], [], [0.0]]),
    "high 0": (lambda: np.clip(X, None, 0).tolist(), [[0.0, -2.0], [], [-3.0]]),
    "quantile 0": (lambda: np.quantile(X[:1], 0, axis=1).tolist(), [-2.0]),
    "shift by 0": (lambda: lodcore.sequence_shift(X, 0, 9.0).tolist(), X.tolist()),
    "power 0": (lambda: lodcore.moment(X, 0, axis=None), 1.0),
    "where False": (lambda: ops.sum(X, axis=1, where=False).tolist(), [0.0, 0.0, 0.0]),
    "no rows of a table": (lambda: SparseTensor([], np.zeros((0, 2)), 0).to_dense().shape, (0, 2)),
    "no samples": (lambda: list(sample_by_temperature([3], num_samples=0)), []),
    "no steps at most": (lambda: loop_of(0, 0), 0),
    "default 0": (lambda: lodcore.gather_nested(np.array([5.0]), [0, 7], default=0).tolist(), [5.0, 0.0]),
    "seed 0": (lambda: [b.tolist() for b in batches([1] * 9, 3, shuffle=True, seed=0)] != [[0, 1, 2]] * 3, True),
}


@pytest.mark.parametrize("name", RESULTS)
def test_zero_and_false_are_not_taken_for_none(name):
    call, wanted = RESULTS[name]
    assert call() == wanted


REFUSED = {
    "offsets of more rows": (lambda: LoD.from_offsets([0, 1], num_rows=0), LoDError),
    "lengths of more rows": (lambda: LoD.from_lengths([1], num_rows=0), LoDError),
    "ids of no segments": (lambda: LoD.from_segment_ids([0], 0), LoDError),
    "padded to less": (lambda: X.to_padded(length=0), ValueError),
    "maxlen of less": (lambda: lodcore.sequence_pad(X, maxlen=0), ValueError),
    "multiples of 0": (lambda: X.to_padded(multiple_of=0), ValueError),
    "rolling over 0 rows": (lambda: lodcore.sequence_rolling(X, 0, "sum"), ValueError),
    "a budget of 0": (lambda: batches([1], 0), ValueError),
    "no items at most": (lambda: batches([1], 3, max_items=0), ValueError),
    "an index of no rows": (lambda: SparseTensor([0], [1.0], 0), IndexError),
    "one step of none": (lambda: loop_of(1, 0), lodcore.GraphError),
    "a place in none": (lambda: TensorArray(0, dynamic=False).write(0, X), IndexError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_zero_is_refused_where_a_positive_number_is_needed(name):
    call, error = REFUSED[name]
    with pytest.raises(error):
        call()
