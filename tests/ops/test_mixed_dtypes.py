"""Operands of different dtypes: the gradient of each has its own dtype, and the numbers of a wide computation."""

import numpy as np
import pytest

import lodcore
from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import DTypeError, LoDTensor, TensorArray
from lodcore.ops.registry import OPS
from lodcore.testing.samples import Sample, several, tensors_of, with_tensors
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # dtypes are chosen above the kernels


X = LoDTensor.from_lengths(2 + np.sin(np.arange(12.0)).reshape(6, 2), [2, 0, 3, 1])
IN, LSTM, STATES = np.ones((2, 12)) / 8, np.arange(24.0).reshape(2, 12) / 64, np.cos(np.arange(8.0)).reshape(4, 2)
CELLS = np.arange(12.0).reshape(4, 3) / 8
#: Calls beyond the small ones: of operators that take any operands, or that have optional ones.
MORE = {
    "add": ((X, X),),
    "minus": ((X, STATES[:, None]),),
    "mul": ((STATES[0], X),),
    "div": ((X, X + 1.0),),
    "where": ((X > 1, X, STATES[:1]),),
    "cross_entropy": ((X.values, [0, 1, 0, 1, 1, 0], 0.25),),
    "embedding_bag": ((STATES, [[0, 3], [], [2, 2, 1]]), {"per_sample_weights": X.values[:5, 0].copy()}),
    "dot_attention": ((STATES, X, X * 2.0), {"scale": 0.5}),
    "dot_attention of several": ((X, X, X * 2.0),),
    "lstm_layer": ((X, IN, LSTM, IN[0], np.ones((3, 2)) / 4, STATES, CELLS),),
    "gru_layer": ((X, IN[:, :6], LSTM[:, :6], IN[0, :6], STATES),),
    "simple_layer": ((X, IN[:, :2], LSTM[:, :2], IN[0, :2], STATES),),
    "linear": ((X, LSTM, IN[0]),),
}
#: Operators whose operands must have one dtype.
OF_ONE_DTYPE = {"concat_batches", "sequence_concat", "merge_by_mask"}
#: Operators whose results have the numbers, and the dtype, of one operand.
MOVING = {"cartesian", "refuse_unlike", "spread", "with_values"}


def is_float(x):
    return not isinstance(x, TensorArray) and x.dtype.kind == "f"


def calls():
    """List names and calls with at least two floats, all of them float64, with numbers that float32 holds."""
    small = [(name, Sample(ARGUMENTS[name](), KEYWORDS.get(name, {}))) for name in ARGUMENTS]
    for name, sample in [*small, *((name, Sample(*given, *[{}][len(given) - 1 :])) for name, given in MORE.items())]:
        made = with_tensors(sample, lambda x: x.astype("f4").astype("f8") if is_float(x) else x)
        if OPS[name.split()[0]].differentiable and sum(map(is_float, tensors_of(made))) > 1:
            yield name, made


def gradients(op, sample):
    """Return the floats of a call, its results, and the gradients for a cotangent that rises."""
    floats = [x for x in tensors_of(sample) if is_float(x)]

    def call(*given):
        left = iter(given)
        made = with_tensors(sample, lambda x: next(left) if is_float(x) else x)
        return op(*made.args, **made.kwargs)

    found, back = lodcore.vjp(call, *floats)
    rows = [np.asarray(getattr(x, "values", x)) for x in several(found)]
    ones = [1 + np.arange(x.size, dtype=x.dtype).reshape(x.shape) / 8 if x.dtype.kind == "f" else None for x in rows]
    return floats, rows, back(*ones)


@for_each(("name", "sample"), calls())
def test_one_narrow_operand_changes_its_own_gradient_only(name, sample):
    """All is computed as if it were wide; its gradient alone is rounded to its dtype."""
    op = OPS[name.split()[0]]
    floats, results, wanted = gradients(op, sample)
    for at in range(len(floats)):
        left = iter(range(len(floats)))
        mixed = with_tensors(sample, lambda x: x.astype("f4") if is_float(x) and next(left) == at else x)  # noqa: B023
        if name in OF_ONE_DTYPE:
            with pytest.raises(DTypeError, match="float"):
                op(*mixed.args, **mixed.kwargs)
            continue
        operands, rows, found = gradients(op, mixed)
        for one, other in zip(rows, results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, strict=name not in MOVING)
        for x, one, other in zip(operands, found, wanted, strict=True):
            if one is None:
                assert other is None
                continue
            one, other = (getattr(d, "values", d) for d in (one, other))
            assert one.dtype == x.dtype, at
            np.testing.assert_allclose(one, other, *[(1e-12, 1e-12), (1e-6, 1e-6)][x.dtype == np.float32])
