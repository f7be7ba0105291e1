"""From letters to phonemes: a bidirectional encoder, and a decoder with attention.

An LSTM reads the letters of each word in both directions; its last states, each transformed by a layer, are the first
state of a second LSTM, whose inputs are the previous phonemes and whose outputs are queries. Each query is compared
with a key per letter; the weighted sum of the encoder's outputs, together with the query, determines the next phoneme.

The attention follows the decoder, so that in training, where all phonemes are known, the decoder is one layer over all
steps, and the attention one operator over all queries, for words of all lengths without padding. For new words,
`Speaker` (`speaker.py`) finds pronunciations step by step, by beam search.

References
----------
M.-T. Luong, H. Pham, C. D. Manning, "Effective approaches to attention-based neural machine translation", EMNLP 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import lodcore
from lodcore import LoDTensor, nn
from lodcore.demo.pronounce.data import END, LETTERS, PHONEMES, START

__all__ = ["Network", "Parameters", "with_ends"]

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """The sizes of a network; its parameters are a dict of those of its layers.

    Parameters
    ----------
    width : int
        The width of the states, and of each direction of the encoder.
    embedding : int
        The width of the embeddings of letters and phonemes.
    dropout : float
        The rate for the inputs of both LSTMs and of the last layer, in training.
    """

    width: int = 256
    embedding: int = 128
    dropout: float = 0.3

    @property
    def layers(self) -> dict[str, Any]:
        """The layers by name."""
        width, embedding = self.width, self.embedding
        return {
            "letters": nn.Embedding(len(LETTERS), embedding),
            "phonemes": nn.Embedding(len(PHONEMES) + 2, embedding),
            "encoder": nn.Bidirectional(nn.LSTM(embedding, width)),
            "first_state": nn.Linear(2 * width, width),
            "first_cell": nn.Linear(2 * width, width),
            "decoder": nn.LSTM(embedding, width),
            "key": nn.Linear(2 * width, width),
            "mix": nn.Linear(3 * width, width),
            "out": nn.Linear(width, len(PHONEMES) + 1),
        }

    def init(self, rng: np.random.Generator) -> Parameters:
        """Draw parameters, all float32."""
        return {name: layer.init(rng) for name, layer in self.layers.items()}

    def encode(self, parameters: Parameters, letters: Any, rng: np.random.Generator | None = None) -> Any:
        """Encode words.

        Returns
        -------
        memory : LoDTensor
            Words, letters: rows of shape (2 * width,).
        keys : LoDTensor
            Rows of shape (width,).
        state : tuple of ndarray
            The first state and cell of the decoder, shape (n_words, width).
        """
        of, layers = parameters, self.layers
        x = nn.dropout(layers["letters"](of["letters"], letters), self.dropout, rng)
        memory, (forward, backward) = layers["encoder"](of["encoder"], x)
        hidden, cell = (np.concatenate([a, b], axis=1) for a, b in zip(forward, backward, strict=True))
        state = lodcore.tanh(layers["first_state"](of["first_state"], hidden))
        return memory, layers["key"](of["key"], memory), (state, layers["first_cell"](of["first_cell"], cell))

    def attend(self, parameters: Parameters, states: Any, keys: Any, memory: Any) -> tuple[Any, Any]:
        """Attend to the letters of each word with states of its decoder; return the contexts and the weights."""
        context, weights = nn.dot_attention(states, keys, memory, scale=1.0)
        both = np.concatenate([states, context], axis=-1)
        return lodcore.tanh(self.layers["mix"](parameters["mix"], both)), weights

    def loss(
        self, parameters: Parameters, letters: Any, given: Any, wanted: Any, rng: np.random.Generator | None
    ) -> Any:
        """Compute the mean loss per phoneme, given all previous phonemes.

        Parameters
        ----------
        parameters : dict
        letters : LoDTensor
            Words, letters.
        given, wanted : LoDTensor
            Words, phonemes: with the start before them, and the end after them.
        rng : numpy.random.Generator or None
            The generator of dropout; None for inference.
        """
        of, layers = parameters, self.layers
        memory, keys, state = self.encode(of, letters, rng)
        x = nn.dropout(layers["phonemes"](of["phonemes"], given), self.dropout, rng)
        states, _ = layers["decoder"](of["decoder"], x, state)
        seen, _ = self.attend(of, states, keys, memory)
        logits = layers["out"](of["out"], nn.dropout(seen, self.dropout, rng))
        return lodcore.mean(nn.cross_entropy(logits, wanted))


def with_ends(phonemes: LoDTensor) -> tuple[LoDTensor, LoDTensor]:
    """Add the start before each pronunciation, and the end after it.

    Examples
    --------
    >>> for one in with_ends(lodcore.array([[3, 1], []])):
    ...     print(one.tolist())
    [[40, 3, 1], [40]]
    [[3, 1, 39], [39]]
    """
    count = len(phonemes)
    start, end = (LoDTensor.from_lengths(np.full(count, token), np.ones(count, int)) for token in (START, END))
    given, wanted = lodcore.sequence_concat([start, phonemes]), lodcore.sequence_concat([phonemes, end])
    return given, given.with_values(wanted.values)
