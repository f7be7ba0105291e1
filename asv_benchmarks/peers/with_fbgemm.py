"""FBGEMM: its jagged operators on CPU tensors."""

import fbgemm_gpu
import torch
from torch import from_numpy as tensor

VERSION = fbgemm_gpu.__version__
fbgemm = torch.ops.fbgemm
torch.set_grad_enabled(False)


def arrays(result):
    return [result.numpy()]


def from_lengths(batch):
    lengths = tensor(batch.lengths)
    return lambda: fbgemm.asynchronous_complete_cumsum(lengths)


def take(batch, index):
    values, lengths, numbers = tensor(batch.values), tensor(batch.lengths), tensor(index)
    narrow, count = numbers.to(torch.int32), int(batch.lengths[index].sum())

    def call():
        if values.ndim > 1:
            rows, taken = fbgemm.jagged_index_select(values, lengths, numbers)
        else:
            taken, rows, _ = fbgemm.permute_1D_sparse_data(narrow, lengths, values, None, count)
        return rows, fbgemm.asynchronous_complete_cumsum(taken)

    return call


def pad(batch):
    shape, values, lengths = batch.padded_shape, tensor(batch.values), tensor(batch.lengths)
    rows = values.reshape(len(values), -1)
    return lambda: fbgemm.pack_segments(rows, lengths, shape[1]).reshape(shape)


def unpad(batch):
    padded, offsets, count = tensor(batch.padded), tensor(batch.offsets), batch.rows
    padded = padded.reshape(*padded.shape[:2], -1)
    return lambda: fbgemm.dense_to_jagged(padded, [offsets], count)[0].reshape(batch.values.shape)


def pool(batch):
    if batch.width > 1:
        raise NotImplementedError("rows of width 1 alone")
    values, offsets = tensor(batch.values), tensor(batch.offsets)
    return lambda: fbgemm.segment_sum_csr(1, offsets, values)


def softmax(batch):
    scores, offsets, longest = tensor(batch.values) / 32, tensor(batch.offsets), batch.longest
    rows = scores.reshape(len(scores), -1)
    return lambda: fbgemm.jagged_softmax(rows, offsets, longest)[0].reshape(batch.values.shape)


OPERATIONS = {
    "lod.FromLengths": from_lengths,
    "gather.Permute": lambda batch: take(batch, batch.permutation),
    "gather.Subset": lambda batch: take(batch, batch.subset),
    "pad.Pad": pad,
    "pad.Unpad": unpad,
    "pool.Pool": pool,
    "softmax.Softmax": softmax,
}
