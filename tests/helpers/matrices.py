"""Matrices in the packed form of the kernels of `matrix`."""

import numpy as np

from lodcore import kernels


def packed_size(depth, columns, dtype):
    cells = 128 // dtype.itemsize
    return -(-columns // cells) * cells * depth


def packed(matrix, transposed=False):
    depth, columns = matrix.shape[::-1] if transposed else matrix.shape
    out = np.empty(packed_size(depth, columns, matrix.dtype), matrix.dtype)
    kernels.matrix.pack_columns(matrix, transposed, out)
    return out
