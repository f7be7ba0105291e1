"""The decoder, compared with plain Python, exhaustive and greedy search, on random toy models with many ties."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lodcore
from lodcore import DTypeError, LoDTensor, ShapeError, nn
from lodcore.nn.token_sampling import Sampling
from reference.nn import beam_search as oracle
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own

STATES, START = 3, 0


class Toy:
    """A model whose log probabilities depend on the last token and on a number that all tokens change."""

    def __init__(self, seed, n_tokens, dtype, ties):
        random = np.random.default_rng(seed)
        shape = (STATES, n_tokens, n_tokens)
        table = -random.integers(0, 4, shape) / 2 if ties else -random.exponential(1, shape)
        table[random.random(shape) < 0.15] = -np.inf
        self.table, self.sizes, self.states = table.astype(dtype), [], []

    def step(self, ids, state):
        """Step with all branches."""
        self.sizes.append(len(ids))
        self.states.append(state["number"])
        number = (state["number"] * 2 + ids + 1) % STATES
        return self.table[state["number"], ids], {"number": number, "rest": [state["rest"][0], None]}

    def first(self, n_sources):
        """Return the initial state: a tree of a number and of sequences, which follow the branches."""
        rest = LoDTensor.from_lengths(np.arange(n_sources * 2.0), [2] * n_sources)
        return {"number": np.arange(n_sources) % STATES, "rest": [rest, None]}

    def one_step(self, last, number):
        """Step with one branch."""
        return list(self.table[number, last]), (number * 2 + last + 1) % STATES


@st.composite
def searches(draw):
    """Draw a model, and the settings of the decoder."""
    n_tokens = draw(st.integers(1, 4))
    toy = Toy(draw(st.integers(0, 2**32)), n_tokens, draw(st.sampled_from(["f4", "f8"])), draw(st.booleans()))
    max_length = draw(st.integers(1, 4))
    given = {
        "beam_size": draw(st.integers(1, 6)),
        "start_id": START,
        "end_id": draw(st.integers(-1, n_tokens)),
        "max_length": max_length,
        "min_length": draw(st.integers(0, max_length)),
        "length_penalty": draw(st.sampled_from([0, 0.0, 0.6, 1.0, 2.5, -0.5])),
        "num_results": draw(st.sampled_from([1, 1, 2, 3, 1000])),
        "normalization": draw(st.sampled_from(["gnmt", "length"])),
    }
    n_sources = draw(st.integers(0, 4))
    mask = draw(st.sampled_from([None, "all", "each", "function"]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    masks = random.random((n_sources, n_tokens)) < 0.7
    if mask == "all":
        masks = np.repeat(random.random((1, n_tokens)) < 0.7, n_sources, axis=0)
        given["allowed"] = (random.random(n_tokens) < 2) if not n_sources else masks[0]
    elif mask == "each":
        given["allowed"] = masks
    elif mask == "function":  # of the last token, the source and the length
        given["allowed"] = lambda ids, sources, length: masks[sources] | ((ids + length) % 2 == 0)[:, None]
    return toy, n_sources, given, mask and masks, mask == "function"


def expected(search, toy, source, given, masks, by_function, **changed):
    """Search with plain Python for the hypotheses of one source."""
    given = {**given, **changed}
    end_id, decoder = given["end_id"], nn.BeamSearchDecoder(toy.step, **{**given, "beam_size": 1})

    def may(tokens, token):
        if token == end_id and len(tokens) + 1 < given["min_length"]:
            return False
        last = tokens[-1] if tokens else START
        free = masks is None or masks[source, token] or (by_function and (last + len(tokens)) % 2 == 0)
        return bool(free)

    sizes = [given["beam_size"]] if search is oracle.beam_search else []
    zero = toy.table.dtype.type(0)
    common = (toy.one_step, source % STATES, zero, START, end_id, *sizes, given["max_length"])
    found = search(*common, decoder.penalty, may)[: given["num_results"]]
    return [list(tokens) for tokens, _ in found], [toy.table.dtype.type(score) for _, score in found]


def check(search, drawn, **changed):
    """Compare the decoder with a search in plain Python, exactly and in order."""
    toy, n_sources, given, masks, by_function = drawn
    result = nn.BeamSearchDecoder(toy.step, **{**given, **changed})(toy.first(n_sources), n_sources)
    assert result.tokens.num_levels == 2
    assert result.scores.num_levels == 1
    assert len(result.tokens) == len(result.scores) == n_sources
    tokens, scores = result.tokens.tolist(), result.scores.tolist()
    for source in range(n_sources):
        wanted = expected(search, toy, source, given, masks, by_function, **changed)
        assert (tokens[source], scores[source]) == wanted
    assert result.tokens.dtype == np.int64
    assert result.scores.dtype == toy.table.dtype or not toy.sizes


@given(searches())
def test_decoder_equals_the_search_in_plain_python(drawn):
    """It never stops early, and keeps all branches."""
    check(oracle.beam_search, drawn)


@given(searches())
def test_with_a_beam_as_wide_as_all_hypotheses_it_is_exhaustive(drawn):
    check(oracle.exhaustive_search, drawn, beam_size=4**4)


@given(searches())
def test_with_a_beam_of_one_it_is_greedy(drawn):
    check(oracle.greedy_search, drawn, beam_size=1, num_results=1)


@given(searches(), st.integers(0, 5))
def test_drawing_from_one_token_is_greedy(drawn, seed):
    """Except for equal ones, the first of which is chosen by sampling."""
    toy, n_sources, given, *_ = drawn
    toy.table += np.random.default_rng(1).permutation(toy.table.size).reshape(toy.table.shape) / 1e4 - 0.1
    toy.table = np.minimum(toy.table, 0)
    given = {**given, "beam_size": 1, "num_results": 1}
    greedy = nn.BeamSearchDecoder(toy.step, **given)(toy.first(n_sources), n_sources)
    for words in ({"top_k": 1}, {"top_p": 1e-9}):
        drawn = nn.BeamSearchDecoder(toy.step, **given, **words, seed=seed)(toy.first(n_sources), n_sources)
        assert drawn.tokens.equals(greedy.tokens)
        assert drawn.scores.equals(greedy.scores)


# -- the stop rule, and work that shrinks ------------------------------------------------------------------------------


def of_table(table, **given):
    """Make a decoder of log probabilities that depend only on the last token, and count its branches."""
    sizes = []

    def step(ids, state):
        sizes.append(len(ids))
        return np.log(np.array(table))[ids], state

    return nn.BeamSearchDecoder(step, start_id=0, end_id=0, **given), sizes


TABLE = [[1e-30, 0.6, 0.4], [0.9, 0.05, 0.05], [0.2, 0.1, 0.7]]


def test_decoder_stops_when_no_unfinished_hypothesis_can_win():
    decoder, sizes = of_table(TABLE, beam_size=3, max_length=50)
    assert decoder(None, 1).tokens.tolist() == [[[1, 0]]]
    assert sizes == [1, 2]


def test_finished_sources_leave_the_batch():
    def countdown(ids, state):
        sizes.append(len(ids))
        log_probs = np.full((len(ids), 9), -np.inf, np.float32)
        log_probs[np.arange(len(ids)), state] = -0.5
        return log_probs, np.maximum(state - 1, 0)

    sizes = []
    result = nn.BeamSearchDecoder(countdown, 4, 0, 0, 20)(np.array([3, 0, 5, 1]), 4)
    assert sizes == [4, 3, 2, 2, 1, 1]
    assert result.tokens.tolist() == [[[3, 2, 1, 0]], [[0]], [[5, 4, 3, 2, 1, 0]], [[1, 0]]]
    assert result.scores.dtype == np.float32


ALLOWED = {
    "nothing given": None,
    "a list": [True] * 3,
    "of the tokens": np.ones(3, bool),
    "of each source": np.ones((2, 3), bool),
    "a function": lambda ids, sources, length: np.ones((len(ids), 3), bool),
    "a function of all": lambda ids, sources, length: np.ones(3, bool),
    "the end last": lambda ids, sources, length: np.array([length > 0, True, True]),
}


@pytest.mark.parametrize("allowed", ALLOWED)
@pytest.mark.parametrize("least", range(5))
@pytest.mark.parametrize("words", [{}, {"temperature": 1.0, "seed": 4}, {"num_results": 3}])
def test_no_hypothesis_is_shorter_than_the_least_length(least, allowed, words):
    """The end is likely at each step; masks of tokens that may follow allow it, or forbid it at first only."""

    def step(ids, state):
        return np.log(np.tile([0.9, 0.06, 0.04], (len(ids), 1))), state

    decoder = nn.BeamSearchDecoder(step, 3, 1, 0, max_length=4, min_length=least, allowed=ALLOWED[allowed], **words)
    found = decoder(np.zeros(2), 2).tokens.tolist()
    shortest = max(least, 1 + (allowed == "the end last"))
    assert all(len(tokens) >= shortest and 0 not in tokens[:-1] for source in found for tokens in source)
    if not words:
        assert found == [[[1] * (shortest - 1) + [0]]] * 2


def test_penalty_of_a_length_by_gnmt_and_by_mean():
    decoder, _ = of_table(TABLE, beam_size=3, max_length=3, length_penalty=0.7)
    assert decoder.penalty(1) == 1
    assert decoder.penalty(7) == pytest.approx(2**0.7)
    mean, _ = of_table(TABLE, beam_size=3, max_length=3, length_penalty=1, normalization="length")
    assert [mean.penalty(n) for n in (1, 2, 5)] == [1, 2, 5]
    result = mean(None, 1)
    best = result.tokens.tolist()[0][0]
    chances = [TABLE[a][b] for a, b in zip([0, *best], best, strict=False)]
    assert result.scores.values[0] == pytest.approx(np.log(chances).mean())


def test_a_source_without_a_hypothesis_has_none():
    def step(ids, state):
        return np.where(state[:, None] > 0, -np.inf, [[-1.0, -2.0]]), state

    result = nn.BeamSearchDecoder(step, 2, 0, 0, 3)(np.array([0, 1, 0]), 3)
    assert result.tokens.lod.lengths(0).tolist() == [1, 0, 1]
    assert result.scores.tolist() == [[-1.0], [], [-1.0]]


def test_a_function_of_allowed_tokens_is_told_the_sources_that_are_left():
    """Source 0 ends in its first step, source 2 in its second."""
    seen = []

    def allowed(ids, sources, length):
        seen.append((ids.tolist(), sources.tolist(), length))
        ends = np.array([[0, 2, 1][source] <= length for source in sources])
        return np.stack([ends, ~ends], 1)

    decoder = nn.BeamSearchDecoder(lambda ids, s: (np.full((len(ids), 2), np.log(0.5)), s), 1, 7, 0, 5, allowed=allowed)
    assert decoder(None, 3).tokens.tolist() == [[[0]], [[1, 1, 0]], [[1, 0]]]
    assert seen == [([7, 7, 7], [0, 1, 2], 0), ([1, 1], [1, 2], 1), ([1], [1], 2)]


def test_inputs_are_never_changed():
    table = np.log(np.array([[0.2, 0.8], [0.5, 0.5]]))
    table.setflags(write=False)
    state = np.zeros((2, 3))
    state.setflags(write=False)
    mask = np.array([True, True])
    mask.setflags(write=False)
    nn.BeamSearchDecoder(lambda ids, s: (table[ids], s), 2, 0, 0, 4, 2, allowed=mask)(state, 2)
    assert mask.all()


def test_the_mask_of_a_decoder_is_its_own():
    for mask in (np.array([False, True, False]), np.array([[False, True, False]])):
        decoder = nn.BeamSearchDecoder(lambda ids, s: (np.full((len(ids), 3), -1.0), s), 1, 0, 2, 2, allowed=mask)
        mask[:] = [True, False, True]
        assert decoder(None, 1).tokens.tolist() == [[[1, 1]]]


# -- sampling ----------------------------------------------------------------------------------------------------------


def test_drawn_tokens_have_their_probabilities():
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])

    def step(ids, state):
        return np.log(np.repeat(probabilities[None], len(ids), axis=0)), state

    def shares(**words):
        decoder = nn.BeamSearchDecoder(step, 4000, 0, -1, 1, num_results=4000, seed=3, **words)
        result = decoder(None, 1)
        assert result.tokens.lod.lengths(0).tolist() == [4000]
        return np.bincount(result.tokens.values, minlength=4) / 4000

    np.testing.assert_allclose(shares(temperature=1.0), probabilities, atol=0.03)
    np.testing.assert_allclose(shares(temperature=0.5), probabilities**2 / (probabilities**2).sum(), atol=0.03)
    np.testing.assert_allclose(shares(top_k=2), [0.625, 0.375, 0, 0], atol=0.03)
    np.testing.assert_allclose(shares(top_p=0.79), [0.625, 0.375, 0, 0], atol=0.03)
    np.testing.assert_allclose(shares(top_p=0.81), np.array([0.5, 0.3, 0.15, 0]) / 0.95, atol=0.03)
    np.testing.assert_allclose(shares(top_p=0.9, top_k=1), [1, 0, 0, 0])


@pytest.mark.parametrize("top_k", [None, 1, 2, 3])
@pytest.mark.parametrize("top_p", [None, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0])
def test_top_p_draws_the_fewest_tokens_whose_probabilities_reach_it(top_p, top_k):
    """Shares that are powers of two are reached exactly, and the next token is not drawn."""
    powers = np.array([0.5, 0.25, 0.125, 0.125])
    wanted, total = [], 0.0
    for token, share in enumerate(powers):
        of = powers[: top_k or 4].sum()
        if token < (top_k or 4) and total < (top_p or 1) * of:
            wanted.append(token)
            total += share
    words = {"top_p": top_p, "top_k": top_k, "temperature": 1.0}
    decoder = nn.BeamSearchDecoder(
        lambda ids, state: (np.log2(np.repeat(powers[None], len(ids), 0)) * np.log(2), state),
        400, 0, -1, 1, num_results=400, seed=3, **{name: x for name, x in words.items() if x is not None},
    )  # fmt: skip
    assert sorted(set(decoder(None, 1).tokens.values.tolist())) == wanted


@for_each("dtype", ["f4", "f8"])
def test_the_drawn_token_is_the_first_whose_share_exceeds_the_chance(dtype):
    """Also if the chance is exactly a share; the last token is impossible, the second branch has another order."""
    equal = np.array([[0, 0, 0, 0, -np.inf], [-np.inf, 0, 0, 0, 0]], dtype)
    for chance, place in [(0.0, 0), (0.2, 0), (0.25, 1), (0.5, 2), (0.625, 2), (0.75, 3), (1 - 2**-53, 3)]:
        found = Sampling(1.0, None, None).draw(equal, np.array([chance, chance]))
        assert found.tolist() == [place, place + 1]


@for_each("temperature", [5e-324, 1e-308, 1e300])
def test_temperatures_of_any_size_draw_the_most_probable_token_or_any_alike(temperature):
    log_probs = np.log([[0.2, 0.5, 0.3], [0.5, 0.2, 0.3]])
    found = Sampling(temperature, None, None).draw(np.repeat(log_probs, 2, axis=0), np.array([0.1, 0.9] * 2))
    assert found.tolist() == ([1, 1, 0, 0] if temperature < 1 else [1, 0, 0, 1])


def test_branches_draw_independently_of_ended_ones():
    """Of four equal tokens, the first ends: with plain Python, a branch draws int(4 * chance)."""
    for seed in (0, 1, 2):
        words = {"temperature": 1.0, "num_results": 2, "seed": seed}
        decoder = nn.BeamSearchDecoder(lambda ids, s: (np.full((len(ids), 4), np.log(0.25)), s), 2, 0, 0, 6, **words)
        random, wanted = np.random.default_rng(seed), [[], [], [], []]
        for _ in range(6):
            for branch, chance in zip(wanted, random.random(4), strict=True):
                branch += [int(4 * chance)] if not branch or branch[-1] else []
        found = decoder(None, 2).tokens.tolist()
        assert [sorted(one) for one in found] == [sorted(wanted[:2]), sorted(wanted[2:])]


@for_each("name", ["length_penalty", "temperature", "top_p"])
@for_each("wrong", [True, np.True_, "1", 1j, np.complex64(1), np.ones(1), [1]])
def test_settings_are_real_numbers(name, wrong):
    with pytest.raises(DTypeError, match=f"^BeamSearchDecoder: {name}: is .*; a number is needed$"):
        nn.BeamSearchDecoder(**{**GOOD, name: wrong})


def test_huge_num_results_of_a_beam_search_takes_no_memory():
    decoder, _ = of_table(TABLE, beam_size=2, max_length=2, num_results=2**31 - 1)
    assert decoder(None, 1).tokens.tolist() == [[[1, 0], [2, 2]]]


@for_each("number", [int, float, np.int64, np.int8, np.float32, np.float64])
def test_settings_are_numbers_of_python_or_numpy(number):
    integer = int if issubclass(number, (float, np.floating)) else number
    words = {"length_penalty": number(1), "temperature": number(1), "top_p": number(1), "seed": integer(3)}
    sizes = [integer(n) for n in (2, 0, 0, 3)]
    found, wanted = (
        nn.BeamSearchDecoder(lambda ids, s: (np.full((len(ids), 4), np.log(0.25)), s), *given, **more)(None, 2)
        for given, more in ((sizes, words), ([2, 0, 0, 3], {name: int(x) for name, x in words.items()}))
    )
    assert found.tokens.equals(wanted.tokens)
    assert found.scores.equals(wanted.scores)


@for_each("at", [0, 1, 2])
@for_each("wrong", [np.zeros(3), np.zeros((1, 2)), LoDTensor.from_lengths(np.zeros(3), [1, 2, 0]), np.float64(0), 5.0])
def test_every_leaf_of_a_state_has_a_row_per_branch(at, wrong):
    first = [np.zeros(2), LoDTensor.from_lengths(np.zeros(3), [1, 2]), np.zeros((2, 3))]
    others = [wrong if j == at else one for j, one in enumerate(first)]
    log_probs = np.zeros((2, 2))
    for before, after, of in ((others, first, "sources"), (first, others, "branches")):
        decoder = nn.BeamSearchDecoder(lambda ids, state, after=after: (log_probs, after), 1, 0, 0, 3)
        says = "a float" if type(wrong) is float else rf"shape .*; there are 2 {of}"
        with pytest.raises((ShapeError, DTypeError), match=f"BeamSearchDecoder: state: has {says}"):
            decoder(before, 2)


@for_each(("dtype", "least"), [("f4", -3e38), ("f8", -1e308)])
def test_finite_log_probabilities_are_possible(dtype, least):
    for words in ({}, {"temperature": 1.0, "seed": 0}):
        log_probs = np.array([[least, -np.inf]], dtype)
        decoder = nn.BeamSearchDecoder(lambda ids, s, p=log_probs: (p.repeat(len(ids), 0), s), 1, 1, 0, 3, **words)
        found = decoder(None, 1)
        assert found.tokens.tolist() == [[[0]]]
        assert found.scores.values.tolist() == log_probs[0, :1].tolist()


@pytest.mark.parametrize("penalty", [-4.0, -3.0, -1.5, -0.5, 0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("normalization", ["gnmt", "length"])
def test_decoder_does_not_stop_before_a_better_weighted_hypothesis(penalty, normalization):
    """Hypotheses that end at once, late, or in between are best in turn; the search finds all of them."""
    for ends in itertools.product([0.31, 0.5, 0.999], repeat=3):
        model = [np.log([end, 1 - end]) for end in ends]

        def step(ids, state, model=model):
            return np.array([model[min(k, 2)] for k in state]), state + 1

        decoder = nn.BeamSearchDecoder(
            step, 4, 1, 0, max_length=6, length_penalty=penalty, normalization=normalization, num_results=1
        )
        totals = [sum(model[min(k, 2)][1] for k in range(n)) + model[min(n, 2)][0] for n in range(6)]
        scores = [total / decoder.penalty(n + 1) for n, total in enumerate(totals)]
        unended = sum(model[min(k, 2)][1] for k in range(6)) / decoder.penalty(6)
        found = decoder(np.zeros(1, int), 1)
        np.testing.assert_allclose(found.scores.values, max([*scores, unended]), rtol=1e-12)


@given(searches(), st.integers(0, 2**32), st.integers(1, 5))
def test_scores_of_drawn_hypotheses_are_those_of_the_model(drawn, seed, beam_size):
    toy, n_sources, given, *_ = drawn
    given = {**given, "beam_size": beam_size, "num_results": beam_size, "temperature": 1.3, "seed": seed}
    decoder = nn.BeamSearchDecoder(toy.step, **given)
    result = decoder(toy.first(n_sources), n_sources)
    again = decoder(toy.first(n_sources), n_sources)
    assert again.tokens.equals(result.tokens)
    assert again.scores.equals(result.scores)
    for source in range(n_sources):
        found = list(zip(result.tokens.tolist()[source], result.scores.tolist()[source], strict=True))
        assert len(found) <= beam_size
        for tokens, score in found:
            number, last, total = source % STATES, START, toy.table.dtype.type(0)
            for token in tokens:
                log_probs, number = toy.one_step(last, number)
                total, last = total + log_probs[token], token
            assert score == toy.table.dtype.type(float(total) / decoder.penalty(len(tokens)))
            assert len(tokens) >= given["min_length"] or len(tokens) == given["max_length"]


# -- wrong calls -------------------------------------------------------------------------------------------------------


def plain(ids, state):
    return np.full((len(ids), 3), -1.0), state


GOOD = {"step": plain, "beam_size": 2, "start_id": 0, "end_id": 0, "max_length": 3}
WRONG = [
    ({"step": 3}, DTypeError, "step: is int; a function is needed"),
    ({"beam_size": 0}, ValueError, "beam_size: is 0; 1 .. 2147483647 is valid"),
    ({"beam_size": 2.0}, DTypeError, "beam_size: is 2.0"),
    ({"start_id": "a"}, DTypeError, "start_id: is 'a'"),
    ({"end_id": 2**63}, ValueError, "end_id: is 9223372036854775808"),
    ({"max_length": 0}, ValueError, "max_length: is 0; 1 or more is needed"),
    ({"min_length": 4}, ValueError, "min_length: is 4; 0 .. 3 is valid"),
    ({"length_penalty": np.nan}, ValueError, "length_penalty: is nan; a finite number is needed"),
    ({"length_penalty": "mean"}, DTypeError, "length_penalty: is 'mean'; a number is needed"),
    ({"num_results": 0}, ValueError, "num_results: is 0"),
    ({"normalization": "mean"}, ValueError, "normalization: is 'mean'; one of 'gnmt', 'length' is needed"),
    ({"temperature": 0}, ValueError, "temperature: is 0; more than 0 is needed"),
    ({"temperature": True}, DTypeError, "temperature: is True"),
    ({"top_k": 0}, ValueError, "top_k: is 0; 1 or more is needed"),
    ({"top_p": 1.5}, ValueError, "top_p: is 1.5; more than 0 and at most 1 is needed"),
    ({"seed": 1}, ValueError, "seed: is given, but nothing is drawn"),
    ({"seed": -1, "top_k": 1}, ValueError, "seed: is -1"),
    ({"allowed": [0, 1]}, DTypeError, "allowed: has dtype int64; bool is needed"),
    ({"allowed": np.True_}, ShapeError, r"allowed: has shape \(\)"),
]


@pytest.mark.parametrize(("given", "error", "says"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_beam_search_decoder_refuses_wrong_settings_by_their_names(given, error, says):
    with pytest.raises(error, match=f"^BeamSearchDecoder: {says}"):
        nn.BeamSearchDecoder(**{**GOOD, **given})


def returning(log_probs, state=None):
    return lambda ids, given: (log_probs, given if state is None else state)


CALLS = [
    ({}, np.zeros(3), 2, ShapeError, r"state: has shape \(3,\); there are 2 sources, one row each"),
    ({}, {"a": [np.float64(1)]}, 1, ShapeError, r"state: has shape \(\); there are 1 sources"),
    ({}, lodcore.array([[1], [2]]), 1, ShapeError, r"state: has shape \(2, None\); there are 1 sources"),
    ({}, {"a": object()}, 1, DTypeError, "state: has an object; arrays or LoDTensors are needed"),
    ({}, None, -1, ValueError, "num_sources: is -1"),
    ({}, None, 1.5, DTypeError, "num_sources: is 1.5"),
    ({"step": lambda ids, state: None}, None, 1, DTypeError, "step: returned a NoneType; a pair of log probabilities"),
    ({"step": lambda ids, state: (ids, ids, ids)}, None, 1, DTypeError, "step: returned a tuple; a pair of"),
    ({"step": returning(np.zeros((1, 3), int))}, None, 1, DTypeError, "log probabilities: has dtype int64"),
    ({"step": returning(np.zeros((2, 3)))}, None, 1, ShapeError, r"has shape \(2, 3\); \(1, n_tokens\) is needed"),
    ({"step": returning(np.zeros((1, 0)))}, None, 1, ShapeError, r"has shape \(1, 0\)"),
    ({"step": returning(np.zeros(3))}, None, 1, ShapeError, r"has shape \(3,\)"),
    ({"step": returning(np.array([[0, np.nan]]))}, None, 1, ValueError, "is nan at branch 0, token 1; 0 or less"),
    ({"step": returning(np.array([[0.5, -1]]))}, None, 1, ValueError, "is 0.5 at branch 0, token 0; 0 or less"),
    ({"step": returning(lodcore.array([[0.0]]))}, None, 1, DTypeError, "is a LoDTensor; a dense array is needed"),
    ({"step": returning(np.array([[-1.0, 0]]), np.zeros(2))}, np.zeros(1), 1, ShapeError, "there are 1 branches"),
    ({"allowed": [True, False]}, None, 1, ShapeError, r"allowed: has shape \(2,\); \(3,\) is needed, or \(1, 3\)"),
    ({"allowed": [[True] * 3] * 3}, None, 2, ShapeError, r"\(3, 3\); \(3,\) is needed, or \(2, 3\).*of the sources"),
    ({"allowed": lambda *_: [1, 1, 1]}, None, 1, DTypeError, "allowed: has dtype int64; bool is needed"),
    ({"num_results": 2**31 - 1, "beam_size": 2**31 - 1}, None, 2**20, MemoryError, "num_results"),
    ({"temperature": 1.0, "beam_size": 2**31 - 1}, None, 2**20, MemoryError, "beam_size"),
]


@pytest.mark.parametrize(("given", "state", "count", "error", "says"), CALLS, ids=[row[4] for row in CALLS])
def test_wrong_decoders_and_states_are_refused(given, state, count, error, says):
    decoder = nn.BeamSearchDecoder(**{**GOOD, **given})
    with pytest.raises(error, match=f"^BeamSearchDecoder.*{says}"):
        decoder(state, count)


def test_decoder_without_sources_returns_empty_results():
    result = nn.BeamSearchDecoder(**GOOD)(np.zeros((0, 4)), 0)
    assert result.tokens.tolist() == result.scores.tolist() == []
    assert (result.tokens.num_levels, result.scores.num_levels) == (2, 1)
