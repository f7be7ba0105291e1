"""The commands that run Ray Data, Dask and Spark, with one worker and three: the same bits, and progress is shown."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from asv_benchmarks.engines import pipeline
from tests.helpers.engines import corpus
from tests.helpers.libraries import MARKS, imported

for name in ("ray", "ray.data", "dask.dataframe", "distributed", "pyspark"):
    imported(name)
pytestmark = MARKS

ROOT = Path(__file__).parents[2]
#: On a busy machine, Ray takes longer to start than it waits for itself and for its workers.
PATIENT = {"RAY_raylet_start_wait_time_s": "600", "RAY_worker_register_timeout_seconds": "600"}
#: Where there is no terminal, Ray writes lines of a log; its old versions write their bars.
SHOWN = {"ray": r"Total Progress: \d|100%\|", "dask": r"100% Completed", "spark": r"\[Stage \d+:"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus of two files, and its bins as computed by one process without an engine."""
    where = tmp_path_factory.mktemp("engines")
    directory, vocabulary = corpus(where / "corpus", 1_200_000, 700_000)
    pipeline.run_alone(pipeline.list_units(directory), where / "bins", pipeline.PackUnits(vocabulary))
    return directory, pipeline.read_bins(where / "bins"), pipeline.checksum(where / "bins")


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("engine", ["ray", "dask", "spark"])
def test_any_number_of_workers_gives_the_same_bits_and_shows_progress(made, engine, workers, tmp_path):
    directory, want, checksum = made
    importlib.import_module({"ray": "ray", "dask": "distributed", "spark": "pyspark"}[engine])
    output = tmp_path / "out"
    command = [sys.executable, "-m", f"asv_benchmarks.engines.with_{engine}", directory, output]
    options = ["--workers", str(workers), "--units-per-task", "1"]
    run = subprocess.run([*command, *options], capture_output=True, text=True, cwd=ROOT, env=os.environ | PATIENT)
    assert run.returncode == 0, run.stderr
    assert pipeline.read_bins(output).equals(want)
    assert f"rows/s with {workers} workers" in run.stdout
    assert str(checksum) in run.stdout
    assert re.search(SHOWN[engine], run.stdout + run.stderr)
