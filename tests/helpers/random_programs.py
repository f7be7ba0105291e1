"""Draw programs and run them in every way: `python -m tests.helpers.random_programs --count 20000 --seed 0`."""

import argparse
import collections
import sys
import time
import traceback
import warnings

from tests.helpers.drawing.programs import draw_program
from tests.helpers.programs_as_python import as_python
from tests.helpers.programs_in_every_way import Disagreement, check_program, feeds_as_python
from tests.helpers.shrink_programs import shrink


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="how many kinds of failures are shrunk and printed")
    options = parser.parse_args()
    warnings.simplefilter("error")
    failures, start = collections.defaultdict(list), time.monotonic()
    for number in range(options.count):
        seed = options.seed + number
        program, feeds, fixed, meanings = draw_program(seed)
        try:
            check_program(program, feeds, fixed, meanings)
        except Disagreement as error:
            failures[error.kind].append(seed)
            if len(failures[error.kind]) == 1 and len(failures) <= options.show:
                print_failure(seed, error, *shrink(program, feeds, fixed, error))
        if (number + 1) % 500 == 0:
            count = sum(map(len, failures.values()))
            print(f"{number + 1} programs, {count} failures, {time.monotonic() - start:.0f} s", flush=True)
    for kind, seeds in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds):6} {kind}; seeds {seeds[:5]}")
    print(f"{options.count} programs from seed {options.seed}: {sum(map(len, failures.values()))} failures")
    return bool(failures)


def print_failure(seed, first, program, feeds, fixed, error):
    """Print a program that fails, after shrinking."""
    print(f"\n==== seed {seed}: {first.kind}\n{as_python(program)}\n{feeds_as_python(feeds)}")
    print(f"parameters in a Program: {fixed}\n{error}\n", flush=True)
    if error.__cause__ is not None:
        print("".join(traceback.format_exception(error.__cause__)[-2:]))


if __name__ == "__main__":
    sys.exit(main())
