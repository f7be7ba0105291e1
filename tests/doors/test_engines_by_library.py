"""Ray Data, Dask and Spark, each with two workers on this machine: the same bits as one process, whatever happens."""

import functools
import importlib
import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import lodcore
from asv_benchmarks.engines import pipeline
from lodcore.interop import arrow_batches
from tests.helpers.engines import GROUP, corpus, noted, start_patiently, watched
from tests.helpers.libraries import MARKS, imported
from tests.helpers.pages import code_of

LIBRARIES = {
    name: imported(name) for name in ("ray", "ray.data", "dask", "dask.dataframe", "distributed", "pyspark.sql")
}
pytestmark = MARKS

WORKERS = 2
SPARK_ROWS = "text string, path string, row bigint, tokens array<int>, is_kept boolean"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A corpus of two files, its vocabulary, and its bins as computed by one process without an engine."""
    where = tmp_path_factory.mktemp("engines")
    directory, vocabulary = corpus(where / "corpus", 1_200_000, 700_000)
    units = pipeline.list_units(directory)
    pipeline.run_alone(units, where / "bins", pipeline.PackUnits(vocabulary))
    return units, vocabulary, pipeline.read_bins(where / "bins")


@pytest.fixture(scope="module", params=["ray", "dask", "spark"])
def engine(request):
    """An engine with two workers, whose processes can import the tests."""
    engine = importlib.import_module(f"asv_benchmarks.engines.with_{request.param}")
    stop = start_patiently(engine, WORKERS)
    yield engine
    stop()


def packed(vocabulary, notes, **named):
    """Make the function that is passed to engines, with records of its calls."""
    notes.mkdir(exist_ok=True)
    return pipeline.PackUnits(vocabulary, function=functools.partial(watched, notes=str(notes), **named))


@pytest.mark.parametrize("units_per_task", [1, 3, 1000])
def test_any_cut_gives_the_same_bits(made, engine, tmp_path, units_per_task):
    units, vocabulary, want = made
    engine.run(units, tmp_path / "out", pipeline.PackUnits(vocabulary), units_per_task, WORKERS)
    assert pipeline.read_bins(tmp_path / "out").equals(want)


def test_units_in_another_order_give_the_same_bits(made, engine, tmp_path):
    units, vocabulary, want = made
    shuffled = units.take(np.random.default_rng(0).permutation(units.num_rows))
    engine.run(shuffled, tmp_path / "out", packed(vocabulary, tmp_path / "notes"), 2, WORKERS)
    assert pipeline.read_bins(tmp_path / "out").equals(want)
    assert sum(calls for calls, _, _ in noted(tmp_path / "notes")) == units.num_rows


def test_a_worker_that_is_killed_loses_and_doubles_nothing(made, engine, tmp_path):
    units, vocabulary, want = made
    middle = units.slice(units.num_rows // 2, 1).to_pylist()[0]
    pack = packed(vocabulary, tmp_path / "notes", die_at=(middle["file"], middle["first_row"] + 5))
    engine.run(units, tmp_path / "out", pack, 2, WORKERS)
    assert (tmp_path / "notes/died").exists()
    assert pipeline.read_bins(tmp_path / "out").equals(want)


def test_a_batch_that_fails_is_named_with_file_and_row(made, engine, tmp_path):
    units, vocabulary, _ = made
    path = units.slice(units.num_rows - 1, 1)["path"][0].as_py()
    pack = packed(vocabulary, tmp_path / "notes", fail_at=(1, GROUP + 7))
    with pytest.raises(Exception, match=rf"{re.escape(path)}, row {GROUP + 7} of the batch of rows {GROUP} \.\. "):
        engine.run(units, tmp_path / "out", pack, 2, WORKERS)


def test_memory_of_a_worker_is_bounded_by_the_batch(made, engine, tmp_path):
    """One file is eight times as large as the other; tasks are equal."""
    _, vocabulary, _ = made
    peaks = []
    for name, num_bytes in (("small", 5_000_000), ("large", 40_000_000)):
        directory, _ = corpus(tmp_path / name, num_bytes, 1 << 30, 4096)
        engine.run(
            pipeline.list_units(directory),
            tmp_path / f"{name}_out",
            packed(vocabulary, tmp_path / f"{name}_notes"),
            4,
            WORKERS,
        )
        peaks.append(max(peak for _, peak, _ in noted(tmp_path / f"{name}_notes")) * 1024)
    assert peaks[1] - peaks[0] < 24_000_000, peaks


# -- readers and partitions of the engines -----------------------------------------------------------------------------


def rows_of(output):
    """Read the result of `clean_and_tokenise`: tokens and texts, sorted by text."""
    tables = [pyarrow.parquet.ParquetFile(path).read() for path in pipeline.parquet_files(output)]
    rows = [
        (text, tuple(tokens), kept)
        for table in tables
        for text, tokens, kept in zip(*(table[name].to_pylist() for name in ("text", "tokens", "is_kept")), strict=True)
    ]
    return sorted(rows)


@pytest.mark.parametrize("batch_size", [97, 100_000])
def test_the_engines_own_reader_and_cut(made, engine, tmp_path, batch_size):
    units, vocabulary, _ = made
    files = sorted(set(units["path"].to_pylist()))
    text = pyarrow.concat_tables([pyarrow.parquet.read_table(file, columns=["text"]) for file in files])
    tokens = pipeline.tokenise(lodcore.from_arrow(text)["text"], vocabulary)
    want = sorted(
        (text, tuple(ids.tolist()), len(ids) >= pipeline.FEWEST)
        for text, ids in zip(text["text"].to_pylist(), tokens, strict=True)
    )
    function = functools.partial(pipeline.clean_and_tokenise, vocabulary=vocabulary)
    if engine.NAME == "spark":
        kinds = [("text", pyarrow.string()), ("path", pyarrow.string()), ("row", pyarrow.int64())]
        kinds += [("tokens", pyarrow.list_(pyarrow.int32())), ("is_kept", pyarrow.bool_())]
        engine.map_rows(
            files, arrow_batches(function, schema=pyarrow.schema(kinds)), tmp_path / "out", batch_size, SPARK_ROWS
        )
    elif engine.NAME == "dask":
        engine.map_rows(files, arrow_batches(function, max_rows=batch_size), tmp_path / "out", batch_size < 1000)
    else:
        engine.map_rows(files, arrow_batches(function), tmp_path / "out", batch_size)
    assert rows_of(tmp_path / "out") == want


def refuse(text):
    """Fail at one text."""
    if (text.values == ord("q")).any():
        raise ValueError("q")
    return {"text": text}


def test_the_paths_that_engines_read_are_named(engine, tmp_path):
    path = tmp_path / "letters.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"] * 600 + ["q"] + ["b"] * 300}), path)
    says = {
        "ray": rf"{re.escape(str(path))}, row \d+ of the batch",
        "spark": r"file:.*letters\.parquet, row 600 of the batch",
        "dask": r"row 600 of the batch of rows 0 \.\. 900: ValueError: q",
    }
    kinds = [("text", pyarrow.string()), ("path", pyarrow.string()), ("row", pyarrow.int64())]
    schema, cut, told = None, 250, ()
    if engine.NAME == "spark":
        schema, told = pyarrow.schema(kinds), ("text string, path string, row bigint",)
    elif engine.NAME == "dask":
        cut = True
    function = arrow_batches(refuse, schema=schema)
    with pytest.raises(Exception, match=says[engine.NAME]):
        engine.map_rows([str(path)], function, tmp_path / "out", cut, *told)


def test_the_example_of_the_page(engine, tmp_path):
    path = str(tmp_path / "numbers.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"values": [[1.0, 3.0], [], [5.0]]}), path)
    code = code_of("docs/how-to/beyond-one-machine.md")[0]
    *definitions, lines = code.strip().split("\n\n")
    with_ray, *with_dask, with_spark, without = lines.splitlines()
    kind = pyarrow.list_(pyarrow.float64())
    names = {"__name__": "__main__", "path": path, "pyarrow": pyarrow, **LIBRARIES}
    names["made"] = pyarrow.schema([("values", kind), ("centred", kind)])
    exec("\n\n".join(definitions), names)
    exec(without.replace("...", "assert batch.num_rows == 3"), names)
    if engine.NAME == "ray":
        found = eval(with_ray.partition("#")[0], names).take_all()
    elif engine.NAME == "dask":
        exec(with_dask[0], names)
        found = eval(with_dask[1].partition("#")[0], names).compute().to_dict("records")
    else:
        names["session"] = LIBRARIES["pyspark.sql"].SparkSession.getActiveSession()
        call = with_spark.replace("=...", "=made").replace('"..."', '"values array<double>, centred array<double>"')
        found = [row.asDict() for row in eval(call.partition("#")[0], names).collect()]
    assert [list(row["centred"]) for row in found] == [[-1.0, 1.0], [], [0.0]]
