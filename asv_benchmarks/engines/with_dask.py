"""The pipeline under Dask: `python -m asv_benchmarks.engines.with_dask CORPUS OUTPUT`.

`distributed.progress` draws a bar in the terminal.
"""

import functools

import pyarrow

from asv_benchmarks.engines import pipeline

NAME = "dask"


def start(workers, **options):
    """Start a scheduler and a number of worker processes on this machine; return a function that stops them."""
    pipeline.share_path()
    from dask.distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, **options)
    client = Client(cluster)

    def stop():
        client.close()
        cluster.close()

    return stop


def as_frame(table):
    """Make a DataFrame with Arrow columns."""
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def bins_of(units, pack):
    """Pack some units: the function of a task."""
    return as_frame(pack.table(units))


def run(units, output, pack, units_per_task=16, workers=2):
    """Pack a table of units, with one task and one file per number of units.

    A task whose worker dies is repeated by another worker, and writes a file of the same name.
    """
    import dask.dataframe

    parts = pipeline.cut_units(units, units_per_task)
    meta = as_frame(pipeline.BINS.empty_table())
    bins = dask.dataframe.from_map(functools.partial(bins_of, pack=pack), parts, meta=meta)
    write(bins, output, pipeline.BINS)


def write(frame, output, schema):
    """Write a DataFrame to Parquet with a progress bar."""
    from dask.distributed import get_client, progress

    written = frame.to_parquet(
        str(output), schema=schema, write_index=False, compute=False, compression="snappy", use_dictionary=False
    )
    future = get_client().compute(written)
    progress(future, notebook=False)
    future.result()


def run_empty(count):
    """Run a number of empty tasks, to measure the cost of a task."""
    from dask.distributed import get_client

    client = get_client()
    client.gather(client.map(abs, range(count), pure=False))


def map_rows(files, function, output, batch_size):
    """Call a function of record batches on Parquet files as Dask reads and partitions them, and write the results."""
    import dask.dataframe

    frame = dask.dataframe.read_parquet(files, dtype_backend="pyarrow", split_row_groups=batch_size)
    meta = function(frame._meta)
    schema = pyarrow.Schema.from_pandas(meta, preserve_index=False)
    write(frame.map_partitions(function, meta=meta), output, schema)


if __name__ == "__main__":
    from asv_benchmarks.engines.command import main

    main(start, run, __doc__)
