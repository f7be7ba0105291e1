"""The computation of `network.scores` on documents that are padded to equal numbers of sentences and words."""

import numpy as np
from numpy.typing import NDArray

from lodcore import LoDTensor
from lodcore.demo.glosses.network import Parameters

__all__ = ["pad", "scores"]


def pad(documents: LoDTensor, filling: int) -> NDArray[np.int64]:
    """Pad a batch of documents on both levels.

    Returns
    -------
    int64 ndarray, shape (num_documents, most sentences, most words)

    Examples
    --------
    >>> import lodcore
    >>> pad(lodcore.array([[[1, 2], [3]], [[4]]]), 0).tolist()
    [[[1, 2], [3, 0]], [[4, 0], [0, 0]]]
    """
    sentences, words = documents.lod.lengths(0), documents.lod.lengths(1)
    out = np.full((len(sentences), sentences.max(), words.max()), filling)
    is_sentence = np.arange(out.shape[1]) < sentences[:, np.newaxis]
    is_word = np.zeros(out.shape, np.bool_)
    is_word[is_sentence] = np.arange(out.shape[2]) < words[:, np.newaxis]
    out[is_word] = documents.values
    return out


def scores(parameters: Parameters, documents: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return a score per document and topic.

    Parameters
    ----------
    parameters : dict of ndarray
        As in `network`, with one more row of zeros at the end of "table".
    documents : int64 ndarray, shape (num_documents, most sentences, most words)
        Padded with the number of that row.

    Returns
    -------
    float32 ndarray, shape (num_documents, num_topics)
    """
    table = parameters["table"]
    lengths = np.count_nonzero(documents < len(table) - 1, axis=2)[..., np.newaxis]
    sentences = table.take(documents, axis=0).sum(axis=2) / np.sqrt(np.maximum(lengths, 1), dtype=table.dtype)
    agreement = np.where(lengths, sentences @ parameters["query"], np.float32(-np.inf))
    powers = np.exp(agreement - agreement.max(axis=1, keepdims=True))
    pooled = (sentences * powers).sum(axis=1) / powers.sum(axis=1)
    result: NDArray[np.float32] = pooled @ parameters["weight"] + parameters["bias"]
    return result
