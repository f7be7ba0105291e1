"""Recurrent layers, their definition on lists, and batches of all kinds, shared by the tests of `lodcore.nn`."""

from functools import partial

import numpy as np

from lodcore import LoDTensor, nn, tree_leaves, tree_map
from reference.ops import recurrent_layers as oracle

N_IN = 3

#: Lengths of each level.
STRUCTURES = {
    "some": [[2, 1, 3]],
    "empty first": [[0, 0, 2, 3]],
    "empty last": [[1, 3, 0]],
    "empty within": [[3, 0, 5, 1, 0, 5]],
    "only empty": [[0, 0, 0]],
    "no sequences": [[]],
    "one row": [[1]],
    "two levels": [[2, 0, 3, 1], [0, 3, 0, 5, 1, 0]],
    "two levels, empty": [[0, 2], [0, 0]],
    "three levels": [[1, 2], [2, 0, 1], [1, 0, 2]],
}

#: Each layer, and the cell that defines it, a function of parameters, a row and a state.
LAYERS = {
    "tanh": (nn.SimpleRNN(N_IN, 4), oracle.simple_cell),
    "relu": (nn.SimpleRNN(N_IN, 2, "relu"), partial(oracle.simple_cell, activation="relu")),
    "sigmoid": (nn.SimpleRNN(N_IN, 1, "sigmoid"), partial(oracle.simple_cell, activation="sigmoid")),
    "identity": (nn.SimpleRNN(N_IN, 2, "identity"), partial(oracle.simple_cell, activation="identity")),
    "lstm": (nn.LSTM(N_IN, 4), oracle.lstm_cell),
    "peepholes": (nn.LSTM(N_IN, 2, peepholes=True), partial(oracle.lstm_cell, peepholes=True)),
    "projection": (nn.LSTM(N_IN, 4, projection=2), oracle.lstm_cell),
    "clip": (nn.LSTM(N_IN, 3, clip=0.1), partial(oracle.lstm_cell, clip=0.1)),
    "all of it": (nn.LSTM(N_IN, 2, True, 3, 0.1), partial(oracle.lstm_cell, peepholes=True, clip=0.1)),
    "gru": (nn.GRU(N_IN, 4), oracle.gru_cell),
    "origin": (nn.GRU(N_IN, 2, origin_mode=True), partial(oracle.gru_cell, origin_mode=True)),
}


def batch(lengths, dtype=np.float64, seed=0):
    """Make a batch of a structure."""
    rows = np.random.default_rng(seed).standard_normal((sum(lengths[-1]), N_IN))
    return LoDTensor.from_lengths(rows.astype(dtype), *lengths)


def drawn(tree, seed=1):
    """Make a tree of small random numbers, of the form of another tree."""
    random = np.random.default_rng(seed)
    return tree_map(lambda one: (random.standard_normal(one.shape) * 0.4).astype(one.dtype), tree)


def network(layer, count, dtype=np.float64, seed=1):
    """Draw parameters, and the states of some sequences."""
    parameters = drawn(layer.init(np.random.default_rng(0), dtype), seed)
    return parameters, drawn(layer.initial_state(parameters, count), seed + 1)


def lists(tree):
    """Return a tree of arrays as one of nested lists."""
    return tree_map(lambda one: one.tolist(), tree)


def states_of(tree, count):
    """Return the state of each sequence: a list, or a pair of lists."""
    if isinstance(tree, tuple):
        return [tuple(one[s].tolist() for one in tree) for s in range(count)]
    return [tree[s].tolist() for s in range(count)]


def values(x):
    """Return the numbers of a tensor."""
    return x.values if isinstance(x, LoDTensor) else x


def assert_same(found, wanted, tolerance=1e-10):
    """Compare trees of tensors: structures, dtypes, and numbers."""
    first, second = tree_leaves(found), tree_leaves(wanted)
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert type(one) is type(other)
        assert getattr(one, "lod", None) == getattr(other, "lod", None)
        assert values(one).dtype == values(other).dtype
        assert values(one).shape == values(other).shape
        np.testing.assert_allclose(values(one), values(other), rtol=tolerance, atol=tolerance)


def assert_means(found, wanted, x, dtype):
    """Compare outputs and last states with those of the reference, as lists."""
    tolerance = 1e-10 if dtype == np.float64 else 2e-5
    (outputs, last_state), (rows, lasts) = found, wanted
    assert outputs.lod is x.lod or outputs.lod == x.lod
    flat = rows
    for _ in range(x.num_levels):
        flat = [inner for outer in flat for inner in outer]
    assert outputs.dtype == dtype
    np.testing.assert_allclose(outputs.values, np.reshape(flat, outputs.values.shape), tolerance, tolerance)
    for k, one in enumerate(tree_leaves(last_state)):
        each = [last[k] if isinstance(last, tuple) else last for last in lasts]
        assert one.dtype == dtype
        np.testing.assert_allclose(one, np.reshape(each, one.shape), tolerance, tolerance)
