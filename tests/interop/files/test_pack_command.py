"""python -m lodcore pack: what it reads, writes, prints and refuses."""

import numpy as np
import pytest

import lodcore
from lodcore import load
from lodcore.__main__ import main
from lodcore.batching import PackPlan, pack_plan, show_bins
from tests.helpers.plans import documents_of

LENGTHS = [3, 0, 9, 5, 2, 7, 1]
X = documents_of(LENGTHS)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tokens.npz"
    np.savez(path, values=X.values, offsets_0=X.lod.offsets())
    return path


def test_pack_of_an_npz_file_saves_the_packed_tokens_beside_it(saved, capsys):
    assert main(["pack", str(saved), "--budget", "10"]) == 0
    shown = capsys.readouterr()
    plan = pack_plan(X, 10)
    assert load(str(saved.with_name("tokens.packed.npz"))).equals(plan.apply(X))
    assert str(plan.report()) in shown.out
    assert show_bins(plan) in shown.out
    for step in ("reading", "planning 7 documents, 27 tokens", "packing", "writing tokens.packed.npz"):
        assert f"{step} ..." in shown.err
    assert sorted(path.name for path in saved.parent.iterdir()) == ["tokens.npz", "tokens.packed.npz"]


@pytest.mark.parametrize("form", ["npz", "folder"])
@pytest.mark.parametrize("named", [False, True])
def test_pack_saves_the_plan_and_the_tokens_that_apply_gives(tmp_path, form, named, capsys):
    file, ending = tmp_path / "tokens", {"npz": ".npz", "folder": ".lod"}[form]
    path = file.with_suffix(ending)
    lodcore.save(str(path), {"other": 3, "ids": X, "more": X[::-1]} if named else X)
    assert main(["pack", str(path), "--budget", "9", "--quiet"]) == 0
    packed = lodcore.load(str(file.with_suffix(f".packed{ending}")))
    assert packed.equals(pack_plan(X, 9).apply(X))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["tokens" + ending, f"tokens.packed{ending}"]
    if named:
        assert (
            main(["pack", str(path), "--budget", "9", "--column", "no", "--output", str(tmp_path / f"x{ending}")]) == 1
        )
        assert "holds LoDTensors named 'ids', 'more'; 'no' is not one" in capsys.readouterr().err
        arguments = ["--column", "more", "--output", str(tmp_path / f"x{ending}")]
        assert main(["pack", str(path), "--budget", "9", *arguments]) == 0
        assert lodcore.load(str(tmp_path / f"x{ending}")).equals(pack_plan(X[::-1], 9).apply(X[::-1]))


def test_pack_of_a_folder_reads_one_document_a_file(tmp_path, capsys):
    folder = tmp_path / "tokens"
    folder.mkdir()
    for k, document in enumerate(X):
        np.save(folder / f"{k}.npy", document)
    assert main(["pack", str(folder), "--budget", "4", "--overflow", "split", "--seed", "3", "--shards", "2"]) == 0
    out = tmp_path / "tokens.packed"
    plan = PackPlan.load(out / "plan.npz")
    assert len(plan) % 2 == 0
    packed = plan.apply(X)
    bins = [np.load(path) for path in sorted(out.glob("bin_*.npy"))]
    assert [one.tolist() for one in bins] == [np.concatenate([*one, []]).tolist() for one in packed.to_arrays()]
    assert "split: 3 documents: document 2 tokens 0 .. 3" in capsys.readouterr().out


def test_a_folder_with_a_dot_in_its_name(tmp_path):
    folder = tmp_path / "my.tokens"
    folder.mkdir()
    np.save(folder / "0.npy", np.arange(3))
    assert main(["pack", str(folder), "--budget", "4", "--quiet"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my.tokens", "my.tokens.packed"]


def test_many_files_are_counted(tmp_path, capsys):
    folder = tmp_path / "many"
    folder.mkdir()
    for k in range(120):
        np.save(folder / f"{k:03d}.npy", np.arange(k % 7))
    assert main(["pack", str(folder), "--budget", "40", "--output", str(tmp_path / "counted")]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("reading: ") and "files" in line]
    assert told == [f"reading: {k} of 120 files" for k in range(12, 121, 12)]


def test_pack_with_quiet_prints_the_summary_only(saved, capsys):
    assert main(["pack", str(saved), "--budget", "10", "--quiet", "--method", "histogram", "--max-items", "2"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.startswith("7 documents, 27 tokens packed into 4 bins of 10")


def test_an_output_is_not_overwritten(saved, capsys):
    command = ["pack", str(saved), "--budget", "10", "--quiet"]
    assert main(command) == 0
    before = saved.with_name("tokens.packed.npz").read_bytes()
    assert main([*command, "--multiple-of", "7"]) == 1
    assert saved.with_name("tokens.packed.npz").read_bytes() == before
    assert "exists already" in capsys.readouterr().err
    assert main([*command, "--multiple-of", "7", "--force"]) == 0
    assert len(load(str(saved.with_name("tokens.packed.npz")))) == 7


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("none.npz", [], "No such file"),
        ("tokens.npz", ["--budget", "4"], "is 9 at document 2 and 2 others are longer; budget is 4"),
        ("tokens.npz", ["--budget", "0"], "budget: is 0"),
        ("tokens.npz", ["--output", "x.parquet"], "has the ending '.parquet'"),
        ("deep.npz", [], "has 2 levels"),
        ("flat.npz", [], "holds values; values, offsets_0 and so on are needed"),
        ("one.npy", [], "has the ending '.npy'"),
        ("empty", [], "holds no .npy files"),
        ("scalars", [], "0.npy: holds a single number"),
    ],
)
def test_errors_of_the_pack_command_are_one_line(name, arguments, says, saved, capsys):
    here = saved.parent
    deep = lodcore.array([[[1], [2]]])
    np.savez(here / "deep.npz", values=deep.values, offsets_0=deep.lod.offsets(0), offsets_1=deep.lod.offsets(1))
    np.savez(here / "flat.npz", values=np.arange(3))
    np.save(here / "one.npy", np.arange(3))
    (here / "empty").mkdir()
    (here / "scalars").mkdir()
    np.save(here / "scalars" / "0.npy", np.array(3))
    before = sorted(here.iterdir())
    assert (
        main(["pack", str(here / name), *(arguments if "--budget" in arguments else ["--budget", "10", *arguments])])
        == 1
    )
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[-1].startswith("lodcore pack: ")
    assert says in shown.err
    assert sorted(here.iterdir()) == before


def test_pack_without_a_budget_or_with_wrong_options_ends_with_exit_code_2(saved):
    with pytest.raises(SystemExit) as caught:
        main(["pack", str(saved)])
    assert caught.value.code == 2


# -- pictures


def test_every_option_is_that_of_the_plan(tmp_path, capsys):
    lengths = [3, 9, 1, 5, 2, 7, 1, 1]
    x = lodcore.LoDTensor.from_lengths(np.arange(29), lengths)
    lodcore.save(tmp_path / "x.npz", x)
    for options, named in (
        (["--max-items", "2"], {"max_items": 2}),
        (["--multiple-of", "3"], {"multiple_of": 3}),
        (["--shards", "3"], {"shards": 3}),
        (["--seed", "0"], {"seed": 0}),
        (["--seed", "5", "--method", "first_fit"], {"seed": 5, "method": "first_fit"}),
        (["--overflow", "truncate", "--budget", "6"], {"overflow": "truncate", "budget": 6}),
        (["--overflow", "own_bin", "--budget", "6"], {"overflow": "own_bin", "budget": 6}),
        (["--overflow", "split", "--budget", "6"], {"overflow": "split", "budget": 6}),
        (["--overflow", "drop", "--budget", "6"], {"overflow": "drop", "budget": 6}),
    ):
        assert main(["pack", str(tmp_path / "x.npz"), "--budget", "9", "--quiet", "--force", *options]) == 0
        plan = pack_plan(lengths, **{"budget": 9} | named)
        assert lodcore.load(tmp_path / "x.packed.npz").equals(plan.apply(x))
    (tmp_path / "folder.npz").mkdir()
    arguments = ["pack", str(tmp_path / "x.npz"), "--budget", "9", "--force", "--output"]
    for output, says in (
        ("y.npy", "has the ending '.npy'"),
        ("y", "has the ending ''"),
        ("y.lod", "has the ending '.lod'"),
        ("folder.npz", "exists already; choose another one"),
    ):
        before = capsys.readouterr() and sorted(tmp_path.iterdir())
        assert main([*arguments, str(tmp_path / output)]) == 1
        assert says in capsys.readouterr().err
        assert sorted(tmp_path.iterdir()) == before
    lodcore.save(tmp_path / "deep.npz", plan.apply(x))
    assert main(["pack", str(tmp_path / "deep.npz"), "--budget", "9"]) == 1
