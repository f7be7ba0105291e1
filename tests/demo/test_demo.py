"""The recordings of the demo, the reservoir compared with a plain loop over recordings, and the output of the act."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lodcore
from lodcore import demo
from lodcore.demo import glosses
from lodcore.demo.page import Glyphs, bar, nested_padding_picture, padding_picture
from lodcore.demo.vowels import page as vowels
from lodcore.demo.vowels.data import load
from lodcore.demo.vowels.reservoir import SETTINGS, Reservoir
from tests.helpers.pages import check_page


def test_the_recordings_are_those_of_the_source():
    train, test = load()
    assert (len(train.speakers), len(test.speakers)) == (270, 370)
    lengths = np.concatenate([train.frames.lengths, test.frames.lengths])
    assert (lengths.min(), lengths.max()) == (7, 29)
    assert train.frames.shape == (270, None, 12)
    assert np.bincount(train.speakers).tolist() == [30] * 9
    assert np.bincount(test.speakers).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]


def test_the_network_is_a_loop_over_the_frames_of_each_recording():
    x = load()[0].frames[:6]
    settings = replace(SETTINGS, num_units=5)
    reservoir = Reservoir.draw(12, settings, np.random.default_rng(0))
    for backward, states in ((False, reservoir.run_forward(x)), (True, reservoir.run_backward(x))):
        assert states.lod == x.lod
        for frames, found in zip(x, states, strict=True):
            state = np.zeros((1, 5), np.float32)
            expected = []
            for frame in frames[::-1] if backward else frames:
                state = reservoir.advance(frame[np.newaxis] @ reservoir.input_weight + reservoir.bias, state)
                expected.append(state[0])
            np.testing.assert_allclose(found, expected[::-1] if backward else expected, rtol=1e-4, atol=1e-5)


@pytest.mark.not_on_reference
def test_the_reservoir_tells_the_speakers_apart(capsys):
    assert demo.main(["--reservoir", "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "glosses" not in printed
    seed, right = re.search(r"seed 0 +(\d+) of 370 right +([\d.]+) %", printed).groups()
    assert 363 <= int(seed) <= 369
    assert float(right) == round(100 * int(seed) / 370, 2)
    assert "no recurrence   361 of 370 right" in printed
    assert max(map(len, printed.splitlines())) <= 80
    check_page(printed, Path(__file__).parent / "pages" / "reservoir.txt")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", None])
def test_pictures_fit_the_encoding(encoding):
    glyphs = Glyphs.for_encoding(encoding)
    lines = [*padding_picture(lodcore.array([[0.0], [0.0] * 4]).lengths, 2, 2, glyphs), bar(7.5, glyphs)]
    lines += nested_padding_picture([[2, 1], [3]], glyphs)
    assert "".join(lines).encode(encoding or "ascii")
    assert len(lines) == 5


def test_demo_refuses_an_unknown_act(capsys):
    with pytest.raises(SystemExit):
        demo.main(["--only", "consonants"])
    assert "choose from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], [("vowels", 5), ("glosses", 5)]),
        (["--seeds", "0"], [("vowels", 1), ("glosses", 1)]),
        (["--seeds", "3", "--only", "vowels"], [("vowels", 3)]),
        (["--only", "glosses", "--seeds", "-2"], [("glosses", 1)]),
        (["--reservoir"], [("reservoir", 5)]),
        (["--reservoir", "--only", "vowels", "--seeds", "2"], [("reservoir", 2)]),
    ],
)
def test_options_choose_acts_and_the_number_of_networks(arguments, wanted, monkeypatch):
    played = []
    for name, act in (("vowels", demo.learning), ("glosses", demo.glosses), ("reservoir", demo.listening)):
        monkeypatch.setattr(act, "play", lambda glyphs, count, name=name: played.append((name, count)))
    assert demo.main(arguments) == 0
    assert played == wanted


@pytest.mark.parametrize(("page", "others"), [(glosses, {"naive": 75.0, "always": 2.5}), (vowels, {"mean": 97.0})])
def test_an_average_is_that_of_all_networks(page, others, capsys):
    (page.print_mistakes if page is vowels else page.print_comparison)([50.0, 62.5], others, Glyphs())
    printed = capsys.readouterr().out
    assert "Average of the networks: 56.25 % right, from 50.00 to 62.50, deviation 6.25." in printed
    assert re.search(r"^  these networks +43\.8 % ", printed, re.MULTILINE)
    for name, accuracy in others.items():
        assert re.search(rf"^  {name} +{100 - accuracy:.1f} %  #+", printed, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--reservoir", "--only", "glosses"],
        ["--plot", "x.png", "--reservoir"],
        ["--plot", "x.png", "--only", "glosses"],
    ],
)
def test_options_that_exclude_each_other_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        demo.main(arguments)
    assert "leave out" in capsys.readouterr().err
