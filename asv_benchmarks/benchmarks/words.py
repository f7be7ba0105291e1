"""Words to numbers and back: a vocabulary compared with a dict of Python."""

import collections

import numpy as np

from lodcore import LoDTensor, Vocabulary, encode_utf8

N_WORDS, N_LINES, N_KNOWN = 240_000, 26_300, 20_000


class Words:
    """Number the words of a text with a typical distribution of frequencies."""

    params = [["fit", "encode", "decode", "encode_utf8"], ["lodcore", "dict"]]
    param_names = ["work", "way"]

    def setup(self, work, way):
        random = np.random.default_rng(7)
        known = np.array([f"word{j}" for j in range(N_KNOWN)])
        chance = 1 / np.arange(1, N_KNOWN + 1)
        flat = random.choice(known, N_WORDS, p=chance / chance.sum())
        lengths = np.diff(np.sort(random.integers(0, N_WORDS, N_LINES - 1)), prepend=0, append=N_WORDS)
        text = LoDTensor.from_lengths(flat, lengths)
        letters, words = encode_utf8(text), flat.tolist()
        vocabulary = Vocabulary.fit(letters)
        ids, numbers, tokens = vocabulary.encode(letters), {}, vocabulary.tokens
        numbers = {token: number for number, token in enumerate(tokens)}
        listed = ids.values.tolist()
        self.call = {
            ("fit", "lodcore"): lambda: Vocabulary.fit(letters),
            ("fit", "dict"): lambda: collections.Counter(words).most_common(),
            ("encode", "lodcore"): lambda: vocabulary.encode(letters),
            ("encode", "dict"): lambda: np.array([numbers.get(word, 0) for word in words]),
            ("decode", "lodcore"): lambda: vocabulary.decode(ids, np.uint8),
            ("decode", "dict"): lambda: [tokens[number] for number in listed],
            ("encode_utf8", "lodcore"): lambda: encode_utf8(text),
            ("encode_utf8", "dict"): lambda: [word.encode() for word in words],
        }[work, way]

    def time_words(self, work, way):
        self.call()
