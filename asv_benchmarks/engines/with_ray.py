"""The pipeline under Ray Data: `python -m asv_benchmarks.engines.with_ray CORPUS OUTPUT`.

Ray shows its progress itself: bars in a terminal, lines of a log elsewhere.
"""

import functools
import os
from pathlib import Path

import pyarrow

from asv_benchmarks.engines import pipeline

NAME = "ray"


def start(workers, **options):
    """Start Ray on this machine, with a number of workers; return a function that stops it."""
    pipeline.share_path()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # by default workers yield to other processes
    import ray
    import ray.data

    ray.init(num_cpus=workers, include_dashboard=False, **{"object_store_memory": 1 << 30, **options})
    context = ray.data.DataContext.get_current()
    # Ray reserves a multiple of this for each task; with its default, 128 MiB, it runs one task at a time
    context.target_max_block_size = 1 << 24
    context.op_resource_reservation_enabled = False  # and no worker is reserved for later steps
    return ray.shutdown


def run(units, output, pack, units_per_task=16, workers=2):
    """Pack a table of units, with one task and one file per number of units.

    A task whose worker dies is repeated, and writes a file of the same name. Workers write their files themselves:
    `write_parquet` would keep all bins of a task in memory, and copy them.
    """
    import ray.data

    Path(output).mkdir(parents=True, exist_ok=True)
    parts = pipeline.cut_units(units, units_per_task)
    write = functools.partial(pack.write, output=str(output))
    # one block, and so one call, per task (batch_size=None)
    written = ray.data.from_arrow(parts).map_batches(write, batch_format="pyarrow", batch_size=None)
    found = sum(row["rows"] for row in written.take_all())  # Dataset.sum would reserve a worker
    if found != sum(units["num_rows"].to_pylist()):
        raise RuntimeError(f"with_ray: units: {found} rows were packed of {units.num_rows} units, which have others")


def run_empty(count):
    """Run a number of empty tasks, to measure the cost of a task."""
    import ray.data

    parts = [pyarrow.table({"k": [k]}) for k in range(count)]
    ray.data.from_arrow(parts).map_batches(same, batch_format="pyarrow", batch_size=None).materialize()


def same(table):
    """Return the argument."""
    return table


def map_rows(files, function, output, batch_size):
    """Call a function of record batches on Parquet files as Ray reads and partitions them, and write the results."""
    import ray.data

    dataset = ray.data.read_parquet(files, include_paths=True)
    made = dataset.map_batches(function, batch_format="pyarrow", batch_size=batch_size)
    made.write_parquet(str(output))


if __name__ == "__main__":
    from asv_benchmarks.engines.command import main

    main(start, run, __doc__)
