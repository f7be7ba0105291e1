"""Corpora for the tests of engines, and workers that die, fail, or record their memory."""

import importlib
import os
import resource
import signal
from pathlib import Path

from asv_benchmarks.engines import pipeline
from asv_benchmarks.engines.corpus import glosses_of_demo, write_corpus

GROUP = 512


def corpus(directory, num_bytes, file_bytes, group=GROUP):
    """Write a corpus; return its directory and the file of its vocabulary."""
    write_corpus(directory, glosses_of_demo(), num_bytes, file_bytes, group)
    return directory, pipeline.fit_vocabulary(directory, directory.with_suffix(".vocabulary.npz"))


def watched(text, row, file, vocabulary, budget, notes, die_at=None, fail_at=None):
    """Pack a unit, and record the memory of the process; die once, or always fail, at a document.

    Parameters
    ----------
    text, row, file, vocabulary, budget
        As in `pipeline.pack_unit`.
    notes : str
        A directory with one file per process: its content is the peak memory of the process, its name the number of
        calls.
    die_at, fail_at : (int, int), optional
        File and row.
    """
    if die_at is not None and (file == die_at[0]).any() and (row == die_at[1]).any():
        try:
            os.close(os.open(Path(notes) / "died", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    if fail_at is not None and ((file == fail_at[0]) & (row == fail_at[1])).any():
        raise ValueError("this document cannot be packed")
    made = pipeline.pack_unit(text, row, file, vocabulary, budget)
    note = Path(notes) / f"worker-{os.getpid()}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = [int(line) for line in note.read_text(encoding="utf-8").split()] if note.exists() else [0, peak]
    note.write_text(f"{before[0] + 1} {before[1]} {peak}", encoding="utf-8")
    return made


def noted(directory):
    """Read the record of each worker: its number of calls, its peak KiB, and the KiB since its first call."""
    notes = [
        [int(word) for word in path.read_text(encoding="utf-8").split()] for path in Path(directory).glob("worker-*")
    ]
    return [(calls, last, last - first) for calls, first, last in notes]


def start_patiently(engine, workers, attempts=5):
    """Start an engine; on a busy machine Ray takes longer than it waits for itself and its workers."""
    busy = {"_system_config": {"worker_register_timeout_seconds": 600}}
    for attempt in range(attempts):
        try:
            return engine.start(workers, **(busy if engine.NAME == "ray" else {}))
        except Exception as error:
            if "timed out during startup" not in str(error) or attempt == attempts - 1:
                raise
            importlib.import_module("ray").shutdown()
