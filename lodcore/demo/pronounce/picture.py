"""The output of the demo: the pronunciations of a word, the attention of each phoneme, and the progress line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore.demo.page import Glyphs, bar
from lodcore.demo.pronounce.data import PHONEMES, letters_of
from lodcore.demo.pronounce.speaker import Speaker
from lodcore.demo.pronounce.training import Progress

__all__ = ["attention_picture", "progress_line", "spelled", "word_lines"]

BLOCKS, ASCII = " \u2591\u2592\u2593\u2588", " .:+#"
COLUMNS = 24  # of the progress bar


def spelled(phonemes: Sequence[int]) -> str:
    """Return the names of phonemes as text.

    Examples
    --------
    >>> spelled([15, 0, 30])
    'HH AA T'
    """
    return " ".join(PHONEMES[phoneme] for phoneme in phonemes)


def attention_picture(word: str, names: Sequence[str], weights: Sequence[NDArray[Any]], glyphs: Glyphs) -> list[str]:
    """Draw the attention of each phoneme to each letter.

    Parameters
    ----------
    word : str
    names : sequence of str
        The names of the phonemes.
    weights : sequence of ndarray, shape (n_letters,)
        The weights of each phoneme, from 0, for which nothing is drawn, to 1.
    glyphs : Glyphs

    Returns
    -------
    list of str
        The letters, and one line per phoneme.

    Examples
    --------
    >>> for line in attention_picture("ox", ["AA", "K", "S"], np.array([[0.9, 0.1], [0.3, 0.7], [0, 1]]), Glyphs()):
    ...     print(line.rstrip())
          o  x
      AA  ##
      K   .. ++
      S      ##
    """
    shades = BLOCKS if glyphs.half else ASCII
    lines = [" " * 6 + "".join(f"{letter:3}" for letter in word)]
    for name, row in zip(names, weights, strict=True):
        darkness = np.rint(np.clip(row, 0, 1) * (len(shades) - 1)).astype(int).tolist()
        lines.append(f"  {name:4}" + "".join(2 * shades[dark] + " " for dark in darkness))
    return lines


def word_lines(
    speaker: Speaker, word: str, glyphs: Glyphs, beam_size: int = 4, num_results: int = 3, picture: bool = False
) -> list[str]:
    """Return the best pronunciations of a word with their probabilities, and the attention of the first, as text.

    Raises
    ------
    ValueError
        If the word has a character that is not a letter, or no letter at all.
    """
    letters = letters_of([word])
    said = speaker.say(letters, max(beam_size, num_results), num_results)
    pronunciations, probabilities = said.phonemes[0].tolist(), np.exp(said.scores[0]).tolist()
    lines = [
        f"{'' if place else word:16} {100 * probability:5.1f} %  {spelled(phonemes)}"
        for place, (phonemes, probability) in enumerate(zip(pronunciations, probabilities, strict=True))
    ]
    if picture:
        best = pronunciations[0]
        weights: Any = speaker.attention(letters, lodcore.array([best], dtype=np.int64))[0]
        names = [*(PHONEMES[phoneme] for phoneme in best), "end"]
        lines += ["", *attention_picture(word, names, list(weights), glyphs), ""]
    return lines


def progress_line(progress: Progress, minutes: float, glyphs: Glyphs) -> str:
    """Return the progress of training as one line of text.

    Examples
    --------
    >>> progress_line(Progress(2, 0.5, 90.0, 900_000, 0.3141, None), 18, Glyphs())
    'epoch  2 [############            ] loss 0.314  10,000 tokens/s   1.5 of 18 min'
    """
    done = bar(COLUMNS * progress.part, glyphs)
    rate = progress.tokens / max(progress.seconds, 1e-9)
    return (
        f"epoch {progress.epoch:2} [{done:{COLUMNS}}] loss {progress.loss:.3f}  {rate:6,.0f} tokens/s"
        f"  {progress.seconds / 60:4.1f} of {minutes:g} min"
    )
