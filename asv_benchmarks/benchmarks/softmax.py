"""Softmax and its gradient, logarithms of sums of exponentials, running sums."""

import numpy as np

from lodcore import LoDTensor, ops, sequence_cumsum, sequence_logsumexp, sequence_softmax, vjp

from .common import WIDTHS, Peaks, Times


def scores(batch):
    """Return the numbers of the batch in the range of scores: 0 to 8."""
    return LoDTensor(batch.values / np.array(32, batch.values.dtype), batch.tensor.lod)


def reduced(ufunc, values, batch, empty):
    """Reduce the rows of each sequence, and give every row its result; `empty` is that of sequences without rows."""
    full = batch.lengths > 0
    result = np.full((len(batch), *values.shape[1:]), empty, values.dtype)
    result[full] = ufunc.reduceat(values, batch.offsets[:-1][full])
    return result


class Softmax(Times, widths=WIDTHS):
    """Compute softmax within each sequence: by reduceat (`flat`), or with a mask (`padded`)."""

    def lodcore(self, batch):
        x = scores(batch)
        return lambda: sequence_softmax(x)

    def lodcore_out(self, batch):
        x, out = scores(batch), np.empty_like(batch.values)
        return lambda: sequence_softmax(x, out=out)

    def flat(self, batch):
        values, lengths = scores(batch).values, batch.lengths

        def call():
            powers = np.exp(values - np.repeat(reduced(np.maximum, values, batch, 0), lengths, axis=0))
            powers /= np.repeat(reduced(np.add, powers, batch, 1), lengths, axis=0)
            return powers

        return call

    def padded(self, batch):
        padded, mask = batch.padded / np.array(32, batch.dtype), batch.mask
        hidden = ~mask if padded.ndim == 2 else ~mask[:, :, None]

        def call():
            scores = np.where(hidden, -np.inf, padded)
            powers = np.exp(scores - np.maximum(scores.max(1, keepdims=True), np.finfo(scores.dtype).min))
            powers /= np.maximum(powers.sum(1, keepdims=True), np.finfo(scores.dtype).tiny)
            return powers

        return call

    def copy(self, batch):
        return batch.values.copy


class SoftmaxDtypes(Softmax, distributions=["nlp"], widths=WIDTHS, dtypes=["float32", "float64"]):
    """Compute softmax within each sequence, for both real dtypes."""


class SoftmaxPeak(Peaks):
    """Compute softmax within each sequence."""

    lodcore, flat, padded = Softmax.lodcore, Softmax.flat, Softmax.padded


class SoftmaxGradient(Times, widths=WIDTHS):
    """Run only the backward pass of softmax."""

    def lodcore(self, batch):
        _, pullback = vjp(sequence_softmax, scores(batch))
        cotangent = batch.values
        return lambda: pullback(cotangent)

    def lodcore_out(self, batch):
        _, pullback = vjp(sequence_softmax, scores(batch))
        cotangent, out = batch.values, np.empty_like(batch.values)
        return lambda: pullback(cotangent, out=(out,))

    def flat(self, batch):
        y, d, lengths = sequence_softmax(scores(batch)).values, batch.values, batch.lengths
        return lambda: y * (d - np.repeat(reduced(np.add, y * d, batch, 0), lengths, axis=0))


class SoftmaxOfRows(Times, widths=[64]):
    """Compute the softmax of the numbers of each row."""

    def lodcore(self, batch):
        x = scores(batch)
        return lambda: ops.softmax(x)

    def flat(self, batch):
        def run():
            powers = np.exp(batch.values - batch.values.max(-1, keepdims=True))
            return powers / powers.sum(-1, keepdims=True)

        return run


class LogSumExp(Times, widths=WIDTHS):
    """Compute the logarithm of the sum of exponentials of each sequence."""

    def lodcore(self, batch):
        x = scores(batch)
        return lambda: sequence_logsumexp(x)

    def flat(self, batch):
        values, lengths = scores(batch).values, batch.lengths

        def call():
            most = reduced(np.maximum, values, batch, 0)
            sums = reduced(np.add, np.exp(values - np.repeat(most, lengths, axis=0)), batch, 1)
            return most + np.log(sums)

        return call


class CumSum(Times, widths=WIDTHS):
    """Compute running sums: minus the sum before each sequence (`flat`), or along an axis (`padded`)."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sequence_cumsum(x)

    def flat(self, batch):
        values, offsets, lengths = batch.values, batch.offsets, batch.lengths

        def call():
            sums = np.cumsum(values, axis=0)
            before = np.concatenate([np.zeros_like(sums[:1]), sums])[offsets[:-1]]
            return sums - np.repeat(before, lengths, axis=0)

        return call

    def padded(self, batch):
        padded = batch.padded
        return lambda: np.cumsum(padded, axis=1)

    def copy(self, batch):
        return batch.values.copy
