"""Error rates of phonemes and of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lodcore import LoDTensor

__all__ = ["Score", "distance", "score"]


class Score(NamedTuple):
    """The error rates of phonemes and of words, in percent."""

    phonemes: float
    words: float

    def __str__(self) -> str:
        return f"phoneme error {self.phonemes:5.2f} %, word error {self.words:5.2f} %"


def distance(one: Sequence[int], other: Sequence[int]) -> int:
    """Count the insertions, deletions and substitutions from one sequence to another.

    Examples
    --------
    >>> distance([1, 2, 3], [2, 3, 4, 5])
    3
    """
    row = list(range(len(other) + 1))
    for i, x in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(other, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def score(said: LoDTensor, right: LoDTensor) -> Score:
    """Compare the first pronunciation of each word with the correct ones.

    Parameters
    ----------
    said, right : LoDTensor
        Words, pronunciations, phonemes. A word is compared with the nearest of its correct pronunciations, the longest
        of equally near ones.

    Returns
    -------
    Score
        The distances of all words, divided by the lengths of the compared pronunciations; and the share of wrong words.

    Examples
    --------
    >>> import lodcore
    >>> score(lodcore.array([[[1, 2]], [[3]]]), lodcore.array([[[1, 2]], [[3, 4], [5, 6, 7]]]))
    Score(phonemes=25.0, words=50.0)
    """
    errors = length = wrong = 0
    pairs = list(zip(said.tolist(), right.tolist(), strict=True))
    for hypotheses, references in pairs:
        hypothesis = hypotheses[0] if hypotheses else []
        found, negative = min((distance(hypothesis, reference), -len(reference)) for reference in references)
        errors, length, wrong = errors + found, length - negative, wrong + (found > 0)
    return Score(100 * errors / max(1, length), 100 * wrong / max(1, len(pairs)))
