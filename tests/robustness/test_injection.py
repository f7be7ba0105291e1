"""`tests.robustness.injection` and `liars`, for a short time; `make hunt` runs them for longer."""

import subprocess
import sys

import pytest

from tests.helpers.processes import environment
from tests.robustness.injection import LEAST
from tests.robustness.programs import ROOT

pytestmark = pytest.mark.not_on_reference


def machine(log, *options, module="injection"):
    """Run one of them in a separate process; the last line of its log identifies the cause of a crash."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", f"tests.robustness.{module}", "--log", str(log), *options],
        cwd=ROOT,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    last = log.read_text(encoding="utf-8").strip() if log.exists() else ""
    assert done.returncode == 0, f"exit {done.returncode} in {last}\n{done.stdout[-500:]}\n{done.stderr[-4000:]}"
    return done.stdout


def test_everything_changes_while_calls_run(tmp_path):
    """It takes the two seconds that it is given, or more on a busy machine; `make hunt` gives more."""
    printed = machine(tmp_path / "log", "--seconds", "2", "--seed", "0")
    assert "lives" in printed
    assert "all operators in all ways" in printed
    assert int(printed.split()[0]) >= LEAST


def test_calls_with_arbitrary_objects_do_not_crash(tmp_path):
    printed = machine(tmp_path / "log", "--seconds", "1", "--seed", "0", module="liars")
    assert "lives" in printed
    assert int(printed.split()[0]) >= LEAST


def test_an_error_while_something_is_recorded_leaves_everything_usable():
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.recordings", "--every", "19"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 200
    assert "nothing is half done" in done.stdout
