"""python -m lodcore."""

import os
import subprocess
import sys

import numpy as np
import pytest

import lodcore
from lodcore import __main__, demo
from lodcore.__main__ import main
from tests.helpers.processes import environment

X = lodcore.array([[[1.5, 2.5], []], [[3.5] * 5, [4.5] * 9, [5.5] * 40]])


@pytest.fixture
def saved(tmp_path):
    """Save arrays to a file, and return its name."""

    def save(name="batch.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return str(tmp_path / name)

    return save


def saved_like(x):
    return {"values": x.values} | {f"offsets_{k}": x.lod.offsets(k) for k in range(x.num_levels)}


def test_inspect_shows_structure_lengths_and_cost(saved, capsys):
    assert main(["inspect", saved(**saved_like(X))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == repr(X)
    assert lines[1] == "shape (2, None, None), float64, 56 rows, 448 bytes"
    assert lines[3:5] == [
        "level 0: 2 sequences, lengths in sequences of level 1",
        "  min 2, median 2.5, mean 2.5, 99 % up to 3, max 3, 0 empty",
    ]
    assert [line.split() for line in lines[5:7]] == [["2", "|" + 40 * "#", "1"], ["3", "|" + 40 * "#", "1"]]
    assert lines[8:10] == [
        "level 1: 5 sequences, lengths in rows",
        "  min 0, median 5, mean 11.2, 99 % up to 40, max 40, 1 empty",
    ]
    assert [line.split("|")[0].strip() for line in lines[10:21:10]] == ["0 ..  3", "40 .. 40"]
    assert [int(line.split()[-1]) for line in lines[10:21]] == [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert lines[-1] == "padded: 240 rows, 1,920 bytes: 4.29 times as many, 77 % of them padding"


@pytest.mark.parametrize(
    ("x", "last"),
    [
        (lodcore.array([]), "padded: 0 rows; there are none"),
        (lodcore.array([[], []]), "padded: 0 rows; there are none"),
        (lodcore.LoDTensor(np.arange(3), lodcore.LoD.from_offsets(num_rows=3)), "shape (3,), int64, 3 rows, 24 bytes"),
        (lodcore.array([[1], [2]]), "padded: 2 rows, 16 bytes: 1.00 times as many, 0 % of them padding"),
    ],
)
def test_inspect_of_batches_without_padding(x, last, saved, capsys):
    assert main(["inspect", saved(**saved_like(x))]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == last


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"values": [1, 2, 3], "offsets_0": [0, 2, 1]}, "offsets[0]: falls at position 2"),
        ({"values": [1, 2, 3], "offsets_1": [0, 3]}, "holds values, offsets_1; values, offsets_0 is needed"),
        ({"offsets_0": [0, 3]}, "values"),
        ({"values": np.array([{}]), "offsets_0": [0, 1]}, "Python objects are not read"),
        ({"values": [1.5], "offsets_0": [0.0, 1.0]}, "has dtype float64; integers are needed"),
    ],
)
def test_inspect_of_invalid_arrays_names_the_defect(arrays, says, saved, capsys):
    assert main(["inspect", saved(**arrays)]) == 1
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.startswith("lodcore inspect: ")
    assert says in shown.err


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip file", b"\x80\x04N.", b"\x93NUMPY\x01\x00\x00\x00"])
def test_inspect_of_a_file_that_is_no_archive_names_it(content, tmp_path, capsys):
    path = tmp_path / "file.npz"
    path.write_bytes(content)
    assert main(["inspect", str(path)]) == 1
    assert str(path) in capsys.readouterr().err


def test_inspect_refuses_a_single_array_and_a_missing_file(tmp_path, capsys):
    np.save(tmp_path / "one.npy", np.arange(3))
    assert main(["inspect", str(tmp_path / "one.npy")]) == 1
    assert "is one array" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path / "none.npz")]) == 1
    assert capsys.readouterr().err.endswith("none.npz: No such file or directory\n")


@pytest.mark.not_on_reference
def test_bench_prints_a_table(monkeypatch, capsys):
    monkeypatch.setattr(__main__, "SECONDS", 0)
    assert main(["bench"]) == 0
    table = capsys.readouterr().out.split("NumPy / lodcore\n")[1]
    rows = [line.split() for line in table.splitlines()]
    assert len(rows) == 7
    assert all(float(number) >= 0 for row in rows for number in row[-4:])  # rounded


def test_demo_runs_the_demo(monkeypatch):
    calls = []
    monkeypatch.setattr(demo, "main", lambda argv: calls.append(argv) or 3)
    assert main(["demo"]) == 3
    assert main(["demo", "--help", "--seeds=1"]) == 3
    assert calls == [[], ["--help", "--seeds=1"]]


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 2), (["inspect"], 2), (["unknown"], 2), (["bench", "-x"], 2), (["--version"], 0)]
)
def test_wrong_and_help_arguments_print_usage_and_set_the_exit_code(arguments, code, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == code
    assert "lodcore" in "".join(capsys.readouterr())


@pytest.mark.not_on_reference
def test_python_m_lodcore_ends_with_the_exit_code_of_the_command(tmp_path):
    command = [sys.executable, "-m", "lodcore", "inspect", str(tmp_path / "none.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lodcore inspect: ")


def test_help_is_one_line_about_the_package_and_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "padded. options:" in shown
    assert all(f" {command} " in shown for command in ["demo", "inspect", "pack", "bench", "pronounce"])


def test_a_reader_of_the_demo_may_stop_early():
    command = [sys.executable, "-m", "lodcore", "demo", "--only", "glosses", "--seeds", "1"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "\n"
        process.stdout.close()
        assert process.stderr.read() == "lodcore demo: the output was closed before all was written\n"
        assert process.wait() == 1


@pytest.mark.parametrize("closed", [["stdout"], ["stderr"], ["stdout", "stderr"]])
def test_commands_run_with_closed_output_streams(closed, saved, monkeypatch):
    """A process that is started with closed streams has None for them."""
    for arguments, code in [
        (["inspect", saved(**saved_like(X))], 0),
        (["inspect", "nothing-here.npz"], 1),
        (["pronounce", "b"], 0),
    ]:
        with monkeypatch.context() as patch:
            for name in closed:
                patch.setattr(sys, name, None)
            assert main(arguments) == code
            for name in closed:
                getattr(sys, name).close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", [["inspect", "FILE"], ["pronounce", "b"], ["--help"]])
def test_commands_that_write_to_a_full_device_print_one_line(arguments, saved, monkeypatch, capsys):
    path = saved(**saved_like(X))
    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main([path if one == "FILE" else one for one in arguments]) == 1
    assert capsys.readouterr().err == f"lodcore {arguments[0]}: [Errno 28] No space left on device\n"


def test_inspect_names_the_file_once(tmp_path, capsys):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\3\4 no zip file")
    assert main(["inspect", str(path)]) == 1
    assert capsys.readouterr().err.count(str(path)) == 1


@pytest.mark.parametrize("command", ["bench", "inspect x"])
def test_unknown_arguments_are_refused(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), "--fast", "more"])
    assert caught.value.code == 2
    assert "unrecognized arguments: --fast more" in capsys.readouterr().err
