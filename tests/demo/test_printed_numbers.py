"""The numbers that the demo prints, on tiny data with known answers."""

import itertools
import re

import numpy as np
import pytest

import lodcore
from lodcore.demo import glosses
from lodcore.demo.glosses import agreement, network, padded
from lodcore.demo.glosses.data import Collection, Glosses
from lodcore.demo.page import (
    Glyphs,
    bar,
    describe,
    matrix_picture,
    nested_padding_picture,
    padding_picture,
    progress_bar,
)
from lodcore.demo.vowels import listening, page, reservoir
from lodcore.demo.vowels import network as vowels
from lodcore.demo.vowels.data import Recordings

PLAIN = Glyphs()


# -- the page ------------------------------------------------------------------------------------------------------


def test_pictures_whose_parts_are_uneven():
    blocks = Glyphs.for_encoding("utf-8")
    assert [progress_bar(done, 3, 4, PLAIN) for done in range(4)] == ["[....]", "[#...]", "[##..]", "[####]"]
    assert matrix_picture(np.array([[0, 5], [12345, 1]]), PLAIN) == [
        "         1     2",
        "  1      .     5",
        "  2  12345     1",
    ]
    assert matrix_picture(np.array([[1000]]), PLAIN) == ["        1", "  1  1000"]
    assert nested_padding_picture([[1], [2, 1, 3], []], PLAIN) == ["#.. ... ...", "##. #.. ###", "... ... ..."]
    halves = {0: "", 0.2: "", 0.3: "h", 0.8: "ss", 1.0: "ss", 1.3: "ssh", 1.7: "ssh", 1.8: "ssss"}
    assert {n: bar(n, blocks) for n in halves} == {
        n: wanted.replace("ss", blocks.solid).replace("h", blocks.half) for n, wanted in halves.items()
    }
    assert [describe(share, 7)[:6] for share in (99.9, 100 * 4 / 7, 100 / 3)] == ["7 of 7", "4 of 7", "2 of 7"]
    assert [Glyphs.for_encoding(name) for name in ("no such one", None, "ascii", "latin-1")] == [PLAIN] * 4
    assert Glyphs.for_encoding("cp437") == blocks != PLAIN


# -- the first act -------------------------------------------------------------------------------------------------


class ByLength:
    """A replacement for network and readout: the speaker of a recording is its length."""

    @classmethod
    def draw(cls, x, settings, seed):
        return cls()

    @classmethod
    def fit(cls, features, speakers, ridge):
        assert features.shape == (4, 1)
        return cls()

    def features(self, x):
        return x.lengths[:, None]

    def predict(self, features):
        return features[:, 0]


def recordings(lengths, speakers):
    return Recordings(lodcore.LoDTensor.from_lengths(np.ones((sum(lengths), 2)), lengths), np.array(speakers))


TRAIN = recordings([1, 2, 3, 4], [1, 2, 3, 4])  # all are correct
TEST = recordings([1, 2, 3, 4, 5], [1, 2, 9, 9, 9])  # two of five are correct


def test_accuracy_of_listening_is_measured_on_the_test_data(monkeypatch):
    monkeypatch.setattr(listening, "Network", ByLength)
    monkeypatch.setattr(listening, "Readout", ByLength)
    accuracy, rate, seconds = listening.measure_network(TRAIN, TEST, 0)
    assert accuracy == 40.0
    assert 0 < 25 / rate < seconds  # 10 and 15 frames


def test_measure_baseline_uses_the_test_set_only(monkeypatch):
    monkeypatch.setattr(listening, "Readout", ByLength)
    monkeypatch.setattr(listening, "mean_and_deviation", lambda x: x.lengths[:, None])
    assert listening.measure_baseline(TRAIN, TEST) == 40.0


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_share_of_right_answers(share):
    right = np.array([1, 2, 9, 9, 9])
    said = np.where(np.arange(5) < 5 * share, right, right + 1)
    assert listening.percent_right(said, TEST) == 100 * share
    assert describe(100 * share, 5) == f"{5 * share:.0f} of 5 right   {100 * share:5.2f} %"


def test_mean_and_deviation_of_each_recording():
    x = lodcore.LoDTensor.from_lengths([[1.0, 10.0], [3.0, 10.0], [5.0, 0.0]], [2, 1])
    np.testing.assert_array_equal(reservoir.mean_and_deviation(x), [[2, 10, 1, 0], [5, 0, 0, 0]])


@pytest.mark.parametrize(("is_backward", "final"), [(False, [5.0, 7.0]), (True, [1.0, 7.0])])
def test_the_final_state_is_where_the_reading_ends(is_backward, final):
    states = lodcore.LoDTensor.from_lengths(np.array([[1.0], [9.0], [5.0], [7.0]], np.float32), [3, 1])
    wanted = np.column_stack([[5.0, 7.0], [9.0, 7.0], [1.0, 7.0], final])  # mean, largest, smallest, final
    np.testing.assert_array_equal(reservoir.pool_states(states, is_backward), wanted)


def test_features_are_those_of_both_directions():
    """Read forwards, the last state is that of the last frame; read backwards, that of the first one."""
    settings = reservoir.Settings(num_units=3)
    x = lodcore.LoDTensor.from_lengths(np.random.default_rng(0).standard_normal((7, 2)), [4, 1, 2])
    made = reservoir.Network.draw(x, settings, 0)
    np.testing.assert_allclose(made.center, x.values.mean(0))
    np.testing.assert_allclose(made.scale, x.values.std(0) ** settings.whitening)
    found = made.features(x).reshape(3, 2, 4, 3)
    scaled = lodcore.LoDTensor(((x.values - made.center) / made.scale).astype(np.float32), x.lod)
    for side, states in enumerate([made.forward.run_forward(scaled), made.backward.run_backward(scaled)]):
        for recording, features in zip(states, found[:, side], strict=True):
            final = recording[0 if side else -1]
            wanted = [recording.mean(0), recording.max(0), recording.min(0), final]
            np.testing.assert_allclose(features, wanted, rtol=1e-5, atol=1e-6)


def test_the_readout_is_a_ridge_regression():
    random = np.random.default_rng(1)
    features, speakers = random.standard_normal((12, 3)), np.arange(12) % 9
    ridge = 0.5
    made = reservoir.Readout.fit(features, speakers, ridge)
    np.testing.assert_allclose(made.center, features.mean(0))
    np.testing.assert_allclose(made.scale, features.std(0) + 1e-8)
    standard = (features - features.mean(0)) / features.std(0)
    targets = np.eye(9)[speakers]
    penalty = ridge * np.square(standard).sum() / 12
    wanted = np.linalg.solve(standard.T @ standard + penalty * np.eye(3), standard.T @ (targets - targets.mean(0)))
    np.testing.assert_allclose(made.weight, wanted, rtol=1e-6)
    np.testing.assert_allclose(made.bias, targets.mean(0))
    scores = standard @ wanted + targets.mean(0)
    np.testing.assert_array_equal(made.predict(features), scores.argmax(1))


def test_the_mean_of_the_seeds_is_printed_and_compared(capsys):
    page.print_mistakes([90.0, 95.0, 100.0], {"mean and deviation only": 80.0}, PLAIN)
    printed = capsys.readouterr().out
    assert "Average of the networks: 95.00 % right, from 90.00 to 100.00, deviation 4.08." in printed
    assert re.search(rf"^  these networks +5\.0 %  {'#' * 25}$", printed, re.MULTILINE)
    assert re.search(rf"^  mean and deviation only +20\.0 %  {'#' * 100}$", printed, re.MULTILINE)
    assert re.search(r"^  5-state hidden Markov model \* +3\.8 %  #{19}$", printed, re.MULTILINE)


def test_print_padding_counts_frames_and_numbers(capsys):
    page.print_padding(TRAIN, TEST, PLAIN)
    printed = capsys.readouterr().out
    assert re.search(r"two padded batches +41 frames +492 numbers +1\.64 x", printed)  # 4 * 4 + 5 * 5
    assert re.search(r"as they are +25 frames +300 numbers +1\.00 x", printed)
    assert padding_picture(np.array([1, 4, 2]), 2, 1, PLAIN) == [" 4 ####", " 1 #..."]
    assert bar(2.6, PLAIN) == "###"


@pytest.mark.parametrize(
    ("lengths", "wanted"),
    [
        ([1, 2, 3, 4, 5, 6], {1: [6], 2: [6, 1], 3: [6, 4, 1], 4: [6, 4, 3, 1], 5: [6, 5, 4, 2, 1]}),
        ([9, 7, 8], {2: [9, 7], 3: [9, 8, 7], 4: [9, 8, 8, 7], 5: [9, 9, 8, 7, 7]}),
        ([3, 1, 3, 2, 9], {2: [9, 1], 3: [9, 3, 1], 4: [9, 3, 2, 1], 5: [9, 3, 3, 2, 1]}),
    ],
)
def test_lines_are_of_the_ranks_nearest_to_even_spacing(lengths, wanted):
    for num_bars, drawn in wanted.items():
        lines = padding_picture(np.array(lengths), num_bars, 2, PLAIN)
        longest = max(lengths)
        assert lines == [f" {n} {'##' * n}{'..' * (longest - n)}" for n in drawn]


def test_the_first_act_prints_every_seed_and_their_mean(monkeypatch, capsys):
    accuracies = iter([50.0, 100.0])
    monkeypatch.setattr(listening, "load", lambda: (TRAIN, TEST))
    monkeypatch.setattr(listening, "measure_baseline", lambda train, test: 20.0)
    measured = lambda train, test, seed: (next(accuracies), 10.0 * (seed + 1), 1.0)  # noqa: E731
    monkeypatch.setattr(listening, "measure_network", measured)
    listening.play(PLAIN, 2)
    printed = capsys.readouterr().out
    assert "9 recordings of 1 to 5 frames" in printed
    assert "Learn from 4; say who speaks in the other 5." in printed
    assert "no recurrence   1 of 5 right   20.00 %" in printed
    assert "Average of the networks: 75.00 % right, from 50.00 to 100.00" in printed
    assert "  15 frames per second" in printed  # the median


def test_the_loss_of_an_epoch_is_the_mean_over_recordings_in_batches_of_any_size():
    settings = vowels.Settings(
        num_hidden=2, num_epochs=2, batch_size=2, rate=0.0, weight_decay=0.0, dropout=0.0, noise=0.0, shift=0.0
    )
    random = np.random.default_rng(0)
    frames = lodcore.LoDTensor.from_lengths(random.standard_normal((9, 2)).astype("f4"), [1, 3, 2, 1, 2])
    speakers = np.array([8, 0, 3, 3, 1])
    made = vowels.Network(2, settings, random)
    loss, logits = made.loss(made.parameters, frames, speakers)
    right = 100 * np.mean(np.argmax(logits, axis=1) == speakers)
    for epoch in made.learn(Recordings(frames, speakers)):  # nothing is learnt at a rate of zero
        assert epoch == (pytest.approx(float(loss), rel=1e-5), pytest.approx(right))


# -- the second act ------------------------------------------------------------------------------------------------


def tiny():
    """Four documents for training, two for testing, one of which is about the commonest topic."""
    train = Glosses(lodcore.array([[[1], [1]], [[1]], [[2]], [[1, 2]]]), np.array([1, 1, 0, 1]))
    test = Glosses(lodcore.array([[[1]], [[2]], [[2, 2, 2], [1]]]), np.array([1, 0, 1]))
    return Collection(train, train, test, ["_", "one", "two"], ["even", "odd"])


def test_baselines_of_few_documents():
    found = glosses.measure_baselines(tiny())
    assert list(found) == ["always odd", "naive Bayes, no sentences"]
    assert found["always odd"] == pytest.approx(200 / 3)
    assert found["naive Bayes, no sentences"] == pytest.approx(200 / 3)  # the third has words of the second


def test_accuracy_of_the_network_is_measured_on_the_test_data(monkeypatch, capsys):
    data = tiny()

    def learn(parameters, part, settings, generator):
        assert part is data.train
        yield from (0.75, 0.5)

    def scores(parameters, documents):
        assert documents is data.test.documents
        return np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])  # the first is correct

    monkeypatch.setattr(network, "learn", learn)
    monkeypatch.setattr(network, "scores", scores)
    _, accuracy, rate = glosses.measure_network(data, 0)
    assert accuracy == pytest.approx(100 / 3)
    assert rate > 0
    assert re.search(r"seed 0   loss 0\.75 0\.50 +1 of 3 right +33\.33 %", capsys.readouterr().out)


def test_the_second_act_prints_the_mean(capsys):
    glosses.print_comparison([60.0, 70.0, 80.0], {"always odd": 10.0, "naive Bayes": 50.0}, PLAIN)
    printed = capsys.readouterr().out
    assert "Average of the networks: 70.00 % right, from 60.00 to 80.00, deviation 8.16." in printed
    for name, share, length in (
        ("these networks", "30.0", 12),
        ("naive Bayes", "50.0", 20),
        ("always odd", "90.0", 36),
    ):
        assert re.search(rf"^  {name} +{share} %  {'#' * length}$", printed, re.MULTILINE)


def test_the_greatest_difference_is_found():
    assert agreement.farthest([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.5], [1.0, 4.0]]) == 2.0
    assert agreement.farthest(1.0, -3.0) == 4.0


def parameters(data):
    random = np.random.default_rng(2)
    drawn = network.draw(3, 2, network.Settings(width=4), random)
    return {name: random.standard_normal(x.shape) for name, x in drawn.items()}


@pytest.mark.parametrize("part", ["scores", "loss", "gradients"])
def test_each_difference_is_that_of_its_part(part, monkeypatch):
    """An error that is planted in one document is printed with its size."""
    data = tiny()
    assert max(agreement.differences(parameters(data), data.test).values()) < 1e-12
    read, add = agreement.by_hand.read, agreement.by_hand.add_gradients
    met = []

    def wrong_read(numbers, sentences):
        made = read(numbers, sentences)
        met.append(len(met))
        scores = list(made.scores)
        scores[0] += 0.25 * (part == "scores" and met[-1] == 1)
        return made._replace(scores=scores)

    def wrong_gradients(numbers, sentences, topic, derivatives):
        loss = add(numbers, sentences, topic, derivatives)
        derivatives["bias"][1] += 0.75 * (part == "gradients")
        return loss + 0.5 * (part == "loss")

    monkeypatch.setattr(agreement.by_hand, "add_gradients", wrong_gradients)
    if part == "scores":
        monkeypatch.setattr(agreement.by_hand, "add_gradients", lambda *given: 0.0)
        monkeypatch.setattr(agreement.by_hand, "read", wrong_read)
    found = agreement.differences(parameters(data), data.test)
    wanted = {"scores": 0.25, "loss": 0.5, "gradients": 0.75}[part]
    assert found[part] == pytest.approx(wanted)


def test_padding_is_counted_and_compared(monkeypatch):
    data = tiny()
    found = agreement.measure_padding(parameters(data), data.test, 3, 0)
    assert (found.num_words, found.num_padded) == (6, 18)  # 3 documents of up to 2 sentences of up to 3 words
    assert found.difference < 1e-12
    assert 0 < found.seconds < 5
    assert 0 < found.seconds_padded < 5
    plain = padded.scores
    monkeypatch.setattr(padded, "scores", lambda *given: plain(*given) + np.array([[0.0, 0.0], [0.0, 0.5], [0.0, 0.0]]))
    assert agreement.measure_padding(parameters(data), data.test, 3, 0).difference == pytest.approx(0.5)
    for wrong in range(3):  # in one of three batches
        calls = itertools.count()
        monkeypatch.setattr(padded, "scores", lambda *given: plain(*given) + 0.5 * (next(calls) % 3 == wrong))  # noqa: B023
        assert agreement.measure_padding(parameters(data), data.test, 1, 0).difference == pytest.approx(0.5)


def test_topics_and_words_that_do_not_occur_are_counted():
    with np.errstate(divide="ignore"):
        made = network.NaiveBayes.fit(tiny().train, 4, 3, 0.5)
    np.testing.assert_allclose(np.exp(made.topics), [1, 3, 0])
    counts = np.array([[0, 0, 0], [0, 4, 0], [1, 1, 0], [0, 0, 0]]) + 0.5
    np.testing.assert_allclose(np.exp(made.words), counts / counts.sum(axis=0))


def test_the_smaller_documents_are_drawn():
    documents = lodcore.array([[[1] * 18], [[1], [2]], [[1]] * 5, [[1] * 17, [1]], [[1] * 3]])
    data = Glosses(documents, np.zeros(5, np.int64))
    assert glosses.small_documents(data) == [[17, 1], [1, 1], [3]]
