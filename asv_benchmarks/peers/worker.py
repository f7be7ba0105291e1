"""One peer in a separate process: reads commands as lines of JSON and answers each with a line. Started by run.py."""

import functools
import gc
import importlib
import json
import os
import sys
import time
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import common


class Way:
    """A way of the benchmarks as a peer; copy_out, in addition, copies into given memory."""

    def __init__(self, name):
        self.name = name
        self.VERSION = importlib.import_module("lodcore" if name.startswith("lodcore") else "numpy").__version__

    def prepare(self, operation, batch):
        file, question = operation.split(".")
        asked = getattr(importlib.import_module(f"benchmarks.{file}"), question)()
        if self.name == "copy_out" and hasattr(asked, "lodcore_out") and hasattr(asked, "copy"):
            source = asked.copy(batch)()
            out = source.copy()
            return lambda: np.copyto(out, source) or out
        if not hasattr(asked, self.name):
            raise NotImplementedError(f"{operation} has no {self.name}")
        return getattr(asked, self.name)(batch)

    @staticmethod
    def arrays(result):
        lod = getattr(result, "lod", result)
        levels = [lod.offsets(level) for level in range(lod.num_levels)]
        return levels if lod is result else [result.values, *levels]


class Library:
    """A library as a peer: its file with_NAME.py."""

    def __init__(self, name):
        module = importlib.import_module(f"with_{name}")
        self.VERSION, self.arrays, self.operations = module.VERSION, module.arrays, module.OPERATIONS

    def prepare(self, operation, batch):
        if operation not in self.operations:
            raise NotImplementedError(operation)
        return self.operations[operation](batch)


def arrays_of(result, arrays):
    """List the arrays of a result: a tuple has several, those of a list are joined."""
    if isinstance(result, tuple):
        return [array for part in result for array in arrays_of(part, arrays)]
    if isinstance(result, list):
        return [np.concatenate(parts) for parts in zip(*(arrays_of(part, arrays) for part in result), strict=True)]
    return [result] if isinstance(result, np.ndarray) else arrays(result)


def digest(array):
    """Compute a checksum of an array, including its shape: integers of any width alike, real numbers in 64 parts."""
    if array.dtype.kind == "f":
        flat = np.ascontiguousarray(array).reshape(-1)
        parts = np.array_split(flat, 64)
        return [*array.shape, *(float(part @ np.arange(1.0, len(part) + 1)) for part in parts)]
    return [*array.shape, zlib.crc32(np.ascontiguousarray(array, np.int64).data.cast("B"))]


def measure(call, seconds):
    """Return processor seconds per call: samples of a millisecond or more, until the time is over."""
    begin = time.process_time()
    call()
    return samples_of(call, max(1, int(1e-3 / max(time.process_time() - begin, 1e-7))), seconds)


def samples_of(call, number, seconds):
    """Return processor seconds per call: samples of a number of calls each, until the time is over."""
    samples = []
    gc.collect()
    gc.disable()
    end = time.perf_counter() + seconds
    while not samples or time.perf_counter() < end:
        begin = time.process_time()
        for _ in range(number):
            call()
        samples.append((time.process_time() - begin) / number)
    gc.enable()
    return samples


def serve(peer, orders, reply):
    """Execute commands: prepare an operation and return its checksum, then measure it as often as requested."""
    batch_of = functools.lru_cache(maxsize=1)(common.Batch)
    call = None
    for line in orders:
        order = json.loads(line)
        if "seconds" in order:
            reply(samples=measure(call, order["seconds"]))
            continue
        call = None
        try:
            batch = batch_of(*order["batch"])
            call = peer.prepare(order["operation"], batch)
            reply(digests=[digest(array) for array in arrays_of(call(), peer.arrays)])
        except NotImplementedError as error:
            reply(unavailable=str(error))
        except Exception as error:  # an operation fails, the others continue
            reply(failed=f"{type(error).__name__}: {error}")


def main():
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not mix with the replies

    def reply(**content):
        print(json.dumps(content), file=replies, flush=True)

    name = sys.argv[1]
    try:
        peer = Way(name) if name in (*common.WAYS, "copy_out") else Library(name)
    except ImportError as error:
        reply(missing=str(error))
        return
    reply(version=peer.VERSION)
    serve(peer, sys.stdin, reply)


if __name__ == "__main__":
    main()
