"""A search for the most probable pronunciations, with the Programs of a trained network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore import LoDTensor, nn
from lodcore.demo.pronounce.data import END, START, Words
from lodcore.demo.pronounce.network import with_ends
from lodcore.demo.pronounce.scoring import Score, score
from lodcore.graph import Executor, Program

__all__ = ["Said", "Speaker"]

Array = NDArray[Any]


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

    Parameters
    ----------
    programs : dict of Program
        "encode" and "decode", as of `programs.programs`.
    """

    def __init__(self, programs: Mapping[str, Program]) -> None:
        self.programs = dict(programs)

    def _encode(self, letters: LoDTensor) -> dict[str, Any]:
        """Return what the decoder takes: the keys and values of the letters, and the first states of the words."""
        names = ["keys", "values", "hidden", "cell"]
        found = Executor().run(self.programs["encode"], feed={"letters": letters}, fetch=names)
        return dict(zip(names, found, strict=True))

    def say(self, letters: LoDTensor, beam_size: int = 4, num_results: int = 1, max_length: int = 30) -> Said:
        """Search for the pronunciations of words.

        Parameters
        ----------
        letters : LoDTensor of int64
            Words, letters.
        beam_size, num_results, max_length : int
            As in `nn.BeamSearchDecoder`; the end counts as a phoneme.
        """
        count = len(letters)
        encoded = self._encode(letters)
        of_letters = {name: encoded[name] for name in ("keys", "values")}
        executor, decode = Executor(), self.programs["decode"]

        def step(ids: Array, state: Any) -> tuple[Array, Any]:
            branches = np.bincount(state["word"], minlength=count)  # of each word
            tokens = LoDTensor.from_lengths(ids, branches, np.ones(len(ids), np.int64))
            feed = {**of_letters, "tokens": tokens, "hidden": state["hidden"], "cell": state["cell"]}
            log_probs, hidden, cell = executor.run(decode, feed, ["log_probs", "next_hidden", "next_cell"])
            return log_probs.values, {"hidden": hidden, "cell": cell, "word": state["word"]}

        decoder = nn.BeamSearchDecoder(step, beam_size, START, END, max_length, num_results=num_results)
        first = {"hidden": encoded["hidden"], "cell": encoded["cell"], "word": np.arange(count)}
        found = decoder(first, count)
        return Said(lodcore.sequence_erase(found.tokens, [END]), found.scores)

    def judge(self, words: Words, beam_size: int, batch_size: int = 256) -> Score:
        """Search for the pronunciations of all words, in batches of one length; return their errors."""
        order = np.argsort(words.letters.lengths, kind="stable")
        letters, right = (lodcore.gather_sequences(x, order) for x in (words.letters, words.phonemes))
        said = [self.say(letters[j : j + batch_size], beam_size).phonemes for j in range(0, len(order), batch_size)]
        return score(lodcore.concat_batches(said), right)

    def attention(self, letters: LoDTensor, phonemes: LoDTensor) -> LoDTensor:
        """Compute the attention of each phoneme, and the end, to each letter: words, phonemes, letters."""
        given, _ = with_ends(phonemes)
        tokens = LoDTensor.from_lengths(given.values, np.ones(len(given), np.int64), given.lengths)
        weights: LoDTensor
        (weights,) = Executor().run(self.programs["decode"], {**self._encode(letters), "tokens": tokens}, ["weights"])
        return weights
