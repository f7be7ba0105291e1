"""NumPy's interface: small calls compared with those on a NumPy array, and reductions of large batches."""

import numpy as np

from lodcore import LoDTensor

from .common import WIDTHS, Times

VALUES = np.arange(10, dtype=np.float32)
X = LoDTensor.from_offsets(VALUES.copy(), [0, 2, 5, 6, 10])
Y = LoDTensor(VALUES, X.lod)
DENSE = np.arange(12.0, dtype=np.float32).reshape(4, 3)
KEPT = np.array([True, False, True, True])
LARGE, LARGE_DENSE = X > 3, DENSE > 3
OWN = X.clone()  # arrays shared with the caller are read-only

CALLS = {  # lodcore, and NumPy on an array of four equal sequences
    "x + 1": (lambda: X + 1, lambda: DENSE + 1),
    "x + y": (lambda: X + Y, lambda: DENSE + DENSE),
    "x ** 2": (lambda: X**2, lambda: DENSE**2),
    "x > 3": (lambda: X > 3, lambda: DENSE > 3),
    "np.tanh(x)": (lambda: np.tanh(X), lambda: np.tanh(DENSE)),
    "np.where": (lambda: np.where(LARGE, X, 0), lambda: np.where(LARGE_DENSE, DENSE, 0)),
    "x[mask]": (lambda: X[KEPT], lambda: DENSE[KEPT]),
    "x[index]": (lambda: X[[2, 0]], lambda: DENSE[[2, 0]]),
    "x[:, a:b]": (lambda: X[:, :2], lambda: DENSE[:, :2]),
    "x[:, ::-1]": (lambda: X[:, ::-1], lambda: DENSE[:, ::-1]),
    "x[:, j]": (lambda: X[:, -1], lambda: DENSE[:, -1]),
    "x[nested mask]": (lambda: X[LARGE], lambda: DENSE[LARGE_DENSE]),
    "x[i] = v": (lambda: OWN.__setitem__(1, 2), lambda: DENSE.__setitem__(1, 2)),
    "x.sum()": (lambda: X.sum(), lambda: DENSE.sum()),
    "x.sum(axis)": (lambda: X.sum(axis=1), lambda: DENSE.sum(axis=1)),
    "x.max(axis)": (lambda: X.max(axis=1), lambda: DENSE.max(axis=1)),
    "np.concatenate": (lambda: np.concatenate([X, Y]), lambda: np.concatenate([DENSE, DENSE])),
}


class Small:
    """Seconds of a call on 4 sequences of 10 rows in total."""

    params = [["lodcore", "numpy"], list(CALLS)]
    param_names = ["way", "call"]
    repeat = (5, 20, 0.2)
    rounds = 1
    warmup_time = 0.02

    def time_call(self, way, call):
        CALLS[call][way == "numpy"]()


class Variance(Times, widths=WIDTHS):
    """Compute the variance of each sequence."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: x.var(axis=1)

    def padded(self, batch):
        padded, mask = batch.padded, batch.mask.reshape(*batch.mask.shape, *(1,) * (batch.width > 1))
        counts = batch.lengths.reshape(-1, *(1,) * (batch.width > 1))

        def call():
            mean = padded.sum(axis=1) / counts
            return (np.where(mask, padded - mean[:, None], 0) ** 2).sum(axis=1) / counts

        return call
