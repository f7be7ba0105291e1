"""A hierarchical GRU: from words to sentences to documents, by recurrent networks on both levels.

A word is a row of a table. One GRU reads the words of each sentence, and its last state represents the sentence.
Another one reads the sentences of each document, and its last state represents the document, whose topic is predicted
by a linear layer. Everything is trained by gradients through both levels, without padding: a batch of documents is a
LoDTensor with two levels, and the last states of the words are the rows of the sentences.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore import LoD, LoDTensor, nn
from lodcore.demo.glosses.data import Glosses

__all__ = ["Reader", "ReaderSettings", "percent_named"]

JUDGED = 512  # documents whose topics are predicted at once


@dataclass(frozen=True)
class ReaderSettings:
    """All choices of the method."""

    width: int = 128  # numbers per word
    num_hidden: int = 128  # of both networks
    num_epochs: int = 5
    batch_size: int = 128  # documents
    rate: float = 3e-3  # initial learning rate; it decreases along half a cosine
    dropout: float = 0.4  # rate for words and for documents


class Reader:
    """The network of both GRUs and the linear layer.

    Parameters
    ----------
    num_words, num_topics : int
    settings : ReaderSettings
    """

    def __init__(self, num_words: int, num_topics: int, settings: ReaderSettings) -> None:
        self.settings = settings
        self.table = nn.Embedding(num_words, settings.width)
        self.words = nn.GRU(settings.width, settings.num_hidden)
        self.sentences = nn.GRU(settings.num_hidden, settings.num_hidden)
        self.topics = nn.Linear(settings.num_hidden, num_topics)

    def init(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw the parameters of each layer, by name."""
        return {name: getattr(self, name).init(rng) for name in ("table", "words", "sentences", "topics")}

    def logits(self, parameters: Any, documents: LoDTensor, rng: np.random.Generator | None = None) -> Any:
        """Compute one number per document and topic; the largest determines the topic.

        Parameters
        ----------
        parameters : dict
        documents : LoDTensor of int64, shape (num_documents, None, None)
            The numbers of words.
        rng : numpy.random.Generator, optional
            Draws the dropout masks; without it, nothing is dropped.
        """
        dropout = self.settings.dropout
        words = nn.dropout(self.table(parameters["table"], documents), dropout, rng)
        _, sentences = self.words(parameters["words"], words)
        in_documents = lodcore.lod_reset(sentences, target_lod=LoD.from_lengths(documents.lengths))
        _, document = self.sentences(parameters["sentences"], in_documents)
        return self.topics(parameters["topics"], nn.dropout(document, dropout, rng))

    def loss(self, parameters: Any, documents: LoDTensor, topics: NDArray[np.int64], rng: Any = None) -> Any:
        """Compute the mean cross-entropy of documents."""
        return lodcore.mean(nn.cross_entropy(self.logits(parameters, documents, rng), topics))

    def learn(self, parameters: Any, glosses: Glosses, rng: np.random.Generator) -> Iterator[float]:
        """Train the parameters in place; yield the mean loss of each epoch."""
        settings, count = self.settings, len(glosses.topics)
        num_batches = -(-count // settings.batch_size)
        optimizer = nn.Adam(nn.cosine_schedule(settings.rate, num_steps=settings.num_epochs * num_batches))
        state, loss_and_gradients = optimizer.init(parameters), lodcore.value_and_grad(self.loss)
        for _ in range(settings.num_epochs):
            total = 0.0
            for index in np.array_split(rng.permutation(count), num_batches):
                loss, gradients = loss_and_gradients(parameters, glosses.documents[index], glosses.topics[index], rng)
                parameters, state = optimizer.step(parameters, gradients, state, in_place=True)
                total += len(index) * float(loss)
            yield total / count


def percent_named(reader: Reader, parameters: Any, glosses: Glosses) -> float:
    """Compute the share of documents, in percent, whose topic is predicted correctly."""
    right = 0
    for at in range(0, len(glosses.topics), JUDGED):
        some = slice(at, at + JUDGED)
        named = reader.logits(parameters, glosses.documents[some]).argmax(axis=1)
        right += int(np.sum(named == glosses.topics[some]))
    return 100 * right / len(glosses.topics)
