"""The computation of `network` in plain Python, document by document, without arrays and offsets."""

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from typing import Any, NamedTuple

__all__ = ["Reading", "add_gradients", "read"]

Numbers = list[float]


class Reading(NamedTuple):
    """The intermediate results of one document.

    Parameters
    ----------
    sentences : list of list of float
        The pooled words of each sentence.
    weights : list of float
        The weight of each sentence.
    document : list of float
        The weighted sum of the sentences.
    scores : list of float
        The score of each topic.
    """

    sentences: list[Numbers]
    weights: Numbers
    document: Numbers
    scores: Numbers


def read(parameters: Mapping[str, Any], sentences: Sequence[Sequence[int]]) -> Reading:
    """Compute the intermediate results of one document.

    Parameters
    ----------
    parameters : dict
        As in `network`, in nested lists; "table" may be a dict of rows.
    sentences : list of list of int
        Numbers of words.
    """
    table, query, weight, bias = (parameters[name] for name in ("table", "query", "weight", "bias"))
    columns = range(len(query))
    pooled = [
        [sum(table[word][column] for word in words) / sqrt(len(words)) for column in columns] for words in sentences
    ]
    weights = softmax([sum(sentence[column] * query[column][0] for column in columns) for sentence in pooled])
    document = [sum(w * sentence[column] for w, sentence in zip(weights, pooled, strict=True)) for column in columns]
    scores = [
        bias[topic] + sum(document[column] * weight[column][topic] for column in columns) for topic in range(len(bias))
    ]
    return Reading(pooled, weights, document, scores)


def softmax(numbers: Sequence[float]) -> Numbers:
    """Compute the softmax of numbers."""
    largest = max(numbers)
    powers = [exp(number - largest) for number in numbers]
    return [power / sum(powers) for power in powers]


def add_gradients(
    parameters: Mapping[str, Any], sentences: Sequence[Sequence[int]], topic: int, gradients: Mapping[str, Any]
) -> float:
    """Return the cross-entropy of one document, and add its gradient to `gradients`, in the form of `parameters`."""
    query, weight = parameters["query"], parameters["weight"]
    pooled, weights, document, scores = read(parameters, sentences)
    probabilities = softmax(scores)
    d_scores = [probability - (k == topic) for k, probability in enumerate(probabilities)]
    d_document = [sum(d * w for d, w in zip(d_scores, row, strict=True)) for row in weight]
    for k, d in enumerate(d_scores):
        gradients["bias"][k] += d
        for column, value in enumerate(document):
            gradients["weight"][column][k] += d * value
    d_weights = [sum(d * value for d, value in zip(d_document, sentence, strict=True)) for sentence in pooled]
    average = sum(w * d for w, d in zip(weights, d_weights, strict=True))
    for words, sentence, w, d_weight in zip(sentences, pooled, weights, d_weights, strict=True):
        d_agreement = w * (d_weight - average)  # back through the softmax
        for column, value in enumerate(sentence):
            gradients["query"][column][0] += d_agreement * value
            d_word = (w * d_document[column] + d_agreement * query[column][0]) / sqrt(len(words))
            for word in words:
                gradients["table"][word][column] += d_word
    return -log(probabilities[topic])
