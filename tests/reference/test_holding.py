"""Other implementations, held against the cases: in Python by `hold`, in any language by a file of results."""

import json
import math
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reference import read_cases
from reference.read_cases import agree, hold, judge, read, read_results, summary
from reference.write_cases import draw_cases, write
from tests.helpers.processes import compiler
from tests.helpers.run_cases import run

ROOT = Path(__file__).resolve().parents[2]
COMPILER = compiler()

pytestmark = pytest.mark.not_on_reference


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the same cases in both forms."""
    made = tmp_path_factory.mktemp("cases")
    found = draw_cases(count=8, names=["sequence_pool", "sequence_reverse"])
    write(made / "cases.npz", found)
    write(made / "cases.jsonl", found)
    return made


def arrays_of(thing):
    if isinstance(thing, dict):
        return [a for one in thing.values() for a in arrays_of(one)]
    if isinstance(thing, list):
        return [a for one in thing for a in arrays_of(one)]
    return [thing] if isinstance(thing, np.ndarray) else []


def test_json_lines_and_archive_hold_the_same_cases(folder):
    lines, archive = read(folder / "cases.jsonl"), read(folder / "cases.npz")
    assert [line.pop("case") for line in lines] == list(range(len(archive)))
    for line, case in zip(lines, archive, strict=True):
        assert agree(line, case, 0.0)
        assert [a.dtype for a in arrays_of(line["arguments"])] == [a.dtype for a in arrays_of(case["arguments"])]
    for text in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        assert "NaN" not in text
        assert "Infinity" not in text


def test_numbers_that_json_has_not_are_strings():
    values = np.array([[2**63 - 1, -(2**63)], [2**53 + 1, 7]])
    text = read_cases.as_text({"kind": "dense", "dtype": "int64", "values": values})
    assert text["values"] == ["9223372036854775807", "-9223372036854775808", "9007199254740993", 7]
    np.testing.assert_array_equal(read_cases.from_text(text)["values"], values)
    real = read_cases.as_text({"kind": "dense", "dtype": "float64", "values": np.array([np.nan, -np.inf, 0.1])})
    assert real["values"] == ["nan", "-inf", 0.1]


def test_hold_goes_on_after_failures_and_prints_all(folder, capsys):
    def partly(operator, arguments, cotangents):
        if arguments.get("level", -1) == 0:
            raise NotImplementedError("the first level")
        if arguments.get("pool_type") == "max":
            raise OverflowError("too much")
        results, gradients = run(operator, arguments, cotangents)
        if operator == "sequence_reverse":
            return results * 2, gradients
        return results, NotImplemented

    hold(folder / "cases.npz", run)
    assert re.search(r"in all +\d\d +0 +0 +0 +0\n", capsys.readouterr().out)
    with pytest.raises(AssertionError) as caught:
        hold(folder / "cases.npz", partly)
    text = str(caught.value)
    assert re.search(r"of \d+ cases are not as expected\noperator +right +wrong +refused +crashed +skipped\n", text)
    assert re.search(r"\nsequence_pool +[1-9]\d* +0 +[1-9]\d* +0 +[1-9]\d*\n", text)
    assert re.search(r"\nsequence_reverse +0 +[1-9]\d* +0 +0 +[1-9]\d*\n", text)
    assert re.search(r"case \d+, sequence_pool: refused: OverflowError: too much\n    x = ", text)
    assert re.search(r"case \d+, sequence_reverse: wrong: results\n(    \w+ = .*\n)+    expected .*\n    not ", text)
    with pytest.raises(AssertionError) as caught:
        hold(folder / "cases.npz", partly, skip=["sequence_reverse"])
    assert "sequence_reverse: wrong" not in str(caught.value)


def test_judge_compares_gradients_if_there_are_any(folder):
    case = next(case for case in read(folder / "cases.npz") if case["gradients"]["x"] is not None)
    results, gradients = run(case["operator"], case["arguments"], case["cotangents"])
    assert judge(case, {"results": results, "gradients": gradients}) == ("right", "")
    assert judge(case, {"results": results}) == ("right", "")
    assert judge(case, {"results": results, "gradients": None}) == ("wrong", "gradients")
    assert judge(case, {}) == ("wrong", "results")
    assert judge(case, {"skipped": "never mind"}) == ("skipped", "never mind")
    assert judge(case, None) == ("crashed", "no answer")


def test_judge_of_results_in_another_form_is_wrong(folder):
    case = read(folder / "cases.npz")[0]
    for other in (None, 3, [], [7], [{}], [{"kind": "dense"}], [{"values": "text"}], {"x": 1}):
        assert judge(case, {"results": other, "gradients": other})[0] == "wrong"
        assert "expected" in summary([case], [{"results": other}])[0]


def test_the_smallest_case_of_a_failure_is_shown(folder):
    cases = [case for case in read(folder / "cases.npz") if case["operator"] == "sequence_reverse"]
    text, failed = summary(cases, [{"refused": "no"}] * len(cases))
    smallest = min(range(len(cases)), key=lambda number: read_cases.size(cases[number]))
    assert failed == len(cases)
    assert re.findall(r"case (\d+), sequence_reverse: refused: no", text) == [str(smallest)]


def test_results_of_a_killed_program_end_at_the_last_whole_line(tmp_path):
    path = tmp_path / "results.jsonl"
    lines = [{"format": "lodcore results 1"}, {"case": 0, "refused": "no"}, {"case": 1, "skipped": ""}]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + '{"case": 2, "resu', encoding="utf-8")
    assert read_results(path, 4) == [{"refused": "no"}, {"skipped": ""}, None, None]


@pytest.mark.skipif(not COMPILER, reason="no C compiler")
def test_a_program_in_c_is_held_away_from_the_repository(folder, tmp_path):
    """The example of the page, with the reader alone: neither lodcore nor `reference` can be imported there."""
    program, reader = tmp_path / "reverse", tmp_path / "read_cases.py"
    shutil.copy(ROOT / "reference/read_cases.py", reader)
    subprocess.run([*COMPILER, "-O1", "-o", program, ROOT / "docs/reverse.c"], check=True)
    subprocess.run([program, folder / "cases.jsonl", tmp_path / "results.jsonl"], check=True)
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.append({np.__path__[0][:-5]!r})\n"]
    command[-1] += "for name in ('lodcore', 'reference', 'tests'): sys.modules[name] = None\n"
    command[-1] += f"import runpy; runpy.run_path({str(reader)!r}, run_name='__main__')"
    for cases in ("cases.npz", "cases.jsonl"):
        arguments = [str(folder / cases), str(tmp_path / "results.jsonl")]
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert re.search(r"sequence_reverse +\d+ +0 +0 +0 +0\n", done.stdout), done.stdout
        assert re.search(r"sequence_pool +0 +0 +0 +0 +\d+\n", done.stdout), done.stdout
    results = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    (tmp_path / "results.jsonl").write_text(results.replace('"kind": "ragged"', '"kind": "dense"'), encoding="utf-8")
    done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"\d+ of \d+ cases are not as expected", done.stderr)


def test_release_contains_cases_reader_and_page(tmp_path):
    """The cases in both forms, the reader and the page, in one file."""
    path = tmp_path / "lodcore-cases.zip"
    command = [sys.executable, "-m", "reference", "release", str(path), "--count=1", "--operator=sequence_mask"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "there")
        assert sorted(Path(name).name for name in archive.namelist()) == [
            "cases.jsonl",
            "cases.npz",
            "conformance-suite.md",
            "read_cases.py",
            "reverse.c",
        ]
    assert math.prod(case["operator"] == "sequence_mask" for case in read(tmp_path / "there/lodcore-cases/cases.npz"))
