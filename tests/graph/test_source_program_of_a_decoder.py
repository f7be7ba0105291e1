"""The decoder of "Design of Dynamic RNN with Beamsearch": `while_loop`, `VarArray`, `beam_search`, `break_if`."""

import numpy as np
import pytest

import lodcore as pd
from lodcore import LoDTensor
from lodcore.graph import Executor, Program, data
from reference.ops import beam as oracle

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own

VOCABULARY, HIDDEN, START, END, BEAM, STEPS = 7, 4, 1, 0, 3, 6
RANDOM = np.random.default_rng(2)
SHAPES = [(VOCABULARY, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, VOCABULARY)]
EMBEDDING, U, W = (RANDOM.standard_normal(shape) * 1.5 for shape in SHAPES)
ENCODED = RANDOM.standard_normal((5, HIDDEN)) * 2


def decoder(boot_state, boot_ids, boot_scores, max_steps):
    """Decode the output of an encoder: a state and a start token per source."""
    ids, scores, states = pd.VarArray(), pd.VarArray(), pd.VarArray()
    ids.update(0, boot_ids)
    scores.update(0, boot_scores)
    states.update(0, boot_state)

    time = pd.Variable(shape=[0], dtype=pd.int32)
    whl = pd.while_loop()
    with whl.loop(exec_immediately=True):
        time_ = whl.loop_var(time)
        whl.break_if(pd.greater_equal_than(time_, max_steps))

        pre_ids, pre_scores, prestate = ids.get(time_), scores.get(time_), states.get(time_)
        embedded = pd.lookup_table(EMBEDDING, pre_ids)
        act = pd.tanh(pd.add(embedded.values, pd.matmul(prestate, U)))
        # the scores of the step belong to the prefixes that the previous step has kept
        probabilities = pd.lod_reset(pd.softmax(pd.matmul(act, W)), pre_scores)
        selected_ids, selected_scores, parent_idx = pd.beam_search(
            pre_ids, pre_scores, None, probabilities, BEAM, END, is_accumulated=False
        )
        whl.break_if(pd.equal(pd.ops.sum(pd.lod_lengths(selected_ids, 1)), 0))  # all have ended

        ids.get(pd.add(time_, 1)).update(selected_ids)
        scores.get(pd.add(time_, 1)).update(selected_scores)
        states.get(pd.add(time_, 1)).update(act[parent_idx])
    return pd.beam_search_decode(ids, scores, BEAM, END)


def first(n_sources):
    """Return the initial state, ids and scores: one prefix per source."""
    ones = [1] * n_sources
    ids = LoDTensor.from_lengths(np.full(n_sources, START), ones, ones)
    return ENCODED[:n_sources], ids, LoDTensor(np.zeros(n_sources), ids.lod)


def expected(n_sources, max_steps):
    """Decode with the oracle, on nested lists."""
    ids, scores, state = [[[[START]]] * n_sources], [[[[0.0]]] * n_sources], ENCODED[:n_sources]
    for _ in range(max_steps):
        flat = [[x for source in step[-1] for prefix in source for x in prefix] for step in (ids, scores)]
        act = np.tanh(EMBEDDING[np.array(flat[0], int)] + state @ U)
        chances = np.exp(act @ W)
        rows = iter((chances / chances.sum(1, keepdims=True)).tolist())
        nested = [[next(rows) for prefix in source for _ in prefix] for source in ids[-1]]
        kept, best, parents = oracle.beam_search(*flat, None, nested, BEAM, END, 0, False, 1)
        if not parents:
            break
        ids.append(kept)
        scores.append(best)
        state = act[parents]
    return oracle.beam_search_decode(ids, scores, BEAM, END)


def check(sentences, scores, n_sources, max_steps):
    wanted, wanted_scores = expected(n_sources, max_steps)
    assert sentences.tolist() == wanted
    assert scores.lod == sentences.lod
    flat = [x for source in wanted_scores for sentence in source for x in sentence]
    np.testing.assert_allclose(scores.values, flat, rtol=1e-12)


@pytest.mark.parametrize("n_sources", [1, 5])
@pytest.mark.parametrize("max_steps", [0, 1, 6, 40])
def test_computed_at_once(n_sources, max_steps):
    check(*decoder(*first(n_sources), max_steps), n_sources, max_steps)


@pytest.mark.parametrize("max_steps", [0, 1, 6, 40])
def test_the_decoder_as_a_program(max_steps):
    """Recorded once, fed with any number of sources."""
    with Program() as program:
        boot_state = data("state", (None, HIDDEN), "float64")
        boot_ids = data("ids", (None,), "int64", num_levels=2)
        boot_scores = data("scores", (None,), "float64", num_levels=2)
        found = decoder(boot_state, boot_ids, boot_scores, max_steps)
    assert "beam_search" in str(program)
    for n_sources in (1, 3, 5):
        feed = dict(zip(("state", "ids", "scores"), first(n_sources), strict=True))
        check(*Executor().run(program, feed, list(found)), n_sources, max_steps)


def test_decoder_gives_sentences_of_different_lengths():
    sentences, _ = decoder(*first(5), 40)
    lengths = sentences.lod.lengths(1)
    assert lengths.max() > lengths.min()
    assert (sentences.lod.lengths(0) <= BEAM).all()
