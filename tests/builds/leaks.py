"""Call everything many times, and check that memory does not grow.

python -m tests.builds.leaks [--count N] [--seconds S] [NAME ...] makes N calls of each case whose name contains one of
the words NAME, in at most S seconds per case. It fails if a call leaks.
"""

import argparse
import gc
import sys
import time

from tests.helpers.kept_memory import growth, resident
from tests.helpers.leak_cases import CASES

LEAST = 100  # objects: caches and free lists may take as many
BYTES = 40_000


def main():
    """Run the selected cases, and print what each leaked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    chosen = [name for name in CASES if not options.words or any(word in name for word in options.words)]
    if not chosen:
        raise SystemExit("leaks: no case has such a name")
    gc.collect()
    gc.freeze()  # so that existing objects are not traversed each time
    leaking, total, before = [], 0, 0
    for number, name in enumerate(chosen):
        made, objects, size = kept_by(CASES[name](), options.count, options.seconds)
        before = before or resident()
        total += made
        leaks = objects > LEAST + made // 1000 or size > BYTES + made
        leaking += [name] * leaks
        print(f"{name:70} {made:8} calls, {objects:6} objects, {size:8} bytes{'  LEAK' * leaks}", flush=True)
        if number == len(chosen) - 1:
            print(f"{total} calls; {(resident() - before) / 2**20:.1f} MiB more than after the first case")
    if leaking:
        raise SystemExit(f"leaks: {len(leaking)} of {len(chosen)}: {', '.join(leaking)}")


def kept_by(call, count, seconds):
    """Call a number of times, or for some time; return the calls per round, and leaked objects and bytes."""
    for _ in range(20):  # the first call imports, and fills caches
        call()
    start = time.process_time()
    for _ in range(20):
        call()
    each = max(time.process_time() - start, 1e-6) / 20
    times = max(500, min(count, int(seconds / (each * 2.2))))  # most cases need two rounds

    def repeat(times):
        for _ in range(times):
            call()

    return times, *growth(repeat, times)


if __name__ == "__main__":
    sys.exit(main())
