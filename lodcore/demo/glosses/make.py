"""Make ``wordnet_glosses.npz`` from the files of WordNet 3.0: ``python -m lodcore.demo.glosses.make DIRECTORY``.

DIRECTORY holds ``data.noun`` and ``data.verb``; Debian's package ``wordnet-base`` has them in ``/usr/share/wordnet``.
The file is written next to this one.

A line of them is a set of synonyms; its gloss follows the bar: a definition and examples, separated by semicolons::

    00017222 03 n 03 plant 0 flora 0 plant_life 0 030 @ 00004475 ... | (botany) a living organism lacking the power ...

- A document is a gloss, a sentence is the text between semicolons, a word is a run of a-z, 0-9 and apostrophes.
  Documents of one sentence are left out, and so are adjectives and adverbs, which WordNet does not divide by topic.
- The topic of a document is its lexicographer file: the second number of the line.
- The md5 of the words of a document, modulo 100, determines whether it is for the test (0 to 9), for choosing settings
  (10, 11) or for training, so that equal glosses stay together.
- Words are numbered by their frequency in the training data, the most frequent first. Number 0 represents all words
  that occur there less than twice.
"""

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["TOPICS", "Document", "main", "part_of", "read"]

PARTS = ("train", "dev", "test")
RARE = "_"  # shown for words without a number
LEXICOGRAPHER_FILES = (  # in the order of their numbers, as in the manual page lexnames(5WN)
    ("adj", "all pert"),
    ("adv", "all"),
    (
        "noun",
        "Tops act animal artifact attribute body cognition communication event feeling food group location motive",
    ),
    ("noun", "object person phenomenon plant possession process quantity relation shape state substance time"),
    ("verb", "body change cognition communication competition consumption contact creation emotion motion perception"),
    ("verb", "possession social stative weather"),
    ("adj", "ppl"),
)
TOPICS = [f"{kind}.{name}" for kind, names in LEXICOGRAPHER_FILES for name in names.split()]


class Document(NamedTuple):
    """A gloss.

    Parameters
    ----------
    topic : int
        The number of the lexicographer file.
    sentences : list of list of str
        The words, in lower case.
    """

    topic: int
    sentences: list[list[str]]


def read(path: Path, least: int = 2) -> Iterator[Document]:
    """Read the glosses with at least `least` sentences from a data file of WordNet."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            synonyms, _, gloss = line.partition("|")
            sentences = [re.findall(r"[a-z0-9']+", sentence) for sentence in gloss.lower().split(";")]
            sentences = [words for words in sentences if words]
            if not line.startswith("  ") and len(sentences) >= least:  # the licence at the head of the file is indented
                yield Document(int(synonyms.split()[1]), sentences)


def part_of(document: Document) -> str:
    """Return the part of the data to which a document belongs.

    Examples
    --------
    >>> part_of(Document(38, [["move", "fast"], ["he", "ran", "home"]]))
    'train'
    """
    text = " ; ".join(" ".join(words) for words in document.sentences)
    remainder = int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), 16) % 100
    return "test" if remainder < 10 else "dev" if remainder < 12 else "train"


def main(arguments: Sequence[str]) -> int:
    """Write the file.

    Parameters
    ----------
    arguments : sequence of str
        The directory of the data files, and optionally the file to write.

    Returns
    -------
    int
        The exit code, 0.
    """
    directory, target = (*map(Path, arguments), Path(__file__).with_name("wordnet_glosses.npz"))[:2]
    parts: dict[str, list[Document]] = {part: [] for part in PARTS}
    for name in ("data.noun", "data.verb"):
        for document in read(directory / name):
            parts[part_of(document)].append(document)
    counts = Counter(word for document in parts["train"] for words in document.sentences for word in words)
    words = [RARE, *sorted((word for word in counts if counts[word] > 1), key=lambda word: (-counts[word], word))]
    topics = sorted({document.topic for documents in parts.values() for document in documents})
    number = {word: i for i, word in enumerate(words)}
    if len(number) > 1 << 16:
        raise SystemExit(f"{len(number)} words do not fit into 16 bits")
    arrays: dict[str, Any] = {
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
        "topics": np.frombuffer("\n".join(TOPICS[topic] for topic in topics).encode(), np.uint8),
    }
    for part, documents in parts.items():
        sentences = [words for document in documents for words in document.sentences]
        arrays |= {
            f"{part}_words": np.array([number.get(word, 0) for words in sentences for word in words], np.uint16),
            f"{part}_words_a_sentence": np.array([len(words) for words in sentences], np.uint8),
            f"{part}_sentences_a_document": np.array([len(document.sentences) for document in documents], np.uint8),
            f"{part}_topics": np.array([topics.index(document.topic) for document in documents], np.uint8),
        }
    np.savez_compressed(target, **arrays)
    print(f"{target}: {sum(map(len, parts.values())):,} documents, {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
