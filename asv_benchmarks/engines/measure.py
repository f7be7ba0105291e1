"""Rows per second with an engine and without: `python -m asv_benchmarks.engines.measure CORPUS ray`.

Both run the same function on the same units and write the same Parquet, in turn, on an otherwise idle machine. The
clock starts after the engine has started and each worker has had a task; the time of the start is printed separately.
"""

import argparse
import importlib
import multiprocessing
import shutil
import tempfile
import time
from pathlib import Path

from asv_benchmarks.engines import pipeline


def alone(units, output, pack, units_per_task, workers, pool):
    """Run a number of processes without an engine; each gets the same number of units."""
    each = -(-units.num_rows // workers)
    parts = [units.slice(first, each) for first in range(0, units.num_rows, each)]
    pool.starmap(pipeline.run_alone, [(part, output, pack, units_per_task) for part in parts], 1)


def timed(run, units, output, *arguments):
    """Time a run: return rows per second, and the checksum of the output, which is removed."""
    begin = time.perf_counter()
    run(units, output, *arguments)
    seconds = time.perf_counter() - begin
    checksum = pipeline.checksum(output)
    shutil.rmtree(output)
    return sum(units["num_rows"].to_pylist()) / seconds, checksum


def tasks_per_second(engine, workers, count=1000):
    """Measure how many empty tasks an engine runs per second."""
    stop = engine.start(workers)
    engine.run_empty(10 * workers)
    begin = time.perf_counter()
    engine.run_empty(count)
    seconds = time.perf_counter() - begin
    stop()
    return count / seconds


def measure(engine, units, pack, where, workers, units_per_task, rounds):
    """Measure an engine and processes without one, in turn; return their best rates."""
    begin = time.perf_counter()
    stop = engine.start(workers)
    few = units.slice(0, 2 * workers)
    engine.run(few, where / "warm", pack, 1, workers)
    print(f"{engine.NAME}: {workers} workers ready in {time.perf_counter() - begin:.1f} s", flush=True)
    rates, checksums = {"alone": [], engine.NAME: []}, []
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        alone(few, where / "warm_alone", pack, 1, workers, pool)
        for _ in range(rounds):
            for name, run, last in (("alone", alone, (workers, pool)), (engine.NAME, engine.run, (workers,))):
                rate, checksum = timed(run, units, where / name, pack, units_per_task, *last)
                print(f"{name}, {workers} workers: {rate:,.0f} rows/s, {checksum}", flush=True)
                rates[name].append(rate)
                checksums.append(checksum)
    stop()
    print(f"same bits: {all(checksum == checksums[0] for checksum in checksums)}", flush=True)
    return {name: max(found) for name, found in rates.items()}


def main():
    """Print one line per number of workers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("engine", choices=["ray", "dask", "spark"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--units-per-task", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--empty", action="store_true", help="how many tasks a second, which do nothing")
    chosen = parser.parse_args()
    pipeline.share_path()
    engine = importlib.import_module(f"asv_benchmarks.engines.with_{chosen.engine}")
    if chosen.empty:
        for workers in chosen.workers:
            print(
                f"{engine.NAME}, {workers} workers: {tasks_per_second(engine, workers):,.0f} empty tasks/s", flush=True
            )
        return
    units = pipeline.list_units(chosen.corpus).slice(0, chosen.units)
    where = Path(tempfile.mkdtemp(prefix="engines-"))
    try:
        pack = pipeline.PackUnits(pipeline.fit_vocabulary(chosen.corpus, where / "vocabulary.npz"))
        for workers in chosen.workers:
            best = measure(engine, units, pack, where, workers, chosen.units_per_task, chosen.rounds)
            lost = 1 - best[engine.NAME] / best["alone"]
            print(
                f"{workers} workers: {best['alone']:,.0f} rows/s without an engine, {best[engine.NAME]:,.0f} with "
                f"{engine.NAME}: {lost:.1%} lost",
                flush=True,
            )
    finally:
        shutil.rmtree(where, ignore_errors=True)


if __name__ == "__main__":
    main()
