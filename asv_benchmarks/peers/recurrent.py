"""Compare a recurrent layer with that of PyTorch, forward plus backward; run it by hand where torch is installed.

    python asv_benchmarks/peers/recurrent.py [--lengths FILE] [--hidden 64 256] [--threads 1 2] [--rounds 5] [--all]

FILE is JSON, {name: [[lengths of a batch], ...]}; without one, lengths like those of English words are drawn. A layer
is as wide as its inputs; the loss is the sum of its outputs; gradients are those of inputs and weights. Forms of torch:
`packed`, a PackedSequence made outside the timing; `padded`, each batch padded to its longest sequence; `sorted`, with
all sequences sorted by length first, which does not occur in shuffled training. Both libraries take turns in one
process: the median of processor seconds for one thread, the minimum wall time for more. The table shows torch's time
divided by lodcore's: above 1, lodcore is faster. lodcore runs `nn.LSTM` and `nn.GRU` with `value_and_grad`; `looped` is
the same cell in `dynamic_rnn`, in thousands of tokens per second.
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
from lodcore import nn, ops  # noqa: E402

FORMS = ("packed", "padded", "sorted")


def words(size, total=512):
    """Draw batches of lengths like those of English words."""
    drawn = np.clip(np.random.default_rng(7).normal(7.5, 2.2, total).round(), 1, 22).astype(int).tolist()
    return [drawn[at : at + size] for at in range(0, total, size)]


def by_torch(cell, hidden, batches, form):
    """Make a call of torch that runs forward and backward through all batches."""
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


def by_lodcore(cell, hidden, batches, looped=False):
    """Make a call of lodcore that runs forward and backward through all batches: fused, or a cell in a loop."""
    random = np.random.default_rng(0)
    layer = {"lstm": nn.LSTM, "gru": nn.GRU}[cell](hidden, hidden)
    parameters = layer.init(random)
    given = [
        lodcore.LoDTensor.from_lengths(random.standard_normal((sum(batch), hidden)).astype(np.float32), batch)
        for batch in batches
    ]

    def loss(parameters, x):
        outputs, _ = nn.dynamic_rnn(layer.cell, parameters, x) if looped else layer(parameters, x)
        return ops.sum(outputs)

    step = lodcore.value_and_grad(loss, (0, 1))

    def call():
        for x in given:
            step(parameters, x)

    return call


def measured(calls, threads, rounds):
    """Time calls in turns: return the seconds of each."""
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
    parser.add_argument(
        "--all", action="store_true", help="all batches: a few wide ones are padded more or less by chance"
    )
    options = parser.parse_args()
    sets = (
        json.loads(options.lengths.read_text(encoding="utf-8"))
        if options.lengths
        else {f"words-{n}": words(n) for n in (32, 128)}
    )
    print(f"torch {torch.__version__}, NumPy {np.__version__}")
    print(
        f"{'layer':28} {'k tokens/s':>10}  "
        + "  ".join(f"{form:>7}" for form in FORMS)
        + "   looped  (torch / lodcore)"
    )
    for name, batches in sets.items():
        for hidden in options.hidden:
            most = len(batches) if options.all else max(2, 2**25 // (hidden * hidden * len(batches[0]) * 8))
            some = batches[:most]
            tokens = sum(map(sum, some))
            for cell in ("lstm", "gru"):
                for threads in options.threads:
                    torch.set_num_threads(threads)
                    lodcore.set_num_threads(threads)
                    calls = {form: by_torch(cell, hidden, some, form) for form in FORMS}
                    calls |= {"lodcore": by_lodcore(cell, hidden, some), "looped": by_lodcore(cell, hidden, some, True)}
                    times = measured(calls, threads, options.rounds)
                    ratios = "  ".join(f"{times[form] / times['lodcore']:7.2f}" for form in FORMS)
                    layer = f"{cell} {hidden} {name}, {threads} threads" if threads > 1 else f"{cell} {hidden} {name}"
                    speed, looped = (tokens / times[way] / 1e3 for way in ("lodcore", "looped"))
                    print(f"{layer:28} {speed:10.0f}  {ratios}  {looped:7.0f}", flush=True)


if __name__ == "__main__":
    main()
