"""The command line of the engines."""

import argparse
import time
from pathlib import Path

from asv_benchmarks.engines import pipeline


def main(start, run, doc):
    """Pack a corpus with an engine, and print the speed.

    Parameters
    ----------
    start, run : callable
        The functions of the engine's module.
    doc : str
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a directory of Parquet files, as corpus.py writes them")
    parser.add_argument("output", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--units-per-task", type=int, default=16)
    parser.add_argument("--files", type=int, help="only the first ones")
    chosen = parser.parse_args()
    units = pipeline.list_units(chosen.corpus, chosen.files)
    chosen.output.mkdir(parents=True, exist_ok=True)
    vocabulary = pipeline.fit_vocabulary(chosen.corpus, chosen.output.resolve().with_suffix(".vocabulary.npz"))
    stop = start(chosen.workers)
    begin = time.perf_counter()
    run(units, chosen.output.resolve(), pipeline.PackUnits(vocabulary), chosen.units_per_task, chosen.workers)
    seconds = time.perf_counter() - begin
    stop()
    rows = sum(units["num_rows"].to_pylist())
    print(f"{rows:,} rows in {seconds:.1f} s: {rows / seconds:,.0f} rows/s with {chosen.workers} workers", flush=True)
    print(pipeline.checksum(chosen.output), flush=True)
