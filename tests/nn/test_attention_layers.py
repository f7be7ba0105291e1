"""Attention over memories: by dot products and additive; of one query per sequence, and of several."""

import itertools

import numpy as np
import pytest

import lodcore
from lodcore import DTypeError, LoD, LoDError, LoDTensor, grad_check, nn, ops, value_and_grad, while_loop

MEMORY, QUERIES = [2, 0, 3, 1], [1, 2, 0, 2]
LAYER = nn.AdditiveAttention(3, 3, 4)
LODS = {
    1: (LoD.from_lengths(MEMORY), LoD.from_lengths(QUERIES)),
    2: (LoD.from_lengths([1, 0, 3], MEMORY), LoD.from_lengths([1, 0, 3], QUERIES)),
    3: (LoD.from_lengths([2, 0, 1], [1, 0, 3], MEMORY), LoD.from_lengths([2, 0, 1], [1, 0, 3], QUERIES)),
}


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def softmax(scores):
    powers = np.exp(scores - scores.max(initial=-np.inf))
    return powers / powers.sum()


def dot_scores(query, memory, parameters):
    return memory @ query / np.sqrt(3)


def additive_scores(query, memory, p):
    return np.tanh(query @ p["weight_query"] + memory @ p["weight_memory"] + p["bias"]) @ p["score"]


def by_dot(parameters, query, memory, values=None):
    return nn.dot_attention(query, memory, values)


KINDS = {"dot": (by_dot, dot_scores), "additive": (LAYER, additive_scores)}
PARAMETERS = {name: drawn(*x.shape, seed=7) for name, x in LAYER.init(np.random.default_rng(0)).items()}


def batch(form, levels):
    """Make a query of a form, a memory and values."""
    lod, of_queries = LODS[levels]
    memory, values = (LoDTensor(drawn(lod.num_rows, width, seed=width), lod) for width in (3, 2))
    if form == "several":
        return LoDTensor(drawn(of_queries.num_rows, 3), of_queries), memory, values
    query = drawn(len(MEMORY), 3)
    outer = [[2, 0, 1], [1, 0, 3]][3 - levels :]
    return LoDTensor.from_lengths(query, *outer) if form == "outer" else query, memory, values


FORMS = [("dense", 1), ("several", 1), ("dense", 2), ("outer", 2), ("several", 2)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("form", "levels"), [*FORMS, ("outer", 3), ("several", 3)])
def test_attention_layers_return_softmax_weights_and_weighted_sums(kind, form, levels):
    call, scores = KINDS[kind]
    query, memory, values = batch(form, levels)
    context, weights = call(PARAMETERS, query, memory, values)
    found, rows = np.asarray(getattr(context, "values", context)), getattr(query, "values", query)
    ends = np.append(0, np.cumsum(MEMORY))
    owners = np.repeat(np.arange(4), QUERIES) if form == "several" else np.arange(4)
    every = []
    for at, s in enumerate(owners):
        some = slice(ends[s], ends[s + 1])
        every.append(softmax(scores(rows[at], memory.values[some], PARAMETERS)))
        np.testing.assert_allclose(found[at], every[-1] @ values.values[some], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(weights.values, np.concatenate(every), rtol=1e-9)
    if form == "several":
        assert context.lod == query.lod
        assert weights.lod == query.lod.append(lengths=[MEMORY[s] for s in owners])
    else:
        assert weights.lod is memory.lod
        assert getattr(context, "num_levels", 0) == levels - 1


def test_queries_of_other_levels_are_refused():
    query, (_, memory, _) = LoDTensor.from_lengths(drawn(4, 3), [1, 0, 3]), batch("dense", 3)
    with pytest.raises(LoDError, match="AdditiveAttention: query: has 1 level; memory has 3, and as many or one"):
        LAYER(PARAMETERS, query, memory)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("form", "levels"), FORMS)
@pytest.mark.parametrize("shared", [False, True])
def test_gradients_of_attention_layers_are_derivatives(kind, form, levels, shared):
    call, (query, memory, values) = KINDS[kind][0], batch(form, levels)

    def loss(p, query, memory, values):
        context, weights = call(p, query, memory, None if shared else values)
        return ops.sum(context * context * context) + ops.sum(weights * weights)

    grad_check(loss, PARAMETERS, query, memory, values)
    narrow = [lodcore.tree_map(lambda x: x.astype(np.float32), one) for one in (PARAMETERS, query, memory, values)]
    value, of_narrow = value_and_grad(loss, (1, 2))(*narrow)
    wide, of_wide = value_and_grad(loss, (1, 2))(PARAMETERS, query, memory, values)
    assert float(value) == pytest.approx(float(wide), rel=1e-4)
    for one, other in zip(of_narrow, of_wide, strict=True):
        one, other = (getattr(x, "values", x) for x in (one, other))
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("form", "levels"), FORMS)
def test_attention_layers_give_the_same_in_a_program(kind, form, levels):
    call, given = KINDS[kind][0], batch(form, levels)
    with lodcore.Program() as program:
        variables = [
            lodcore.data(name, (None, x.shape[-1]), "float64", num_levels=getattr(x, "num_levels", 0))
            for name, x in zip(("query", "memory", "values"), given, strict=True)
        ]
        results = call(PARAMETERS, *variables)
    feed = dict(zip(("query", "memory", "values"), given, strict=True))
    found = lodcore.Executor().run(program, feed, list(results))
    for one, other in zip(found, call(PARAMETERS, *given), strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(getattr(one, "values", one), getattr(other, "values", other))


@pytest.mark.parametrize("kind", KINDS)
def test_a_decoder_attends_in_every_step(kind):
    """A state queries the memory, and the context becomes the next state; keys of the memory are computed once."""
    call, (query, memory, _) = KINDS[kind][0], batch("dense", 1)

    def attended(p, state, memory, keys):
        return call(p, state, memory, keys=keys)[0] if kind == "additive" else call(p, state, memory)[0]

    def looped(p, state, memory):
        keys = LAYER.keys(p, memory)
        loop = while_loop()
        with loop.loop():
            now = loop.loop_var(state)
            loop.break_if(loop.step() >= 3)
            now.update(lodcore.tanh(now + attended(p, now, memory, keys)))
        return ops.sum(now * now)

    def by_hand(p, state, memory):
        for _ in range(3):
            state = lodcore.tanh(state + attended(p, state, memory, None))
        return ops.sum(state * state)

    found, wanted = (value_and_grad(f, (0, 1, 2))(PARAMETERS, query, memory) for f in (looped, by_hand))
    assert float(found[0]) == pytest.approx(float(wanted[0]))
    for one, other in zip(lodcore.tree_leaves(found[1]), lodcore.tree_leaves(wanted[1]), strict=True):
        one, other = (getattr(x, "values", x) for x in (one, other))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_memories_without_rows_give_zeros(kind, lengths):
    call, memory = KINDS[kind][0], LoDTensor.from_lengths(np.empty((0, 3)), lengths)
    context, weights = call(PARAMETERS, np.ones((len(lengths), 3)), memory)
    np.testing.assert_array_equal(context, np.zeros((len(lengths), 3)))
    assert weights.lod is memory.lod
    several = LoDTensor.from_lengths(np.ones((2 * len(lengths), 3)), [2] * len(lengths))
    context, weights = call(PARAMETERS, several, memory)
    np.testing.assert_array_equal(context.values, np.zeros((2 * len(lengths), 3)))
    assert weights.lod.num_sequences(1) == 2 * len(lengths)


def test_scale_of_dot_products():
    query, memory, _ = batch("dense", 1)
    plain = nn.dot_attention(query, memory, scale=1.0)[1].values
    np.testing.assert_allclose(nn.dot_attention(query * np.sqrt(3), memory)[1].values, plain, rtol=1e-9)


def test_dot_attention_takes_any_scale_also_0():
    """Also 0, with which all rows have the same weight."""
    for (form, levels), scale in itertools.product(FORMS, (0, 0.0, 1, -2.5, np.float32(0.5))):
        query, memory, values = batch(form, levels)
        rows, ends = getattr(query, "values", query), np.append(0, np.cumsum(MEMORY))
        owners = np.repeat(np.arange(4), QUERIES) if form == "several" else np.arange(4)
        wanted = [
            softmax(memory.values[ends[s] : ends[s + 1]] @ row * float(scale))
            for s, row in zip(owners, rows, strict=True)
        ]
        _, weights = nn.dot_attention(query, memory, values, scale)
        np.testing.assert_allclose(weights.values, np.concatenate(wanted), rtol=1e-9)


def test_dot_attention_with_scale_0_has_gradients_of_the_values_only():
    """With weights that do not depend on the query, only the values have one."""
    for form, levels in FORMS:
        context, back = lodcore.vjp(lambda *given: nn.dot_attention(*given, scale=0)[0], *batch(form, levels))
        d_query, d_memory, d_values = (
            getattr(d, "values", d) for d in back(np.ones(np.shape(getattr(context, "values", context))))
        )
        assert not d_query.any()
        assert not d_memory.any()
        assert d_values.any()


@pytest.mark.parametrize("scale", [None, 0.3])
def test_dot_attention_of_one_query_equals_sequences_of_one_query(scale):
    """Two ways of computing, with gradients that agree in all digits."""
    query, memory, values = batch("dense", 1)
    found = []
    for form in (query, LoDTensor.from_lengths(query, [1] * len(query))):
        (context, weights), back = lodcore.vjp(lambda *given: nn.dot_attention(*given, scale), form, memory, values)
        every = [context, weights, *back(np.cos(np.arange(8.0)).reshape(4, 2), np.sin(np.arange(6.0)))]
        every += lodcore.vjp(lambda *given: nn.dot_attention(*given, scale)[1], form, memory, values)[1](np.arange(6.0))
        found.append([getattr(one, "values", one) for one in every if one is not None])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_a_memory_without_levels_is_refused():
    parameters = LAYER.init(np.random.default_rng(0))
    for call in (lambda: LAYER(parameters, np.ones((2, 3)), np.ones((2, 3))), lambda: LAYER.keys(parameters, 3)):
        with pytest.raises(DTypeError, match=r"^AdditiveAttention.*: memory: is .*; a LoDTensor or nested lists"):
            call()
