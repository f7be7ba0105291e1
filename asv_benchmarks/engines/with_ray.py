"""The pipeline under Ray Data: `python -m asv_benchmarks.engines.with_ray CORPUS OUTPUT`.

Ray shows how far it is by itself: bars in a terminal, lines of a log elsewhere.
"""

import os

from asv_benchmarks.engines import pipeline

NAME = "ray"


def start(workers, **options):
    """Start Ray on this machine, with so many workers; return what stops it."""
    pipeline.share_path()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray
    import ray.data

    ray.init(num_cpus=workers, include_dashboard=False, **{"object_store_memory": 1 << 30, **options})
    # what Ray sets aside for each task is a multiple of this; with its default, 128 MiB, it runs one task at a time
    ray.data.DataContext.get_current().target_max_block_size = 1 << 24
    return ray.shutdown


def run(units, output, pack, units_per_task=16, workers=2):
    """Pack a table of units; one task, and one file, for so many of them.

    A task whose worker dies is run again and writes a file of the same name.
    """
    import ray.data

    parts = [units.slice(first, units_per_task) for first in range(0, units.num_rows, units_per_task)]
    dataset = ray.data.from_arrow(parts)
    # one call a task (batch_size=None), which yields one table a unit; to compute and to write are one task
    bins = dataset.map_batches(pack.tables, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)
    bins.write_parquet(str(output), compression="snappy", use_dictionary=False)


def map_rows(files, function, output, batch_size):
    """Call a function of record batches on Parquet files as Ray reads and cuts them, and write what it returns."""
    import ray.data

    dataset = ray.data.read_parquet(files, include_paths=True)
    made = dataset.map_batches(function, batch_format="pyarrow", batch_size=batch_size)
    made.write_parquet(str(output))


if __name__ == "__main__":
    from asv_benchmarks.engines.command import main

    main(start, run, __doc__)
