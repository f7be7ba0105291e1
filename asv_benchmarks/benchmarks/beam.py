"""Beam search: a step, the decoding of all steps, and a whole search, compared with NumPy on padded arrays."""

import functools

import numpy as np

from lodcore import LoD, LoDTensor, TensorArray, beam_search, beam_search_decode
from lodcore.nn import BeamSearchDecoder

BEAM, STEPS = 4, 8
SOURCES = {"1 source": 1, "41 thousand sources": 41_666}
HIDDEN, VOCABULARY, EMBEDDING = 256, 42, 128


def draw_step(count, columns):
    """Draw the scores of a step: 1 to 4 prefixes per source."""
    random = np.random.default_rng(7)
    lengths = np.full(1, BEAM) if count == 1 else random.integers(1, BEAM + 1, count)
    n = int(lengths.sum())
    return LoDTensor.from_lengths(random.random((n, columns), np.float32), lengths), np.ones(n, int), np.zeros(n, "f4")


class Step:
    """Select the best 4 candidates of each source; NumPy: of a padded array, the best first."""

    params = [["lodcore", "padded"], list(SOURCES), [8, 42]]
    param_names = ["way", "sources", "candidates"]
    repeat = (5, 30, 0.5)
    warmup_time = 0.02

    def setup(self, way, sources, candidates):
        scores, ids, before = draw_step(SOURCES[sources], candidates)
        if way == "lodcore":
            self.call = lambda: beam_search(ids, before, None, scores, BEAM, 0)
            return
        offsets, values = scores.offsets, scores.values
        count, lengths = len(scores), scores.lengths

        def padded():
            wide = np.full((count * BEAM, candidates), -np.inf, np.float32)
            wide[np.repeat(np.arange(count) * BEAM - offsets[:-1], lengths) + np.arange(len(values))] = values
            wide = wide.reshape(count, BEAM * candidates)
            top = np.argpartition(wide, BEAM * candidates - BEAM, axis=1)[:, -BEAM:]
            best = np.take_along_axis(wide, top, 1)
            order = np.argsort(-best, axis=1)
            return np.take_along_axis(best, order, 1), np.take_along_axis(top, order, 1)

        self.call = padded

    def time_call(self, way, sources, candidates):
        self.call()


class Decode:
    """Trace 8 steps of beams of 4 back to the first step."""

    params = list(SOURCES)
    param_names = ["sources"]
    repeat = (5, 30, 0.5)
    warmup_time = 0.02

    def setup(self, sources):
        count, random = SOURCES[sources], np.random.default_rng(7)
        self.ids, self.scores = TensorArray(), TensorArray()
        prefixes = np.ones(count, int)
        for t in range(STEPS):
            kept = np.full(count, BEAM) if t == 0 else np.ones(count * BEAM, int)
            lod = LoD.from_lengths(prefixes, kept)
            self.ids.write(t, LoDTensor(random.integers(1, 9, lod.num_rows), lod))
            self.scores.write(t, LoDTensor(random.random(lod.num_rows), lod))
            prefixes = np.full(count, BEAM)

    def time_call(self, sources):
        beam_search_decode(self.ids, self.scores, BEAM, 0)


@functools.cache
def weights():
    """Draw a decoder of one LSTM layer."""
    random = np.random.default_rng(7)
    shapes = [(VOCABULARY, 4 * HIDDEN), (HIDDEN, 4 * HIDDEN), (HIDDEN, VOCABULARY)]
    return [random.standard_normal(shape).astype(np.float32) / 16 for shape in shapes]


def lstm(ids, state):
    """Compute a step; the table is that of the embeddings times the weights of the input."""
    table, recurrent, output = weights()
    h, c = state
    gates = h @ recurrent
    gates += table[ids]
    i, f, o, g = np.split(gates, 4, axis=1)
    i, f, o = (1 / (1 + np.exp(-x)) for x in (i, f, o))
    c = f * c + i * np.tanh(g)
    h = o * np.tanh(c)
    logits = h @ output
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits, (h, c)


class Search:
    """Search 8 steps with an LSTM of width 256; `model` is its steps alone, with as many branches."""

    params = [["search", "model"], [1, 128], [1, 4, 10]]
    param_names = ["what", "sources", "beam"]
    repeat = (3, 20, 1.0)
    warmup_time = 0.02

    def setup(self, what, sources, beam):
        h, c = np.random.default_rng(7).standard_normal((2, sources, HIDDEN)).astype(np.float32)
        if what == "search":
            decoder = BeamSearchDecoder(lstm, beam, 1, -1, STEPS)
            self.call = lambda: decoder((h, c), sources)
            return
        wide = h.repeat(beam, 0), c.repeat(beam, 0)
        self.call = lambda: [lstm(np.ones(len(wide[0]), int), wide) for _ in range(STEPS)]

    def time_call(self, what, sources, beam):
        self.call()
