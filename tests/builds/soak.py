"""Runs the property tests on other examples than usual: `python -m tests.builds.soak SEED MINUTES`.

They run repeatedly, each time with another seed, until the time is over. It stops at the first run that fails and
prints its seed: `pytest --hypothesis-seed=SEED` draws the same examples again.
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
        command = (
            *tree.pytest("-x", "-m", "hypothesis", f"--hypothesis-seed={seed}"),
            "-n",
            "auto",
            "--dist",
            "worksteal",
        )
        tree.run(tree.ROOT, *command, HYPOTHESIS_PROFILE="soak", OPENBLAS_NUM_THREADS="1")
        seed += 1
        if time.monotonic() > end:
            break


if __name__ == "__main__":
    main()
