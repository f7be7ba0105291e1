"""The judge: its page follows from the committed results, every difference is explained, and a process may end."""

import ast
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from asv_benchmarks.judge import explained, page, run
from reference import read_cases
from reference.cases import OPERATORS
from reference.write_cases import draw_cases, write

ROOT = Path(__file__).resolve().parents[2]
JUDGE = ROOT / "asv_benchmarks/judge"
ADAPTERS = sorted(JUDGE.glob("on_*.py"))
KEPT = page.load()["implementations"]

pytestmark = pytest.mark.not_on_reference

FAKE = """
import os, signal
from forms import ragged, unable

VERSION = "1"


def reverse(arguments, cotangents):
    x = arguments["x"]
    if len(x["lod"]) == 1:
        return [ragged(x["values"], *x["lod"])], NotImplemented
    if len(x["lod"]) == 2:
        raise KeyError("two levels")
    if len(x["lod"]) == 3:
        unable("three levels")
    os.kill(os.getpid(), signal.SIGSEGV)


def mask(arguments, cotangents):
    os._exit(3)


OPERATORS = {"sequence_reverse": reverse, "sequence_mask": mask}
"""


def test_page_of_the_judge_equals_its_results():
    """After a change of the texts: python asv_benchmarks/judge/run.py --page."""
    assert (ROOT / "docs/judge.md").read_text(encoding="utf-8") == page.text()


def test_every_difference_is_explained_and_every_explanation_is_needed():
    used = {explained.explanation(name, found) for name, one in KEPT.items() for found in one["differences"]}
    assert [reason.title for reason in used if reason.kind == "open"] == []
    assert [reason.title for reason in explained.REASONS if reason not in used] == []
    assert {reason.kind for reason in used} <= set(explained.KINDS)


def test_each_library_has_its_adapter_its_environment_and_its_words():
    names = {path.stem.removeprefix("on_") for path in ADAPTERS}
    assert names == set(run.ENVIRONMENTS) == set(explained.TITLES) == set(KEPT)
    assert names - {"lodcore"} == set(explained.WORDS)


def test_counts_add_up():
    cases = page.load()["cases"]
    for name, one in KEPT.items():
        assert {operator: sum(found.values()) for operator, found in one["counts"].items()}.items() <= cases.items()
        counted = sum((Counter(found) for found in one["counts"].values()), Counter())
        listed = Counter()
        for found in one["differences"]:
            listed[found["verdict"]] += found["count"]
        assert listed == {verdict: counted[verdict] for verdict in page.VERDICTS[1:] if counted[verdict]}, name
    assert {verdict for found in KEPT["lodcore"]["counts"].values() for verdict in found} == {"right"}


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.stem)
def test_an_adapter_names_operators_of_the_cases(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
    keys = {key.value for table in tables for key in table.keys if isinstance(key, ast.Constant)}
    answered = set(KEPT[path.stem.removeprefix("on_")]["counts"])
    assert answered <= set(OPERATORS)
    listed = {name for name in ast.walk(tree) if isinstance(name, ast.Constant)}
    assert path.stem == "on_lodcore" or answered <= keys | {one.value for one in listed}


@pytest.mark.parametrize(
    "path",
    [
        JUDGE / "worker.py",
        JUDGE / "forms.py",
        JUDGE / "on_paddle.py",
        JUDGE / "paddle_programs.py",
        Path(read_cases.__file__),
    ],
)
def test_files_for_old_python_have_the_syntax_of_3_7(path):
    text = path.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 7))
    for newer in ("strict=", "removeprefix", "removesuffix", "math.prod", "missing_ok"):
        assert newer not in text


def test_the_judge_starts_a_process_that_crashed_again(tmp_path):
    """Wrong, refused, skipped and crashed, each where it belongs, and the cases after a crash are answered."""
    folder = tmp_path / "benchmarks/judge"
    folder.mkdir(parents=True)
    (tmp_path / "reference").mkdir()
    for name in ("worker.py", "forms.py"):
        shutil.copy(JUDGE / name, folder / name)
    shutil.copy(read_cases.__file__, tmp_path / "reference/read_cases.py")
    (folder / "on_fake.py").write_text(FAKE, encoding="utf-8")
    found = draw_cases(names=["sequence_mask", "sequence_reverse", "sequence_pad"])
    of_depth = {
        depth: [c for c in found if f"depth {depth}" in c.corners and c.operator == "sequence_reverse"]
        for depth in (1, 2, 3, 4)
    }
    other = {name: [case for case in found if case.operator == name][:1] for name in ("sequence_mask", "sequence_pad")}
    chosen = [
        *of_depth[4][:1],
        *other["sequence_mask"],
        *of_depth[2][:2],
        *of_depth[3][:1],
        *other["sequence_pad"],
        *of_depth[4][:1],
    ]
    write(tmp_path / "cases.npz", chosen)
    cases = read_cases.read(tmp_path / "cases.npz")
    results = tmp_path / "results.jsonl"
    assert run.answer("fake", tmp_path / "cases.npz", len(cases), results, Path(sys.executable), folder / "worker.py")
    verdicts = [
        read_cases.judge(*pair) for pair in zip(cases, read_cases.read_results(results, len(cases)), strict=True)
    ]
    assert verdicts == [
        ("crashed", "SIGSEGV"),
        ("crashed", "exit status 3"),
        ("refused", "KeyError: 'two levels'"),
        ("refused", "KeyError: 'two levels'"),
        ("skipped", "three levels"),
        ("skipped", "no such operator"),
        ("crashed", "SIGSEGV"),
    ]


def test_the_judge_leaves_out_libraries_that_cannot_be_imported(tmp_path, capsys):
    write(tmp_path / "cases.npz", draw_cases(count=1, names=["sequence_pad"]))
    assert not run.answer("nothing", tmp_path / "cases.npz", 1, tmp_path / "results.jsonl", Path(sys.executable))
    assert "nothing: left out: " in capsys.readouterr().err


def test_judge_names_the_kind_of_a_difference():
    values = read_cases.from_text(
        {"kind": "ragged", "dtype": "float64", "lod": [[0, 2]], "shape": [2], "values": [1.0, 2.0]}
    )
    case = {"results": [values], "gradients": None, "tolerance": 1e-10, "corners": []}
    for changed, what in [
        ({"dtype": "float32"}, "result: dtype"),
        ({"lod": [[0, 1, 2]]}, "result: structure"),
        ({"values": values["values"][:1]}, "result: structure"),
        ({"values": values["values"] + 1}, "result: values"),
        ({"values": values["values"] + 1e-6}, "result: precision"),
    ]:
        answer = {"results": [{**values, **changed}]}
        assert read_cases.judge(case, answer) == ("wrong", "results")
        assert page.difference(case, answer, "results") == what
