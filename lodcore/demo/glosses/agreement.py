"""Comparison of the network with plain Python code, and with padded documents."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import lodcore
from lodcore.demo.glosses import by_hand, network, padded
from lodcore.demo.glosses.data import Glosses
from lodcore.demo.glosses.network import Parameters

__all__ = ["Padding", "differences", "measure_padding"]


def differences(parameters: Parameters, glosses: Glosses) -> dict[str, float]:
    """Compare scores, loss and gradients of the network with those of plain Python loops.

    Returns
    -------
    dict of float
        The maximum differences of "scores", "loss" and "gradients".
    """
    numbers = {name: values.tolist() for name, values in parameters.items()}
    summed: dict[str, Any] = {name: np.zeros(values.shape).tolist() for name, values in parameters.items()}
    scores, losses = [], []
    for sentences, topic in zip(glosses.documents.tolist(), glosses.topics.tolist(), strict=True):
        scores.append(by_hand.read(numbers, sentences).scores)
        losses.append(by_hand.add_gradients(numbers, sentences, topic, summed))
    loss, gradients = lodcore.value_and_grad(network.loss)(parameters, *glosses)
    gradients["table"] = gradients["table"].to_dense()
    return {
        "scores": farthest(network.scores(parameters, glosses.documents), scores),
        "loss": farthest(loss, np.mean(losses)),
        "gradients": max(farthest(gradients[name], np.divide(summed[name], len(losses))) for name in parameters),
    }


def farthest(found: Any, expected: Any) -> float:
    """Return the largest difference of two arrays."""
    return float(np.abs(np.subtract(found, expected)).max())


class Padding(NamedTuple):
    """The cost of the same scores with and without padding.

    Parameters
    ----------
    num_words, num_padded : int
        The numbers of words in the batches, without and with padding.
    seconds, seconds_padded : float
        The times for the scores of all batches, the best of five.
    difference : float
        The maximum difference of two scores.
    """

    num_words: int
    num_padded: int
    seconds: float
    seconds_padded: float
    difference: float


def measure_padding(parameters: Parameters, glosses: Glosses, batch_size: int, seed: int) -> Padding:
    """Compute the scores of all documents, in random batches, without padding and with padding of both levels."""
    order = np.random.default_rng(seed).permutation(len(glosses.topics))
    documents = [batch.documents for batch in network.batches(glosses, batch_size, order)]
    filling = len(parameters["table"])
    with_filling = {**parameters, "table": np.pad(parameters["table"], ((0, 1), (0, 0)))}
    arrays = [padded.pad(batch, filling) for batch in documents]
    seconds = seconds_padded = np.inf
    for _ in range(5):
        started = perf_counter()
        scores = [network.scores(parameters, batch) for batch in documents]
        between = perf_counter()
        scores_padded = [padded.scores(with_filling, array) for array in arrays]
        seconds, seconds_padded = min(seconds, between - started), min(seconds_padded, perf_counter() - between)
    return Padding(
        glosses.documents.num_rows,
        sum(array.size for array in arrays),
        seconds,
        seconds_padded,
        max(map(farthest, scores, scores_padded)),
    )
