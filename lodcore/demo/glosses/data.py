"""WordNet's glosses of nouns and verbs, as numbered words, kept in one small file that ``make.py`` makes.

Authors, source and licence of the data are in ATTRIBUTION.md and LICENSE-WordNet.txt next to the file.
"""

from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lodcore import LoDTensor

__all__ = ["Collection", "Glosses", "load"]


class Glosses(NamedTuple):
    """Glosses, each a document of sentences of words, and their topics.

    Parameters
    ----------
    documents : LoDTensor of int64, shape (num_documents, None, None)
        Level 0: the sentences of each document. Level 1: the words of each sentence. The rows are numbers of words.
    topics : int64 ndarray, shape (num_documents,)
        The number of each document's topic.
    """

    documents: LoDTensor
    topics: NDArray[np.int64]


class Collection(NamedTuple):
    """The whole data set.

    Parameters
    ----------
    train, dev, test : Glosses
        The parts for training, for choosing settings, and for the test.
    words : list of str
        Words by number. Number 0 is "_", which represents all words that occur less than twice in `train`.
    topics : list of str
        Names by number.
    """

    train: Glosses
    dev: Glosses
    test: Glosses
    words: list[str]
    topics: list[str]

    def sentences(self, document: LoDTensor | NDArray[Any]) -> list[str]:
        """Return the sentences of one document as text."""
        return [" ".join(self.words[word] for word in words) for words in document.tolist()]


def load() -> Collection:
    """Load the glosses.

    Returns
    -------
    Collection

    Examples
    --------
    >>> glosses = load()
    >>> len(glosses.train.documents), len(glosses.dev.documents), len(glosses.test.documents)
    (27296, 643, 3151)
    >>> glosses.sentences(glosses.test.documents[2])
    ['a difficult or unusual or dangerous feat', 'usually done to gain attention']
    >>> glosses.topics[glosses.test.topics[2]]
    'noun.act'
    """
    with (files(__package__) / "wordnet_glosses.npz").open("rb") as opened, np.load(opened) as file:
        arrays: dict[str, NDArray[Any]] = dict(file)
    parts = []
    for part in ("train", "dev", "test"):
        lengths = arrays[f"{part}_sentences_a_document"], arrays[f"{part}_words_a_sentence"]
        documents = LoDTensor.from_lengths(arrays[f"{part}_words"].astype(np.int64), *lengths)
        parts.append(Glosses(documents, arrays[f"{part}_topics"].astype(np.int64)))
    train, dev, test = parts
    words, topics = (arrays[names].tobytes().decode().split("\n") for names in ("words", "topics"))
    return Collection(train, dev, test, words, topics)
