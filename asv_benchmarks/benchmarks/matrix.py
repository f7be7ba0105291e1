"""Products of few rows and a matrix that is packed once, compared with NumPy's; and of many rows, transposed."""

import numpy as np

from lodcore import kernels

SEED = 7


class Products:
    """Seconds of rows times a matrix (width, 4 * width)."""

    params = [["lodcore", "numpy"], [64, 256], [1, 8, 32, 128, 960]]
    param_names = ["way", "width", "rows"]
    repeat = (5, 50, 0.1)
    rounds = 1
    warmup_time = 0.02

    def setup(self, way, width, rows):
        random = np.random.default_rng(SEED)
        self.left = random.standard_normal((rows, width)).astype(np.float32)
        self.matrix = random.standard_normal((width, 4 * width)).astype(np.float32)
        self.packed = np.empty(self.matrix.size, np.float32)
        kernels.matrix.pack_columns(self.matrix, False, self.packed)
        self.out, self.total = np.empty((rows, 4 * width), np.float32), np.empty_like(self.matrix)
        self.right = random.standard_normal(self.out.shape).astype(np.float32)
        self.fast = way == "lodcore"

    def time_rows(self, *parameters):
        if self.fast:
            kernels.matrix.multiply_packed(self.left, self.packed, False, self.out)
        else:
            np.dot(self.left, self.matrix, self.out)

    def time_pairs(self, *parameters):
        if self.fast:
            kernels.matrix.multiply_pairs(self.left, None, self.right, None, False, self.total)
        else:
            np.dot(self.left.T, self.right, self.total)

    def time_pack(self, way, width, rows):
        if self.fast:
            kernels.matrix.pack_columns(self.matrix, False, self.packed)
