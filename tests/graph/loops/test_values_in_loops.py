"""Loops compute the numbers and gradients of plain Python in all ways of running: arrays, slots and map_fn in them."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, TensorArray, map_fn, ops
from lodcore.graph import Variable, vjp, while_loop
from tests.helpers.texts_in_every_way import check, every_way, rows_of

pytestmark = pytest.mark.not_on_reference  # no kernels of its own

X = np.array([0.5, -1.5, 2.0])
ROWS = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.75]])
WORDS = [[[1.0, 2.0], [0.5]], [], [[-1.0], [], [3.0, 0.25, 2.0]]]
NESTED = lodcore.array(WORDS)


# -- an array made in the body ---------------------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("x", [NESTED, NESTED[:1], NESTED[1:2], NESTED[:0]], ids=["three", "one", "empty", "none"])
def test_map_fn_in_map_fn_gives_what_nested_calls_of_python_give(way, x):
    def text(while_loop, x):
        return map_fn(lambda doc: map_fn(lambda s: ops.sum(s), doc), x)

    def meaning(x):
        rows = [np.array([np.sum(x[d][s]) for s in range(len(x[d]))]) for d in range(len(x))]
        return LoDTensor.from_lengths(np.concatenate([np.empty(0), *rows]), [len(r) for r in rows])

    check(way, text, meaning, x)


def documents_of(seed):
    """Draw a batch of documents: some without sentences, some sentences without words."""
    random = np.random.default_rng(seed)
    sentences = random.integers(0, 4, random.integers(1, 5))
    words = random.integers(0, 4, sentences.sum())
    return LoDTensor.from_lengths(random.standard_normal((words.sum(), 2)), sentences, words)


@every_way
@pytest.mark.parametrize("seed", range(8))
def test_nested_rnns_over_words_and_sentences_by_two_loops(way, seed):
    """The inner loop is an RNN over the words of all sentences of a document; the outer loop runs over documents."""
    random = np.random.default_rng(99)
    w, u = random.standard_normal((2, 2)) / 2, random.standard_normal((2, 2)) / 2

    def text(while_loop, x, w, u):
        documents, vectors = TensorArray.unstack(x), TensorArray()
        around = while_loop()
        with around.loop():
            d = around.loop_var(0)
            around.break_if(d >= documents.size())
            document = documents.read(d)
            steps, indices_map = TensorArray.unpack(document, 0)
            table = lodcore.lod_rank_table(document)
            outputs = TensorArray()
            first = lodcore.reorder_by_rank(lodcore.sequence_pool(document, "sum") * 0.0, table)
            loop = while_loop()
            with loop.loop():
                t, before = loop.loop_var(0), loop.loop_var(first)
                loop.break_if(t >= steps.size())
                state = lodcore.tanh(steps.read(t) @ w + lodcore.shrink_memory(before, t, table) @ u)
                outputs.write(t, state)
                before.update(state)
            vectors.write(d, ops.sum(outputs.pack(0, indices_map), axis=(0, 1)))
        return vectors.stack()

    def meaning(x, w, u):
        made = []
        for d in range(len(x)):
            total = np.zeros(2)
            for s in range(len(x[d])):
                state = np.zeros(2)
                for word in x[d][s]:
                    state = np.tanh(word @ w + state @ u)
                    total = total + state
            made.append(total)
        return np.array(made)

    check(way, text, meaning, documents_of(seed), w, u)


# -- a loop without Variables from outside reads earlier writes ------------------------------------------------------


def read_and_sum(while_loop, array, of_element=lambda element: element):
    loop = while_loop()
    with loop.loop():
        k, total = loop.loop_var(0), loop.loop_var(0.0)
        loop.break_if(k >= array.size())
        total.update(total + of_element(array.read(k)))
    return total


ELEMENTS = {
    "sum": (lambda e: ops.sum(e), np.sum),
    "mean": (lambda e: ops.mean(e), np.mean),
    "method max": (lambda e: e.max(), np.max),
    "an entry": (lambda e: e[0], lambda e: e[0]),
    "an entry from the end": (lambda e: e[-1], lambda e: e[-1]),
    "sum of a slice": (lambda e: ops.sum(e[1:]), lambda e: np.sum(e[1:])),
    "concatenate": (lambda e: ops.sum(np.concatenate([e, e * e])), lambda e: np.sum(e + e * e)),
    "product": (lambda e: e @ np.arange(3.0), lambda e: e @ np.arange(3.0)),
}


@every_way
@pytest.mark.parametrize("which", ELEMENTS)
def test_elements_read_in_a_loop_know_shape_and_dtype(way, which):
    of_element, plain = ELEMENTS[which]

    def text(while_loop, x):
        a = TensorArray()
        for k in range(3):
            a.write(k, x * (k + 1.0))
        return read_and_sum(while_loop, a, of_element)

    check(way, text, lambda x: sum(plain(x * k) for k in (1.0, 2.0, 3.0)), X)


@every_way
def test_elements_that_are_lod_tensors_keep_their_structure_in_a_loop(way):
    sequences = LoDTensor.from_lengths(X, [2, 0, 1])

    def text(while_loop, x):
        a = TensorArray()
        a.write(0, x)
        a.write(1, x * 3.0)
        return read_and_sum(while_loop, a, lambda e: ops.sum(lodcore.sequence_pool(e, "sum")))

    check(way, text, lambda x: 4.0 * np.sum(x.values), sequences)


# -- TensorArray(unstack_from=x) is recorded -------------------------------------------------------------------------


@every_way
@pytest.mark.parametrize("x", [X, ROWS, LoDTensor.from_lengths(X, [1, 0, 2])], ids=["vector", "matrix", "sequences"])
def test_unstack_from_is_recorded(way, x):
    def text(while_loop, x):
        return read_and_sum(while_loop, TensorArray(unstack_from=x), lambda e: ops.sum(e * e))

    check(way, text, lambda x: np.sum(rows_of(x) ** 2), x)


def test_lod_of_a_loop_variable_in_an_inner_loop_is_that_of_the_step():
    """It is recorded under the own name of the variable, though this has a value."""
    v, seen = Variable("v", lodcore.array([[1.0, 2.0], [], [3.0]])), TensorArray()
    outer = while_loop([v])
    with outer.loop():
        at = outer.step()
        outer.break_if(at >= 3)
        inner = while_loop()
        with inner.loop():
            inner.break_if(inner.step() >= 1)
            seen.write(at, v.lengths)
        v.update(lodcore.gather_sequences(v, [2, 0, 0]))
    assert [seen.read(at).tolist() for at in range(3)] == [[2, 0, 1], [1, 2, 2], [2, 1, 1]]
    assert v.get().lengths.tolist() == [1, 2, 2]


def test_deferred_loop_starts_from_the_value_captured_at_recording():
    def f(x):
        v = x * 1.0
        late = while_loop()
        with late.loop(exec_immediately=False):
            state = late.loop_var(v)
            late.break_if(late.step() >= 1)
            state.update(state * 10.0)
        first = while_loop([v])
        with first.loop():
            first.break_if(first.step() >= 3)
            v.update(v * 2.0)
        late()
        return state, v

    y, pullback = vjp(f, np.array(1.5))
    assert [float(one) for one in y] == [15, 12]
    assert [float(pullback(*d)[0]) for d in ((1.0, None), (None, 1.0))] == [10, 8]
