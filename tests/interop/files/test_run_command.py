"""The commands that show and run a Program of a file."""

import numpy as np
import pytest

import lodcore
from lodcore import ops
from lodcore.__main__ import main
from lodcore.graph import Program, append_backward, data, parameter
from lodcore.interop.files import run_command


@pytest.fixture
def file(tmp_path):
    """A Program in a file, which multiplies sequences by a number."""
    with Program() as program:
        x, n = data("x", (None,), "float64", num_levels=1), data("n", (), "float64")
        y = lodcore.mul(x * parameter(2.0, "w"), n, name="y")
        lodcore.mul(lodcore.ops.sum(y), 1.0, name="total")
    name = str(tmp_path / "program.npz")
    lodcore.save(name, program)
    lodcore.save(str(tmp_path / "batch.npz"), {"x": lodcore.array([[1.0], [2.0, 3.0], []]), "other": 1})
    return name


def test_inspect_shows_a_program(file, capsys):
    assert main(["inspect", file]) == 0
    said = capsys.readouterr().out
    assert "    data x: float64 (.,), 1 level\n" in said
    assert "    y = mul(x=mul, y=n)" in said


def test_run_shows_results_or_writes_them(file, tmp_path, capsys):
    feed = ["--feed", f"x={tmp_path / 'batch.npz'}", "--feed", "n=3"]
    assert main(["run", file, *feed, "--fetch", "y", "--fetch", "total"]) == 0
    assert capsys.readouterr().out == (
        "y: LoDTensor(3 sequences of lengths 0..2, float64: [[6.], [12., 18.], []])\ntotal: np.float64(36.0)\n"
    )
    output = str(tmp_path / "result.npz")
    assert main(["run", file, *feed, "--fetch", "y", "--output", output, "--batch", "2"]) == 0
    assert lodcore.load(output)["y"].tolist() == [[6.0], [12.0, 18.0], []]
    assert main(["run", file, *feed, "--fetch", "total", "--output", output, "--batch", "1", "--quiet"]) == 0
    assert np.array_equal(lodcore.load(output)["total"], [6.0, 30.0, 0.0])


def test_run_command_joins_the_results_of_batches_and_prints_progress(tmp_path, capsys, monkeypatch):
    with Program() as program:
        x, table = data("x", (None,), "float64", num_levels=1), parameter(np.ones(4), "table")
        rows = lodcore.lookup_table(table, ops.cast(x, "int64"), name="rows")
        lodcore.sequence_pool(rows, "sum", name="sums")
        append_backward(ops.sum(rows))
    file, feed = str(tmp_path / "program.npz"), ["--feed", "x=[[1.0], [2.0, 3.0], []]"]
    lodcore.save(file, program)
    monkeypatch.setattr(run_command, "SECONDS", 0.0)
    assert main(["run", file, *feed, "--fetch", "sums", "--fetch", "rows", "--batch", "2"]) == 0
    said = capsys.readouterr()
    assert said.out == (
        "sums: array([1., 2., 0.])\nrows: LoDTensor(3 sequences of lengths 0..2, float64: [[1.], [1., 1.], []])\n"
    )
    assert said.err == "2 of 3\n3 of 3\n"
    assert main(["run", file, *feed, "--fetch", "table@GRAD", "--batch", "2", "--quiet"]) == 1
    says = "--batch: the result table@GRAD is a SparseTensor, and those of several batches cannot be joined"
    assert capsys.readouterr().err == f"lodcore run: {file}: {says}\n"


CALLS = [
    (["--fetch", "y"], "Executor.run: feed: x: float64 (.,), 1 level is not fed"),
    (["--feed", "x=[[1.0]]", "--feed", "n=1", "--fetch", "z"], "fetch: z: the Program has no such Variable"),
    (
        ["--feed", "x=nowhere.npz"],
        "--feed: x: nowhere.npz: there is no such file, and it is neither a number nor a list",
    ),
    (["--feed", "x"], "--feed: is 'x'; NAME=FILE is needed"),
    (["--batch", "0"], "--batch: is 0; a number of 1 or more is needed"),
    (["--output", "y.npz"], "--fetch: is missing; `lodcore inspect` shows the names of results"),
    ([], "--fetch: is missing; `lodcore inspect` shows the names of results"),
    (
        ["--feed", "x=[1.0]", "--fetch", "y"],
        "Executor.run: feed: x: obj: entry 0 is float; each entry must be a sequence, as in [[1, 2], [3]]",
    ),
    (["--program", "p"], "--program: is p; the file has none"),
]


def test_run_command_with_wrong_arguments_prints_one_line(file, capsys):
    for arguments, says in CALLS:
        assert main(["run", file, *arguments]) == 1
        assert capsys.readouterr().err == f"lodcore run: {file}: {says}\n".replace(
            ": fetch: z", ": Executor.run: fetch: z"
        )
