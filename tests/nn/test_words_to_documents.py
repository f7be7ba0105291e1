"""Words to sentences to documents, trained end to end: two networks, one inside a step of the other."""

import numpy as np
import pytest

import lodcore
from lodcore import (
    Executor,
    LoDTensor,
    Program,
    append_backward,
    data,
    nn,
    ops,
    parameter,
    tree_leaves,
    tree_map,
    value_and_grad,
)
from tests.nn.networks import assert_same

WORDS, WIDTH, HIDDEN = 12, 4, 5
INNER = nn.Bidirectional(nn.GRU(WIDTH, HIDDEN))
OUTER = nn.LSTM(2 * HIDDEN, HIDDEN)


def documents(count, seed):
    """Draw documents, some sentences and some documents empty; the label says whether word 0 occurs in any sentence."""
    random = np.random.default_rng(seed)
    sentences = random.integers(0, 4, count)
    words = random.integers(0, 5, sentences.sum())
    found = LoDTensor.from_lengths(random.integers(0, WORDS, words.sum()), sentences, words)
    labels = np.array([0 in document.values for document in (found[d] for d in range(count))]).astype(int)
    return found, labels


def parameters(dtype):
    random = np.random.default_rng(0)
    return {
        "table": random.standard_normal((WORDS, WIDTH)).astype(dtype) * 0.5,
        "words": INNER.init(random, dtype),
        "sentences": OUTER.init(random, dtype),
        "out": random.standard_normal((HIDDEN, 2)).astype(dtype) * 0.5,
    }


class Sentences:
    """A step over documents takes a sentence of each, and maps words to a vector by a network, or by an inner loop."""

    def __init__(self, looped):
        self.looped = looped

    def __call__(self, parameters, words, state):
        if self.looped:
            forward, backward = (parameters["words"][way] for way in ("forward", "backward"))
            cell = INNER.layer.cell
            lasts = [
                nn.dynamic_rnn(cell, forward, words)[1],
                nn.dynamic_rnn(cell, backward, words, is_reverse=True)[1],
            ]
        else:
            lasts = INNER(parameters["words"], words)[1]
        return OUTER.cell(parameters["sentences"], ops.concat_values(list(lasts), 1), state)

    def initial_state(self, parameters, n):
        return OUTER.initial_state(parameters["sentences"], n)


def loss_of(parameters, batch, labels, way):
    """Compute the mean loss of a batch: by nested loops, by a layer in a loop, or by consecutive layers."""
    words = lodcore.lookup_table(parameters["table"], batch)
    if way == "layer after layer":
        lasts = INNER(parameters["words"], words)[1]
        sentences = lodcore.lod_reset(ops.concat_values(list(lasts), 1), target_lod=[batch.lod.offsets(0).tolist()])
        _, (state, _) = OUTER(parameters["sentences"], sentences)
    else:
        _, (state, _) = nn.dynamic_rnn(Sentences(way == "loop in a loop"), parameters, words, level=0)
    return lodcore.mean(lodcore.cross_entropy(state @ parameters["out"], labels))


WAYS = ["loop in a loop", "layer in a loop", "layer after layer"]


def test_losses_and_gradients_of_all_ways_agree():
    batch, labels = documents(7, 1)
    found = [value_and_grad(loss_of)(parameters(np.float64), batch, labels, way) for way in WAYS]
    for loss, gradient in found[1:]:
        np.testing.assert_allclose(loss, found[0][0], rtol=1e-12)
        assert_same(dense(gradient), dense(found[0][1]))


def dense(tree):
    """Convert gradients of tables to dense arrays."""
    return tree_map(lambda one: one.to_dense() if hasattr(one, "to_dense") else one, tree)


@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_the_document_network_are_derivatives(way):
    batch, labels = documents(7, 1)
    of = parameters(np.float64)
    _, gradient = value_and_grad(loss_of)(of, batch, labels, way)
    for seed in range(3):
        random = np.random.default_rng(seed)
        directions = [random.standard_normal(one.shape) for one in tree_leaves(of)]
        sides = [loss_of(moved(of, directions, step), batch, labels, way) for step in (1e-5, -1e-5)]
        pairs = zip(tree_leaves(dense(gradient)), directions, strict=True)
        derivative = sum((one * by).sum() for one, by in pairs)
        np.testing.assert_allclose(derivative, (float(sides[0]) - float(sides[1])) / 2e-5, rtol=1e-6, atol=1e-9)


def moved(tree, directions, step):
    """Move a tree by a step in a direction."""
    following = iter(directions)
    return tree_map(lambda one: one + step * next(following), tree)


@pytest.mark.parametrize("way", ["loop in a loop", "layer in a loop"])
@pytest.mark.not_on_reference
def test_the_document_network_learns_end_to_end(way):
    """The loss of documents falls to a fraction, by 120 steps of gradient descent with momentum, which take seconds."""
    of, step = parameters(np.float32), value_and_grad(loss_of)
    pace = tree_map(np.zeros_like, of)
    batches = [documents(40, seed) for seed in range(4)]
    losses = []
    for _ in range(30):
        for batch, labels in batches:
            loss, gradient = step(of, batch, labels, way)
            pace = tree_map(lambda m, d: np.float32(0.9) * m + d, pace, dense(gradient))
            of = tree_map(lambda p, m: p - np.float32(0.2) * m, of, pace)
            losses.append(float(loss))
    assert np.mean(losses[-4:]) < 0.4 * np.mean(losses[:4]), losses[::8]
    assert all(one.dtype == np.float32 for one in tree_leaves(of))


@pytest.mark.parametrize("way", ["loop in a loop", "layer in a loop"])
def test_recorded_once_and_fed_with_any_documents(way):
    of = parameters(np.float64)
    with Program() as program:
        given = data("documents", (None,), "int64", num_levels=2)
        labels = data("labels", (None,), "int64")
        shared = tree_map(parameter, of)
        loss = loss_of(shared, given, labels, way)
        append_backward(loss)
    names = [f"{one.name}@GRAD" for one in tree_leaves(shared)]
    for seed in range(3):
        batch, truth = documents(5, seed)
        found = Executor().run(program, {"documents": batch, "labels": truth}, [loss, *names])
        wanted, gradient = value_and_grad(loss_of)(of, batch, truth, way)
        np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
        assert_same(dense(found[1:]), tree_leaves(dense(gradient)))
