"""From letters to phonemes: a bidirectional encoder, and a decoder with attention.

An LSTM reads the letters of each word in both directions; its last states, each transformed by a layer, are the first
state of a second LSTM, whose inputs are the previous phonemes and whose outputs are queries. Each query is compared
with a key per letter; the weighted sum of the encoder's outputs, together with the query, determines the next phoneme.

The attention follows the decoder, so that in training, where all phonemes are known, the decoder is one layer over all
steps, and the attention one operator over all queries, for words of all lengths without padding. For new words,
`Speaker` finds pronunciations step by step, by beam search.

References
----------
M.-T. Luong, H. Pham, C. D. Manning, "Effective approaches to attention-based neural machine translation", EMNLP 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore import LoDTensor, nn
from lodcore.demo.pronounce.data import END, LETTERS, PHONEMES, START, Words
from lodcore.demo.pronounce.scoring import Score, score
from lodcore.ops.gates import Rule, Weight
from lodcore.ops.lstm import LSTMWeights, PackedLSTM

__all__ = ["Network", "Parameters", "Said", "Speaker", "with_ends"]

Array = NDArray[Any]
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


class Said(NamedTuple):
    """The pronunciations of words.

    Parameters
    ----------
    phonemes : LoDTensor of int64
        Words, pronunciations, phonemes, the best pronunciation of each word first.
    scores : LoDTensor of float32
        Words, pronunciations: log probabilities.
    """

    phonemes: LoDTensor
    scores: LoDTensor


class Speaker:
    """A search for the most probable pronunciations of words.

    Values that all steps of the search share are computed once: the contribution of each phoneme to the gates of the
    decoder, and for each word the keys and values of its letters.

    Parameters
    ----------
    network : Network
    parameters : dict
    """

    def __init__(self, network: Network, parameters: Parameters) -> None:
        self.network, self.parameters = network, parameters
        decoder, mix, width = parameters["decoder"], parameters["mix"]["weight"], network.width
        self._gates = parameters["phonemes"]["table"] @ decoder["weight_x"] + decoder["bias"]
        self._decoder = PackedLSTM(LSTMWeights(decoder["weight_h"]), Rule())
        self._mix_of_state, self._mix_of_memory = Weight(mix[:width]), Weight(mix[width:])
        self._out = Weight(parameters["out"]["weight"])

    def say(self, letters: LoDTensor, beam_size: int = 4, num_results: int = 1, max_length: int = 30) -> Said:
        """Search for the pronunciations of words.

        Parameters
        ----------
        letters : LoDTensor of int64
            Words, letters.
        beam_size, num_results, max_length : int
            As in `nn.BeamSearchDecoder`; the end counts as a phoneme.
        """
        of, count = self.parameters, len(letters)
        memory, keys, (hidden, cell) = self.network.encode(of, letters)
        values = self._mix_of_memory.times(memory.values, np.empty_like(keys.values))
        values += of["mix"]["bias"]
        look = Look(keys, memory.with_values(values))

        def step(ids: Array, state: Any) -> tuple[Array, Any]:
            hidden, cell = self._decoder.step(self._gates[ids], state["hidden"], state["cell"])
            mixed = self._mix_of_state.times(hidden, np.empty_like(hidden))
            mixed += look(hidden, state["word"])
            logits = self._out.times(np.tanh(mixed), np.empty((len(ids), END + 1), hidden.dtype))
            logits += of["out"]["bias"]
            return log_softmax(logits), {"hidden": hidden, "cell": cell, "word": state["word"]}

        decoder = nn.BeamSearchDecoder(step, beam_size, START, END, max_length, num_results=num_results)
        found = decoder({"hidden": hidden, "cell": cell, "word": np.arange(count)}, count)
        return Said(lodcore.sequence_erase(found.tokens, [END]), found.scores)

    def judge(self, words: Words, beam_size: int, batch_size: int = 256) -> Score:
        """Search for the pronunciations of all words, in batches of one length; return their errors."""
        order = np.argsort(words.letters.lengths, kind="stable")
        letters, right = (lodcore.gather_sequences(x, order) for x in (words.letters, words.phonemes))
        said = [self.say(letters[j : j + batch_size], beam_size).phonemes for j in range(0, len(order), batch_size)]
        return score(lodcore.concat_batches(said), right)

    def attention(self, letters: LoDTensor, phonemes: LoDTensor) -> LoDTensor:
        """Compute the attention of each phoneme, and the end, to each letter: words, phonemes, letters."""
        of, layers = self.parameters, self.network.layers
        memory, keys, state = self.network.encode(of, letters)
        given, _ = with_ends(phonemes)
        states, _ = layers["decoder"](of["decoder"], layers["phonemes"](of["phonemes"], given), state)
        weights: LoDTensor = self.network.attend(of, states, keys, memory)[1]
        return weights


class Look:
    """The attention of the branches of a search, each over the letters of its word.

    Many branches are the rows of their words, so that those of a word share its letters. Few branches have copies of
    the letters, which are made again only when branches belong to other words.

    Parameters
    ----------
    keys, values : LoDTensor
        Words, letters.
    """

    FEW = 32

    def __init__(self, keys: LoDTensor, values: LoDTensor) -> None:
        self.keys, self.values = keys, values
        self.words = np.arange(len(keys))
        self.of_branches = keys, values

    def __call__(self, queries: Array, words: Array) -> Array:
        """Return the context of each branch, from its query and the number of its word, which must not decrease."""
        if len(queries) > self.FEW:
            offsets = np.searchsorted(words, np.arange(len(self.keys) + 1))
            seen, _ = nn.dot_attention(LoDTensor.from_offsets(queries, offsets), self.keys, self.values, scale=1.0)
            rows: Array = seen.values
            return rows
        if not np.array_equal(words, self.words):
            self.words = words
            self.of_branches = self.keys[words], self.values[words]
        rows, _ = nn.dot_attention(queries, *self.of_branches, scale=1.0)
        return rows


def log_softmax(logits: Array) -> Array:
    """Compute the logarithm of the softmax of each row."""
    shifted: Array = logits - logits.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted


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
