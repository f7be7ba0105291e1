"""The hierarchical GRU on glosses: compared with plain loops, on tiny data with known answers, and its training."""

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, nn
from lodcore.demo.glosses import make
from lodcore.demo.glosses.data import Glosses, load
from lodcore.demo.glosses.hierarchical import Reader, ReaderSettings, percent_named

TINY = ReaderSettings(width=4, num_hidden=3, num_epochs=2, batch_size=5, dropout=0.0)
DOCUMENTS = lodcore.array([[[1, 2], [3]], [[0, 4, 5], [], [2]], [], [[5]]], dtype=np.int64)


def drawn(settings=TINY, num_words=6, num_topics=3, seed=0):
    """Make a network and its parameters, in float64."""
    reader = Reader(num_words, num_topics, settings)
    parameters = lodcore.tree_map(lambda p: p.astype(np.float64), reader.init(np.random.default_rng(seed)))
    return reader, parameters


def by_hand(reader, parameters, documents):
    """Compute the logits document by document and word by word."""
    found = []
    for sentences in documents.tolist():
        document = np.zeros((1, 3))
        for words in sentences:
            state = np.zeros((1, 3))
            for word in words:
                row = parameters["table"]["table"][word][np.newaxis]
                _, state = reader.words.cell(reader.words.prepare(parameters["words"]), row, state)
            _, document = reader.sentences.cell(reader.sentences.prepare(parameters["sentences"]), state, document)
        found.append((document @ parameters["topics"]["weight"] + parameters["topics"]["bias"])[0])
    return np.array(found)


def test_logits_are_those_of_plain_loops():
    reader, parameters = drawn()
    np.testing.assert_allclose(reader.logits(parameters, DOCUMENTS), by_hand(reader, parameters, DOCUMENTS), rtol=1e-12)


def test_logits_of_a_document_do_not_depend_on_the_other_documents():
    reader, parameters = drawn()
    whole = reader.logits(parameters, DOCUMENTS)
    order = np.array([3, 1, 2, 0])
    np.testing.assert_allclose(reader.logits(parameters, DOCUMENTS[order]), whole[order], rtol=1e-12)
    for j in range(len(DOCUMENTS)):
        np.testing.assert_allclose(reader.logits(parameters, DOCUMENTS[j : j + 1])[0], whole[j], rtol=1e-12)


def test_gradients_go_through_both_levels():
    reader, parameters = drawn()
    topics = np.array([0, 2, 1, 0])
    lodcore.grad_check(lambda p: reader.loss(p, DOCUMENTS, topics), parameters)
    _, gradients = lodcore.value_and_grad(reader.loss)(parameters, DOCUMENTS, topics)
    table = gradients["table"]["table"]
    assert isinstance(table, lodcore.SparseTensor)
    assert set(table.indices.tolist()) == {0, 1, 2, 3, 4, 5}
    assert np.abs(table.to_dense()).min(axis=1).all()


def test_shares_are_counted():
    reader, parameters = drawn()
    nothing = lodcore.tree_map(np.zeros_like, parameters)
    nothing["topics"]["bias"] = np.array([0.0, 1.0, 0.0])  # predicts topic 1, always
    assert percent_named(reader, nothing, Glosses(DOCUMENTS, np.array([1, 0, 1, 1]))) == 75
    many = LoDTensor.from_lengths(np.zeros(1300, np.int64), np.ones(1300, np.int64), np.ones(1300, np.int64))
    topics = np.r_[np.ones(13, np.int64), np.zeros(1287, np.int64)]
    assert percent_named(reader, nothing, Glosses(many, topics)) == 1


def test_a_seed_settles_everything():
    glosses, found = Glosses(DOCUMENTS, np.array([0, 2, 1, 0])), []
    for _ in range(2):
        reader, parameters = drawn()
        losses = list(reader.learn(parameters, glosses, np.random.default_rng(2)))
        found.append((losses, lodcore.tree_leaves(parameters)))
    assert found[0][0] == found[1][0]
    for one, other in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.not_on_reference
def test_it_learns_which_order_words_have():
    """A bag of words cannot learn this: both kinds of documents have the same words and the same sentences."""
    rng = np.random.default_rng(0)
    swapped = rng.integers(0, 2, 400)
    sentences = np.where(swapped[:, None, None], [[3, 4], [1, 2]], [[1, 2], [3, 4]])
    documents = LoDTensor.from_lengths(sentences.reshape(-1), np.full(400, 2), np.full(800, 2))
    settings = ReaderSettings(width=8, num_hidden=8, num_epochs=6, batch_size=20, dropout=0.0, rate=0.02)
    reader = Reader(5, 2, settings)
    parameters = reader.init(rng)
    glosses = Glosses(documents, swapped)
    losses = list(reader.learn(parameters, glosses, rng))
    assert losses[0] > 0.1
    assert losses[-1] < 0.05
    assert percent_named(reader, parameters, glosses) == 100
    assert 40 < percent_named(reader, parameters, Glosses(documents, rng.integers(0, 2, 400))) < 60


@pytest.mark.not_on_reference
def test_it_learns_topics_of_glosses():
    glosses = load()
    chosen, of_test = (slice(None, None, step) for step in (6, 3))
    train = Glosses(glosses.train.documents[chosen], glosses.train.topics[chosen])
    judged = Glosses(glosses.test.documents[of_test], glosses.test.topics[of_test])
    settings = ReaderSettings(width=32, num_hidden=32, num_epochs=3, batch_size=64, dropout=0.2, rate=0.01)
    reader = Reader(len(glosses.words), len(glosses.topics), settings)
    rng = np.random.default_rng(0)
    parameters = reader.init(rng)
    before = percent_named(reader, parameters, judged)
    losses = list(reader.learn(parameters, train, rng))
    commonest = 100 * np.mean(judged.topics == np.bincount(train.topics).argmax())
    found = percent_named(reader, parameters, judged)
    assert before < 15
    assert losses == sorted(losses, reverse=True)
    assert commonest + 10 < found < 90


def test_read_drops_glosses_shorter_than_the_minimum_of_sentences(tmp_path):
    line = "{:08d} {:02d} n 01 word 0 001 @ 00001740 n 0000 | {}  \n"
    path = tmp_path / "data.noun"
    path.write_text(
        "  1 a licence\n" + line.format(1, 5, "one sentence") + line.format(2, 6, 'a thing; "it is"'), encoding="utf-8"
    )
    assert [document.topic for document in make.read(path)] == [6]
    assert [document.sentences for document in make.read(path, 1)] == [
        [["one", "sentence"]],
        [["a", "thing"], ["it", "is"]],
    ]


def test_dropout_is_for_training_only():
    reader, parameters = drawn(ReaderSettings(width=4, num_hidden=3, dropout=0.5))
    plain = reader.logits(parameters, DOCUMENTS)
    np.testing.assert_array_equal(plain, reader.logits(parameters, DOCUMENTS))
    dropped = reader.logits(parameters, DOCUMENTS, np.random.default_rng(0))
    assert np.abs(dropped - plain).max() > 1e-3
    assert isinstance(reader.words, nn.GRU)
