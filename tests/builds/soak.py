"""The property tests on other examples than usual: `python -m tests.builds.soak SEED MINUTES`.

One run of the whole suite after another, each with a seed of its own, until the minutes are over. It ends at the first
run that fails, whose seed it printed: `pytest --hypothesis-seed=SEED` draws the same examples again.
"""

import sys
import time

from tests.builds import tree


def main() -> None:
    """Run until the time is over."""
    seed, minutes = int(sys.argv[1]), float(sys.argv[2])
    end = time.monotonic() + 60 * minutes
    while True:
        print(f"soak: seed {seed}", flush=True)
        command = (*tree.pytest("-x", f"--hypothesis-seed={seed}"), "-n", "auto", "--dist", "worksteal")
        tree.run(tree.ROOT, *command, HYPOTHESIS_PROFILE="soak")
        seed += 1
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    main()
