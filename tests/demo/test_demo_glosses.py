"""The second act of the demo: its data, its network compared with plain loops and padded arrays, and its output."""

import hashlib
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import demo
from lodcore.demo.glosses import make, network, padded
from lodcore.demo.glosses.agreement import differences, measure_padding
from lodcore.demo.glosses.data import Glosses, load
from lodcore.demo.glosses.network import SETTINGS, Adagrad, NaiveBayes
from tests.helpers.pages import check_page

FOLDER = files("lodcore.demo.glosses")
SMALL = replace(SETTINGS, width=5, batch_size=32)
LINE = "{:08d} {:02d} n 01 word 0 001 @ 00001740 n 0000 | {}  \n"


@pytest.fixture(scope="module")
def glosses():
    return load()


def first(glosses, count):
    return Glosses(glosses.documents[:count], glosses.topics[:count])


def some_parameters(glosses, dtype=np.float64):
    """Draw parameters, none of which is zero."""
    generator = np.random.default_rng(7)
    drawn = network.draw(len(glosses.words), len(glosses.topics), SMALL, generator)
    return {name: generator.standard_normal(values.shape).astype(dtype) for name, values in drawn.items()}


# -- data ----------------------------------------------------------------------------------------------------------


def test_the_glosses_are_those_of_the_source(glosses):
    content = (FOLDER / "wordnet_glosses.npz").read_bytes()
    assert hashlib.sha256(content).hexdigest() == "f88ba26ea46a2b7b0e24f7527dde4451d4ab8f36ec7862084685cdc898f2659c"
    assert len(content) < 900_000
    parts = (glosses.train, glosses.dev, glosses.test)
    assert [len(part.documents) for part in parts] == [len(part.topics) for part in parts] == [27296, 643, 3151]
    for part in parts:
        assert part.documents.num_levels == 2
        assert part.documents.lod.lengths(0).min() == 2
        assert part.documents.lod.lengths(1).min() == 1
        assert part.documents.values.max() < len(glosses.words)
        assert set(part.topics.tolist()) <= set(range(len(glosses.topics)))
    counts = np.bincount(glosses.train.documents.values, minlength=len(glosses.words))[1:]
    assert counts.min() == 2
    assert (np.diff(counts) <= 0).all()
    assert len(set(glosses.words)) == len(glosses.words) == 19301


def test_the_folder_of_glosses_has_their_licence_and_attribution():
    licence = (FOLDER / "LICENSE-WordNet.txt").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in licence
    assert "appear on ALL copies of the software, database and\ndocumentation" in licence
    assert "LICENSE-WordNet.txt" in (FOLDER / "ATTRIBUTION.md").read_text(encoding="utf-8")


@pytest.mark.not_on_reference
def test_the_file_is_made_of_the_data_files(tmp_path, monkeypatch, capsys):
    glosses = [(5, 'small cat;; "Cats, 2 cats; don\'t!"'), (5, "a cat; a cat"), (4, "only one sentence; ?!")]
    text = "".join(LINE.format(number, *gloss) for number, gloss in enumerate(glosses))
    (tmp_path / "data.noun").write_text("  1 This software; is | free; of charge  \n" + text, encoding="utf-8")
    (tmp_path / "data.verb").write_text(LINE.format(9, 38, "go far; go"), encoding="utf-8")
    monkeypatch.setattr(make, "part_of", lambda document: "test" if document.topic == 38 else "train")
    assert make.main([str(tmp_path), str(tmp_path / "made.npz")]) == 0
    assert "3 documents" in capsys.readouterr().out
    with np.load(tmp_path / "made.npz") as file:
        arrays = dict(file)
    assert arrays["words"].tobytes().decode().split("\n") == ["_", "cat", "a", "cats"]
    assert arrays["topics"].tobytes().decode().split("\n") == ["noun.animal", "verb.motion"]
    assert arrays["train_words"].tolist() == [0, 1, 3, 0, 3, 0, 2, 1, 2, 1]
    assert arrays["train_words_a_sentence"].tolist() == [2, 3, 1, 2, 2]
    assert arrays["train_sentences_a_document"].tolist() == [3, 2]
    assert [arrays[f"{part}_topics"].tolist() for part in make.PARTS] == [[0, 0], [], [1]]
    assert arrays["test_words"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("number", "part"), [(9, "test"), (10, "dev"), (11, "dev"), (12, "train"), (99, "train")])
def test_a_digest_says_what_a_gloss_is_for(number, part):
    words = (str(i) for i in range(10_000))
    word = next(w for w in words if int(hashlib.md5(f"a b ; {w}".encode()).hexdigest(), 16) % 100 == number)
    assert make.part_of(make.Document(3, [["a", "b"], [word]])) == part


# -- network -------------------------------------------------------------------------------------------------------


def test_the_network_is_a_loop_over_the_words_of_each_document(glosses):
    found = differences(some_parameters(glosses), first(glosses.test, 5))
    assert max(found.values()) < 1e-12
    assert list(found) == ["scores", "loss", "gradients"]


def test_padded_documents_have_the_same_scores(glosses):
    documents = first(glosses.test, 40)
    found = measure_padding(some_parameters(glosses), documents, 16, 0)
    assert found.difference < 1e-12
    assert found.num_words == documents.documents.num_rows < found.num_padded


def test_documents_are_padded_on_both_levels(glosses):
    x = glosses.test.documents[:3]
    expected = np.full((3, max(x.lengths), max(x.lod.lengths(1))), -1)
    for d, document in enumerate(x.tolist()):
        for s, sentence in enumerate(document):
            expected[d, s, : len(sentence)] = sentence
    np.testing.assert_array_equal(padded.pad(x, -1), expected)


def test_weights_of_a_document_sum_to_one(glosses):
    documents = glosses.test.documents[:9]
    sentences, weights = network.read(some_parameters(glosses), documents)
    assert sentences.lod == weights.lod == lodcore.LoD.from_lengths(documents.lengths)
    np.testing.assert_allclose(lodcore.sequence_pool(weights, "sum"), 1)


def test_a_sparse_step_is_a_dense_step(glosses):
    parameters = some_parameters(glosses, np.float32)
    before = {name: values.copy() for name, values in parameters.items()}
    other = {name: values.copy() for name, values in parameters.items()}
    batch = first(glosses.train, 20)
    _, gradients = lodcore.value_and_grad(network.loss)(parameters, *batch)
    assert isinstance(gradients["table"], lodcore.SparseTensor)
    Adagrad(parameters, 0.1).step(gradients)
    Adagrad(other, 0.1).step({**gradients, "table": gradients["table"].to_dense()})
    for name in parameters:
        np.testing.assert_array_equal(parameters[name], other[name])
        assert (parameters[name] != before[name]).any()
    touched = (parameters["table"] != before["table"]).any(axis=1)
    assert set(np.flatnonzero(touched)) <= set(batch.documents.values.tolist())


@pytest.mark.not_on_reference
def test_a_seed_decides_everything_and_the_loss_falls(glosses):
    part = first(glosses.train, 400)
    found = []
    for _ in range(2):
        generator = np.random.default_rng(3)
        parameters = network.draw(len(glosses.words), len(glosses.topics), SMALL, generator)
        found.append((parameters, list(network.learn(parameters, part, SMALL, generator))))
    (parameters, losses), (again, _) = found
    assert losses[1] < 0.8 * losses[0]
    for name, values in parameters.items():
        np.testing.assert_array_equal(values, again[name])


def test_naive_bayes_counts_words():
    documents = lodcore.array([[[1, 1], [2]], [[2], [2, 0]]])
    counts = NaiveBayes.fit(Glosses(documents, np.array([0, 1])), 3, 2, 1.0)
    share = np.array([[1, 2], [3, 1], [2, 3]]) / 6
    np.testing.assert_allclose(np.exp(counts.words), share)
    np.testing.assert_allclose(counts.scores(lodcore.array([[[0], [1]]])), [np.log(share[0] * share[1])])


@pytest.mark.not_on_reference
def test_the_demo_finds_topics(capsys):
    assert demo.main(["--only", "glosses", "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    right, percent = re.search(r"seed 0 .* (\d+) of 3151 right +([\d.]+) %", printed).groups()
    assert 2040 < int(right) < 2160
    assert float(percent) == round(100 * int(right) / 3151, 2)
    assert re.search(r"always noun.plant +249 of 3151 right", printed)
    assert re.search(r"naive Bayes, no sentences +1891 of 3151 right", printed)
    derivatives = re.search(r"gradients +differ by at most ([\de.-]+)", printed).group(1)
    assert float(derivatives) < 1e-6
    assert "speakers" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    check_page(printed, Path(__file__).parent / "pages" / "glosses.txt")
