"""Ray Data, Dask and Spark with one worker and with three: the bits of one process, and the same as with two."""

import importlib

import pytest

from asv_benchmarks.engines import pipeline
from tests.helpers.engines import corpus, start_patiently
from tests.helpers.libraries import MARKS, imported

for name in ("ray", "ray.data", "dask.dataframe", "distributed", "pyspark"):
    imported(name)
pytestmark = MARKS


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus of two files, its vocabulary, and its bins as one process without an engine makes them."""
    where = tmp_path_factory.mktemp("engines")
    directory, vocabulary = corpus(where / "corpus", 1_200_000, 700_000)
    units = pipeline.list_units(directory)
    pipeline.run_alone(units, where / "bins", pipeline.PackUnits(vocabulary))
    return units, vocabulary, pipeline.read_bins(where / "bins"), pipeline.checksum(where / "bins")


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", ["ray", "dask", "spark"])
def test_any_number_of_workers_gives_the_same_bits(made, name, workers, tmp_path):
    units, vocabulary, want, checksum = made
    engine = importlib.import_module(f"asv_benchmarks.engines.with_{name}")
    stop = start_patiently(engine, workers)
    try:
        engine.run(units, tmp_path / "out", pipeline.PackUnits(vocabulary), 2, workers)
    finally:
        stop()
    assert pipeline.read_bins(tmp_path / "out").equals(want)
    assert pipeline.checksum(tmp_path / "out") == checksum
