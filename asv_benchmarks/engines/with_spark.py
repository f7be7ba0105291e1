"""The pipeline under Spark, which needs Java: `python -m asv_benchmarks.engines.with_spark CORPUS OUTPUT`.

Spark draws a bar for each stage (`spark.ui.showConsoleProgress`).
"""

import os
import sys
from pathlib import Path

import pyarrow

from asv_benchmarks.engines import pipeline

NAME = "spark"


def start(workers, **options):
    """Start Spark on this machine with some workers; return a function that stops it. Tasks run up to four times."""
    pipeline.share_path()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{workers},4]").appName("lodcore")
    settings = {
        "spark.ui.showConsoleProgress": "true",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "2",
        **options,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session.stop


def run(units, output, pack, units_per_task=16, workers=2):
    """Pack a table of units, with one task and one file per number of units.

    A task whose worker dies is repeated, and writes a file of the same name. Workers write their files themselves:
    otherwise all bins would go through Java's memory, row by row.
    """
    from pyspark.sql import SparkSession

    Path(output).mkdir(parents=True, exist_ok=True)
    session = SparkSession.getActiveSession()
    # Spark partitions a table of Arrow by this size, in its order; Java hands the partitions out, so that a task needs
    # one Python worker, where Python rows would need a second one to decode them
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(units_per_task))
    frame = session.createDataFrame(units)

    def write(batches):
        tables = [pyarrow.Table.from_batches([batch]) for batch in batches]
        if tables:
            yield from pack.write(pyarrow.concat_tables(tables), str(output)).to_batches()

    written = frame.mapInArrow(write, "path string, rows bigint, bins bigint").collect()
    found = sum(row["rows"] for row in written)
    if found != sum(units["num_rows"].to_pylist()):
        raise RuntimeError(f"with_spark: units: {found} rows were packed of {units.num_rows} units, which have others")


def run_empty(count):
    """Run a number of empty tasks, to measure the cost of a task."""
    from pyspark.sql import SparkSession

    SparkSession.getActiveSession().sparkContext.parallelize(range(count), count).map(abs).count()


def map_rows(files, function, output, batch_size, schema):
    """Call a function of record batches on Parquet files as Spark reads and partitions them, and write the results."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(batch_size))
    frame = session.read.parquet(*files).selectExpr("*", "_metadata.file_path AS path", "_metadata.row_index AS row")
    frame.mapInArrow(function, schema).write.mode("overwrite").parquet(str(output))


if __name__ == "__main__":
    from asv_benchmarks.engines.command import main

    main(start, run, __doc__)
