"""Training of the network that comes with the package.

Usage: OPENBLAS_NUM_THREADS=1 python -m lodcore.demo.pronounce.make [MINUTES [FILE]]

It trains a network of half the width on the training part of the dictionary, for a number of minutes of processor time,
and writes pronounce.npz. The progress per minute depends on the machine, so another run makes another file; the one in
the package was trained for 7 minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lodcore.demo.page import Glyphs
from lodcore.demo.pronounce import data, model
from lodcore.demo.pronounce.network import Network
from lodcore.demo.pronounce.picture import progress_line
from lodcore.demo.pronounce.training import Training

__all__ = ["SMALL", "main"]

SMALL = Network(width=128, embedding=64, dropout=0.15)
MINUTES = 7.0


def main(arguments: Sequence[str]) -> int:
    """Write the file.

    Parameters
    ----------
    arguments : sequence of str
        Minutes of processor time, and optionally the file to write.

    Returns
    -------
    int
        The exit code, 0.
    """
    minutes = float(arguments[0]) if arguments else MINUTES
    target = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).with_name(model.FILE)
    training = Training(SMALL, data.load())
    for progress in training.run(minutes):
        if progress.dev is not None:
            print(f"{progress_line(progress, minutes, Glyphs())}  {progress.dev}", flush=True)
    model.save(target, SMALL, training.parameters)
    print(f"{target}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
