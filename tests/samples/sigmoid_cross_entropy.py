"""Samples of the loss of logits of two classes."""

from lodcore import DTypeError
from reference.ops.sigmoid_cross_entropy import sigmoid_cross_entropy
from tests.samples.math import NUMBERS, binary

COSTS = """
ops.sigmoid_cross_entropy(x, x > 1)
"""
SAMPLES = {"sigmoid_cross_entropy": binary("sigmoid_cross_entropy", sigmoid_cross_entropy, NUMBERS)}
SAMPLES["sigmoid_cross_entropy"].errors.extend(
    [
        ("ops.sigmoid_cross_entropy(flat, np.zeros(1, 'M8[D]'))", DTypeError, r"dtypes int64, datetime64\[D\]"),
        ("ops.sigmoid_cross_entropy(np.ones(1, complex), flat)", DTypeError, "dtypes complex128, int64"),
    ]
)
