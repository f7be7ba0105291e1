"""Conversions compared with the libraries' own calls, in one run: `python asv_benchmarks/peers/doors.py`.

It needs pyarrow, torch and datasets. Figures are medians of a few tenths of a second each; compare the ratios.
"""

import os
import tempfile
import time
import warnings

import numpy as np

import lodcore

SECONDS = 0.5


def median(call, seconds=SECONDS):
    """Measure the median time of a call in microseconds."""
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def line(name, ours, theirs, limit):
    """Print one comparison."""
    print(f"{name:<46}{ours:>11.1f}{theirs:>11.1f}{limit:>11.1f}   {'met' if ours <= limit else 'MISSED'}")


def batch(count, seed=0):
    """Draw sequences of 0 to 19 rows."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 20, count)
    return lodcore.LoDTensor.from_lengths(rng.random(int(lengths.sum()), np.float32), lengths)


def arrow(count):
    """Measure conversions from and to Arrow."""
    import pyarrow

    x = batch(count)
    offsets = x.offsets.copy()
    long = pyarrow.LargeListArray.from_arrays(offsets, x.values)
    short = pyarrow.ListArray.from_arrays(offsets.astype(np.int32), x.values)
    own = median(lambda: lodcore.LoD.from_offsets(offsets))
    line(f"Arrow in, int64, {count:,}", median(lambda: lodcore.from_arrow(long)), own, 30 + 1.2 * own)
    line(f"Arrow in, int32, {count:,}", median(lambda: lodcore.from_arrow(short)), own, 30 + 1.5 * own)
    line(f"Arrow out, {count:,}", median(lambda: pyarrow.array(x)), 0, 30)


def torch_doors(count):
    """Measure jagged tensors and packed sequences, compared with torch's own calls."""
    import torch

    lengths = np.random.default_rng(0).integers(1, 20, count)
    x = lodcore.LoDTensor.from_lengths(np.random.default_rng(1).random(int(lengths.sum()), np.float32), lengths)
    values, offsets = torch.from_numpy(x.values.copy()), torch.from_numpy(x.offsets.copy())
    made = torch.nested.nested_tensor_from_jagged
    low, high = int(lengths.min()), int(lengths.max())
    own = median(lambda: made(values, offsets, min_seqlen=low, max_seqlen=high))
    line(f"to_torch, jagged, {count:,}", median(lambda: lodcore.to_torch(x)), own, own + 10)
    jagged = made(values, offsets)
    own = median(lambda: (jagged.values().numpy(), jagged.offsets().numpy()))
    line(f"from_torch, jagged, {count:,}", median(lambda: lodcore.from_torch(jagged)), own, own + 10)
    pieces = [torch.from_numpy(piece.copy()) for piece in x.to_arrays()]
    own = median(lambda: torch.nn.utils.rnn.pack_sequence(pieces, enforce_sorted=False))
    line(f"to_torch, packed, {count:,}", median(lambda: lodcore.to_torch(x, "packed")), own, own + 10)
    packed = torch.nn.utils.rnn.pack_sequence(pieces, enforce_sorted=False)
    own = median(lambda: torch.nn.utils.rnn.unpack_sequence(packed))
    line(f"from_torch, packed, {count:,}", median(lambda: lodcore.from_torch(packed)), own, own + 10)


def folder(count):
    """Load a mapped folder, and take batches from it."""
    import datasets
    import pyarrow

    x = batch(count)
    rng = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as place:
        name = os.path.join(place, "corpus.lod")
        lodcore.save(name, x)
        offsets = x.offsets.copy()
        own = median(lambda: lodcore.LoD.from_offsets(offsets))
        line(f"load a folder, {count:,}", median(lambda: lodcore.load(name)), own, 1.2 * own)
        mapped = lodcore.load(name)
        line("x[i] of it", median(lambda: mapped[12345]), 0, 2)
        line("x[a:b] of it", median(lambda: mapped[1000:1032]), 0, 2)
        chunked = pyarrow.chunked_array([pyarrow.array(x, type=pyarrow.list_(pyarrow.float32()))])
        stored = datasets.Dataset(pyarrow.table({"v": chunked})).with_format("numpy")
        for size in (32, 256, 2048):
            index = rng.integers(0, count, size)
            ours = median(lambda index=index: lodcore.gather_sequences(mapped, index))
            theirs = median(lambda index=index: stored[index])
            line(f"a batch of {size:,}, datasets", ours, theirs, theirs / 10)
            whole, numbers = chunked.chunk(0), pyarrow.array(index)
            theirs = median(lambda whole=whole, numbers=numbers: whole.take(numbers))
            line(f"a batch of {size:,}, Arrow's take", ours, theirs, theirs / 1.2)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"{'microseconds':<46}{'lodcore':>11}{'library':>11}{'limit':>11}")
    for size in (4, 10_000, 1_000_000):
        arrow(size)
    for size in (4, 1_000, 10_000):
        torch_doors(size)
    folder(1_000_000)
