"""Elementwise math: on the rows of all sequences (lodcore), on the values alone (flat), on a padded array."""

import numpy as np

from lodcore import ops, sigmoid

from .common import WIDTHS, Times


class Add(Times, widths=WIDTHS):
    """Add two batches of one structure."""

    def lodcore(self, batch):
        x, y = batch.tensor, batch.tensor.clone()
        return lambda: x + y

    def flat(self, batch):
        x, y = batch.values, batch.values.copy()
        return lambda: x + y

    def padded(self, batch):
        x, y = batch.padded, batch.padded.copy()
        return lambda: x + y


class Sigmoid(Times, widths=WIDTHS):
    """Compute 1 / (1 + exp(-x))."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: sigmoid(x)

    def flat(self, batch):
        x = batch.values
        return lambda: 1 / (1 + np.exp(-x))

    def padded(self, batch):
        x = batch.padded
        return lambda: 1 / (1 + np.exp(-x))


class Choice(Times, widths=WIDTHS):
    """Replace values below a bound by 0."""

    def lodcore(self, batch):
        x = batch.tensor
        return lambda: ops.where(x > 99, x, 0)

    def flat(self, batch):
        x = batch.values
        return lambda: np.where(x > 99, x, 0)

    def padded(self, batch):
        x = batch.padded
        return lambda: np.where(x > 99, x, 0)
