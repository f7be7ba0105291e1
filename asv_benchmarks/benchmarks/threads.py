"""Wide operators in one thread and in two.

`python -m benchmarks.threads` prints a table: the minimum of many wall times, where the two numbers of threads take
turns, so that other load on the machine affects both.
"""

import sys
from functools import partial
from time import perf_counter

import numpy as np

from lodcore import (
    embedding_bag,
    gather_sequences,
    get_num_threads,
    lookup_table,
    row_conv,
    sequence_cumsum,
    sequence_enumerate,
    sequence_expand_as,
    sequence_logsumexp,
    sequence_pad,
    sequence_pool,
    sequence_reverse,
    sequence_slice,
    sequence_softmax,
    sequence_sort,
    sequence_topk,
    sequence_unpad,
    set_num_threads,
    vjp,
)

from .common import Batch

SIZES = {1: 1_000_000, 64: 100_000}  # rows by their width
DISTRIBUTIONS = ["uniform", "long"]
THREADS = [1, 2]


def pooled(kind):
    return lambda batch: lambda: sequence_pool(batch.tensor, kind)


def pulled_back(operator):
    def make(batch):
        y, pullback = vjp(operator, batch.tensor)
        return lambda: pullback(y)

    return make


def tokens_of(batch):
    from lodcore import LoDTensor

    return LoDTensor.from_offsets(batch.rng("tokens").integers(0, 20_000, batch.rows), batch.offsets)


def table_of(batch):
    return batch.rng("table").standard_normal((20_000, batch.width)).astype(batch.dtype)


def rows_of(batch):
    shape = (len(batch),) if batch.width == 1 else (len(batch), batch.width)
    return np.ones(shape, batch.dtype)


def unpadded(batch):
    padded, lengths = sequence_pad(batch.tensor)
    return lambda: sequence_unpad(padded, lengths)


CALLS = {
    "pool sum": pooled("sum"),
    "pool max": pooled("max"),
    "pool first": pooled("first"),
    "pool sum, backward": pulled_back(lambda x: sequence_pool(x, "sum")),
    "pool max, backward": pulled_back(lambda x: sequence_pool(x, "max")),
    "softmax": lambda batch: lambda: sequence_softmax(batch.tensor),
    "softmax, backward": pulled_back(sequence_softmax),
    "logsumexp": lambda batch: lambda: sequence_logsumexp(batch.tensor),
    "cumsum": lambda batch: lambda: sequence_cumsum(batch.tensor),
    "expand_as": lambda batch: partial(sequence_expand_as, rows_of(batch), batch.tensor),
    "reverse": lambda batch: lambda: sequence_reverse(batch.tensor),
    "gather": lambda batch: lambda: gather_sequences(batch.tensor, batch.permutation),
    "slice": lambda batch: lambda: sequence_slice(batch.tensor, batch.piece_starts, batch.piece_sizes),
    "pad": lambda batch: lambda: sequence_pad(batch.tensor),
    "unpad": unpadded,
    "sort": lambda batch: lambda: sequence_sort(batch.tensor),
    "topk": lambda batch: lambda: sequence_topk(batch.tensor, 4),
    "row_conv": lambda batch: partial(row_conv, batch.tensor, rows_of(batch)[:3]),
    "enumerate": lambda batch: partial(sequence_enumerate, tokens_of(batch), 3),
    "lookup": lambda batch: partial(lookup_table, table_of(batch), tokens_of(batch)),
    "bag": lambda batch: partial(embedding_bag, table_of(batch), tokens_of(batch)),
}
OF_NUMBERS = {"enumerate"}  # rows are single numbers, for any width
DRAWN = {}


def drawn(distribution, width):
    """Draw a batch, once."""
    key = distribution, width
    if key not in DRAWN:
        DRAWN.clear()
        DRAWN[key] = Batch(distribution, width, "float32", SIZES[width], most_padded=2**29)
    return DRAWN[key]


def prepared(call, distribution, width):
    """Make a call; raise NotImplementedError, for asv "not available", for skipped combinations."""
    if (call in OF_NUMBERS and width > 1) or ("pad" in call and distribution == "long"):
        raise NotImplementedError
    return CALLS[call](drawn(distribution, width))


class Threads:
    """Seconds of a call of a wide operator."""

    params = [DISTRIBUTIONS, list(SIZES), list(CALLS), THREADS]
    param_names = ["distribution", "width", "call", "threads"]
    repeat = (5, 50, 0.2)
    rounds = 1
    warmup_time = 0.02

    def setup(self, distribution, width, call, threads):
        set_num_threads(threads)
        self.call = prepared(call, distribution, width)

    def teardown(self, *parameters):
        set_num_threads(1)

    def time_call(self, *parameters):
        self.call()


def least(call, seconds):
    """Return the minimum wall times of a call, by numbers of threads."""
    found = dict.fromkeys(THREADS, float("inf"))
    end = perf_counter() + seconds
    while perf_counter() < end:
        for threads in THREADS:
            set_num_threads(threads)
            for _ in range(3):
                started = perf_counter()
                call()
                found[threads] = min(found[threads], perf_counter() - started)
    return found


def main():
    """Print the table, of all calls or the named ones."""
    before = get_num_threads()
    for distribution in DISTRIBUTIONS:
        for width in SIZES:
            for name in sys.argv[1:] or CALLS:
                try:
                    call = prepared(name, distribution, width)
                except NotImplementedError:
                    continue
                one, two = least(call, 1).values()
                print(f"{distribution:8} {width:3} {name:20} {one * 1e3:8.3f} ms {two * 1e3:8.3f} ms {two / one:5.2f}")
    set_num_threads(before)


if __name__ == "__main__":
    main()
