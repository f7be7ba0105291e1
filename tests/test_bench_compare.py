"""The comparison of two commits: what it calls slower, and what it prints."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "asv_benchmarks" / "compare.py"


@pytest.fixture(scope="module")
def compare():
    if not PATH.exists():
        pytest.skip("the benchmarks are not in the sdist")
    spec = importlib.util.spec_from_file_location("compare", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_row_is_suspect_if_its_median_is_above_the_limit(compare):
    found = {"slow": [1.3, 1.4, 1.2], "one bad turn": [1.0, 9.0, 1.0], "at the limit": [1.25], "fast": [0.5, 0.6]}
    assert compare.suspects(found, 1.25) == ["slow"]


def test_the_report_has_medians_quartiles_and_the_mean_of_all(compare, capsys):
    compare.report({"gather": [2.0, 2.0, 2.0], "same": [1.0, 1.0], "pool": [0.5, 0.5, 0.5]}, 1.25, False)
    assert capsys.readouterr().out.splitlines() == [
        "   2.00  (2.00 .. 2.00)  gather",
        "   0.50  (0.50 .. 0.50)  pool",
        "3 rows; geometric mean of new / old: 1.000",
    ]


class Scripted:
    """A side with given times per call; a string is an error, False a row without a call."""

    def __init__(self, times):
        self.times, self.now = times, None

    def ask(self, row=None, seconds=None):
        if row is not None:
            self.now = self.times[row[1][0]]
            return self.now if isinstance(self.now, (str, bool)) else True
        return self.now

    def end(self):
        self.times = None


def test_compare_omits_rows_of_one_side_and_names_new_failures(compare, monkeypatch):
    sides = {
        "old": Scripted({"a": 1.0, "b": "no such name", "c": 2.0, "d": False}),
        "new": Scripted({"a": 3.0, "b": 1.0, "c": "TypeError: c", "d": False}),
    }
    monkeypatch.setattr(compare, "Side", sides.get)
    found, broken = compare.compared(["old", "new"], [("small", [name]) for name in "abcd"], 3, 0.01)
    assert found == {"small: a": [3.0, 3.0, 3.0]}
    assert broken == {"small: c": "TypeError: c"}
    assert sides["old"].times is sides["new"].times is None  # both processes have been ended
