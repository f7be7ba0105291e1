"""Compare a recurrent layer with that of PyTorch, forward plus backward: run by hand where torch is installed.

    python asv_benchmarks/peers/recurrent.py [--lengths FILE] [--hidden 64 256] [--threads 1 2] [--rounds 5]

FILE is JSON, {name: [[lengths of a batch], ...]}; without one, lengths like those of English words are drawn. A layer
is as wide as its inputs; the loss is the sum of its outputs; gradients of inputs and weights. Forms of torch: `packed`,
a PackedSequence made outside the timing; `padded`, each batch to its longest; `sorted`, all sequences sorted by length
first, which no shuffled training has. Both take turns in one process: the median of processor seconds for one
thread, the least wall time for more. The table has torch's time over lodcore's: above 1 lodcore is faster.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path

for _library in ("OMP", "MKL", "OPENBLAS"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import numpy as np  # noqa: E402  after the variables that it reads
import torch  # noqa: E402
from torch.nn.utils.rnn import pack_sequence  # noqa: E402

import lodcore  # noqa: E402
from lodcore.ops.gates import Rule  # noqa: E402
from lodcore.ops.gru import GRUWeights, gru_backward, gru_forward  # noqa: E402
from lodcore.ops.lstm import LSTMWeights, lstm_backward, lstm_forward  # noqa: E402

GATES = {"lstm": 4, "gru": 3}
FORMS = ("packed", "padded", "sorted")


def words(size, total=512):
    """Draw batches of lengths like those of English words."""
    drawn = np.clip(np.random.default_rng(7).normal(7.5, 2.2, total).round(), 1, 22).astype(int).tolist()
    return [drawn[at : at + size] for at in range(0, total, size)]


def by_torch(cell, hidden, batches, form):
    """Make a call of torch that goes there and back through all batches."""
    torch.manual_seed(0)
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell](hidden, hidden)
    if form == "sorted":
        flat = sorted(size for batch in batches for size in batch)
        batches = [flat[at : at + len(batches[0])] for at in range(0, len(flat), len(batches[0]))]
    if form == "packed":
        given = [pack_sequence([torch.randn(size, hidden) for size in b], enforce_sorted=False) for b in batches]
    else:
        given = [torch.randn(max(batch), len(batch), hidden) for batch in batches]

    def call():
        for x in given:
            layer.zero_grad()
            if form == "packed":
                leaf = x._replace(data=x.data.detach().requires_grad_())
                layer(leaf)[0].data.sum().backward()
            else:
                layer(x.detach().requires_grad_())[0].sum().backward()

    return call


def by_lodcore(cell, hidden, batches):
    """Make a call of lodcore that goes there and back through all batches."""
    random, gates = np.random.default_rng(0), GATES[cell]
    weight, weight_x = (
        (random.standard_normal((hidden, gates * hidden)) / np.sqrt(hidden)).astype(np.float32) for _ in range(2)
    )
    bias = np.zeros(gates * hidden, np.float32)
    given = []
    for batch in batches:
        x = random.standard_normal((sum(batch), hidden)).astype(np.float32)
        given.append((x, np.append(0, np.cumsum(batch)), np.ones_like(x)))

    def call():
        for x, offsets, ones in given:
            if cell == "lstm":
                weights = LSTMWeights(weight, weight_x, bias)
                lstm_backward(lstm_forward(x, offsets, weights, Rule(), with_cell=False)[2], ones, None)
            else:
                gru_backward(gru_forward(x, offsets, GRUWeights(weight, weight_x, bias), Rule())[1], ones)

    return call


def measured(calls, threads, rounds):
    """Time calls in turns: seconds of each."""
    clock = time.process_time if threads == 1 else time.perf_counter
    found = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = clock()
            call()
            found[name].append(clock() - start)
    least = statistics.median if threads == 1 else min
    return {name: least(times[1:]) for name, times in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=Path)
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sets = json.loads(options.lengths.read_text()) if options.lengths else {f"words-{n}": words(n) for n in (32, 128)}
    print(f"torch {torch.__version__}, NumPy {np.__version__}")
    print(f"{'layer':28} {'k tokens/s':>10}  " + "  ".join(f"{form:>7}" for form in FORMS) + "  (torch / lodcore)")
    for name, batches in sets.items():
        for hidden in options.hidden:
            some = batches[: max(2, 2**25 // (hidden * hidden * len(batches[0]) * 8))]
            tokens = sum(map(sum, some))
            for cell in ("lstm", "gru"):
                for threads in options.threads:
                    torch.set_num_threads(threads)
                    lodcore.set_num_threads(threads)
                    calls = {form: by_torch(cell, hidden, some, form) for form in FORMS}
                    times = measured(calls | {"lodcore": by_lodcore(cell, hidden, some)}, threads, options.rounds)
                    ratios = "  ".join(f"{times[form] / times['lodcore']:7.2f}" for form in FORMS)
                    layer = f"{cell} {hidden} {name}, {threads} threads" if threads > 1 else f"{cell} {hidden} {name}"
                    print(f"{layer:28} {tokens / times['lodcore'] / 1e3:10.0f}  {ratios}", flush=True)


if __name__ == "__main__":
    main()
