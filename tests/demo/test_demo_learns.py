"""The act of the demo that trains by gradients: its numbers on tiny data, its accuracy, and its output."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import LoDTensor, demo
from lodcore.demo.page import Glyphs, matrix_picture, progress_bar
from lodcore.demo.vowels import learning, picture
from lodcore.demo.vowels.data import Recordings, load
from lodcore.demo.vowels.learning import print_progress, train_network
from lodcore.demo.vowels.network import SETTINGS, Epoch, Network, Scale, confusion_matrix, percent_right
from tests.helpers.pages import check_page

SMALL = replace(SETTINGS, num_hidden=8, num_epochs=12, batch_size=4)
LENGTHS = [3, 1, 4, 2, 2, 5, 1, 3]


def signs(num_recordings=8):
    """Make recordings where the numbers of the first speaker are positive, and those of the second one negative."""
    lengths = np.resize(LENGTHS, num_recordings)
    speakers = np.arange(num_recordings) % 2
    sizes = 0.5 + np.random.default_rng(0).random((lengths.sum(), 3))
    sign = np.repeat(1 - 2 * speakers, lengths)[:, np.newaxis]
    return Recordings(LoDTensor.from_lengths(sign * sizes, lengths), speakers)


def test_scaled_coefficients_are_zero_and_one_on_average():
    frames = load()[0].frames
    for whitening in (0.0, 0.5, 1.0):
        scaled = Scale.of(frames, whitening).apply(frames)
        assert scaled.dtype == np.float32
        assert scaled.lod is frames.lod
        np.testing.assert_allclose(scaled.values.mean(axis=0), 0, atol=1e-5)
        np.testing.assert_allclose(scaled.values.var(axis=0).mean(), 1, rtol=1e-4)
    np.testing.assert_allclose(scaled.values.std(axis=0), 1, rtol=1e-4)  # whitened by the deviation of all


def test_logits_equal_those_of_a_loop_over_frames_in_both_directions():
    network = Network(3, SMALL, np.random.default_rng(0))
    recordings = signs()
    frames = recordings.frames.with_values(recordings.frames.values.astype(np.float32))
    cell, of = network.reader.layer.cell, network.parameters
    expected = []
    for rows in frames:
        ends = []
        for way, steps in (("forward", rows), ("backward", rows[::-1])):
            state = np.zeros((1, 8), np.float32)
            prepared = cell.prepare(of["reader"][way])
            for row in steps:
                _, state = cell(prepared, row[np.newaxis], state)
            ends.append(state[0])
        expected.append(np.concatenate(ends) @ of["speaker"]["weight"] + of["speaker"]["bias"])
    np.testing.assert_allclose(network.logits(of, frames), expected, rtol=1e-4, atol=1e-5)


def test_frames_of_a_recording_share_a_shift():
    frames = LoDTensor.from_lengths(np.zeros((12, 3), np.float32), [5, 0, 7])
    for settings in (replace(SMALL, noise=0.0), replace(SMALL, shift=0.0), replace(SMALL, noise=0.0, shift=0.0)):
        heard = Network(3, settings, np.random.default_rng(1)).heard(frames)
        assert heard.lod == frames.lod
        spread = [np.ptp(rows, axis=0).max() if len(rows) else 0.0 for rows in heard]
        assert (max(spread) > 0) == (settings.noise > 0)
        assert heard.values.any() == (settings.noise > 0 or settings.shift > 0)
    many = LoDTensor.from_lengths(np.zeros((4000, 3), np.float32), [1] * 4000)
    heard = Network(3, replace(SMALL, noise=0.3, shift=0.4), np.random.default_rng(1)).heard(many)
    assert 0.49 < heard.values.std() < 0.51


def test_small_network_learns_signs_with_smoothed_labels():
    recordings = signs(24)
    scaled = recordings._replace(frames=recordings.frames.with_values(recordings.frames.values.astype(np.float32)))
    network = Network(3, SMALL, np.random.default_rng(0))
    before = percent_right(network.name_speakers(scaled.frames), scaled.speakers)
    epochs = list(network.learn(scaled))
    assert len(epochs) == 12
    assert before < 80
    assert percent_right(network.name_speakers(scaled.frames), scaled.speakers) == 100
    assert epochs[-1].loss < 0.8 * epochs[0].loss
    assert epochs[-1].loss > 0.3  # label smoothing keeps it from zero
    coin = scaled._replace(speakers=np.random.default_rng(3).integers(0, 2, 24))
    doubtful = Network(3, replace(SMALL, num_epochs=4), np.random.default_rng(0))
    list(doubtful.learn(coin))
    fresh = signs(200)
    frames = fresh.frames.with_values(fresh.frames.values.astype(np.float32))
    found = percent_right(doubtful.name_speakers(frames), np.random.default_rng(4).integers(0, 2, 200))
    assert 30 < found < 70


def test_the_first_loss_is_that_of_names_by_chance():
    recordings = signs()
    frames = recordings.frames.with_values(recordings.frames.values.astype(np.float32))
    network = Network(3, replace(SMALL, dropout=0.0), np.random.default_rng(0))
    network.parameters = lodcore.tree_map(np.zeros_like, network.parameters)
    loss, logits = network.loss(network.parameters, frames, recordings.speakers)
    np.testing.assert_allclose(loss, np.log(9), rtol=1e-6)
    assert not np.any(logits)


def test_a_seed_settles_everything():
    recordings = signs()
    frames = recordings.frames.with_values(recordings.frames.values.astype(np.float32))
    found = []
    for _ in range(2):
        network = Network(3, SMALL, np.random.default_rng(5))
        found.append((list(network.learn(recordings._replace(frames=frames))), network.parameters))
    assert found[0][0] == found[1][0]
    for one, other in zip(*[lodcore.tree_leaves(parameters) for _, parameters in found], strict=True):
        np.testing.assert_array_equal(one, other)


def test_confusions_are_counted():
    speakers, named = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 0, 2])
    found = confusion_matrix(named, speakers, 3)
    assert found.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 2]]
    assert percent_right(named, speakers) == pytest.approx(100 * 4 / 6)
    lines = matrix_picture(found, Glyphs())
    assert [line.split() for line in lines] == [
        ["1", "2", "3"],
        ["1", "1", "1", "."],
        ["2", ".", "1", "."],
        ["3", "1", ".", "2"],
    ]
    assert len(set(map(len, lines))) == 1
    assert max(map(len, matrix_picture(np.full((9, 9), 12345), Glyphs()))) <= 78


def test_progress_rewrites_one_line_or_prints_a_few(capsys):
    epochs = [Epoch(1.0 / k, 10.0 * k) for k in range(1, 9)]
    for k in range(1, 9):
        print_progress(3, epochs[:k], 8, Glyphs(), writes_anew=True)
    anew = capsys.readouterr().out
    assert anew.count("\r") == 8
    assert anew.count("\n") == 1
    assert anew.endswith("[####################] epoch   8 of 8   loss 0.125   learnt  80.0 %\n")
    for k in range(1, 9):
        print_progress(3, epochs[:k], 8, Glyphs(), writes_anew=False)
    lines = capsys.readouterr().out.splitlines()
    assert [int(re.search(r"epoch +(\d+)", line).group(1)) for line in lines] == [2, 4, 6, 8]
    assert [progress_bar(k, 4, 4, Glyphs()) for k in (0, 1, 4)] == ["[....]", "[#...]", "[####]"]


@pytest.mark.not_on_reference
def test_the_demo_learns_to_tell_the_speakers_apart(capsys):
    assert demo.main(["--only", "vowels", "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    right = int(re.search(r"seed 0 +(\d+) of 370 right", printed).group(1))
    assert 361 <= right <= 369  # 97.6 .. 99.7 %
    learnt = [float(percent) for percent in re.findall(r"learnt +([\d.]+) %", printed)]
    assert len(learnt) == 4
    assert min(learnt) > 90
    matrix = [line.split() for line in printed.partition("Who is taken")[2].splitlines() if re.match(r" +\d ", line)]
    counts = np.array([[int(count) if count.isdigit() else 0 for count in row[1:10]] for row in matrix[1:10]])
    assert counts.sum(axis=1).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    assert np.trace(counts) == right
    assert "reservoir" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    check_page(printed, Path(__file__).parent / "pages" / "vowels.txt")


@pytest.mark.not_on_reference
def test_training_with_shuffled_labels_has_the_accuracy_of_chance(capsys):
    train, test = load()
    shuffled = train._replace(speakers=np.random.default_rng(0).permutation(train.speakers))
    found = train_network(shuffled, test, replace(SETTINGS, num_epochs=3), 0, Glyphs())
    assert found.accuracy < 35
    assert found.confusions.sum() == 370
    capsys.readouterr()


def test_plot_without_matplotlib_fails_before_training(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(learning, "play", lambda *_: pytest.fail("it has begun"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert demo.main(["--plot", str(tmp_path / "picture.png")]) == 1
    shown = capsys.readouterr()
    assert 'pip install "lodcore[plots]"' in shown.err
    assert "matplotlib" in shown.err
    assert not shown.out
    assert not list(tmp_path.iterdir())


class NoFigure:
    """A replacement for a figure of matplotlib, with its formats only."""

    class canvas:
        @staticmethod
        def get_supported_filetypes():
            return {"png": "", "svg": ""}


@pytest.mark.parametrize(
    ("name", "says"), [("x.doc", "ends with .doc; one of png, svg"), ("no/x.png", "a folder that does not exist")]
)
def test_a_file_that_cannot_be_written_is_refused_at_once(name, says, monkeypatch, capsys, tmp_path):
    class Library:
        Figure = NoFigure

    monkeypatch.setattr(picture, "library", lambda *_: Library)
    monkeypatch.setattr(learning, "play", lambda *_: pytest.fail("it has begun"))
    assert demo.main(["--plot", str(tmp_path / name)]) == 1
    error = capsys.readouterr().err
    assert says in error
    assert error.startswith(f"lodcore demo: --plot: {tmp_path / name}: ")
