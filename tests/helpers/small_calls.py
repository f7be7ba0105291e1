"""Small calls of operators with several operands: with optional ones, and with sequences that are empty."""

import numpy as np

import lodcore
from asv_benchmarks.benchmarks.operators import ARGUMENTS, KEYWORDS
from lodcore import LoDTensor, TensorArray
from lodcore.operators.registry import OPS
from lodcore.testing.samples import Sample, several, tensors_of, with_tensors

__all__ = ["calls", "gradients", "is_float"]

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
    "gru_layer without states": ((X, IN[:, :6], LSTM[:, :6], IN[0, :6]),),
    "lstm_layer without states": ((X, IN[:, :8], LSTM[:, :8], IN[0, :8]),),
    "simple_layer without states": ((X, IN[:, :2], LSTM[:, :2], IN[0, :2]),),
    "simple_layer": ((X, IN[:, :2], LSTM[:, :2], IN[0, :2], STATES),),
    "linear": ((X, LSTM, IN[0]),),
}


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
