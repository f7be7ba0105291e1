"""The demo, ``python -m lodcore demo``: real data, in two acts."""

import argparse
import sys
from collections.abc import Sequence

from lodcore.demo import glosses, pronounce, vowels
from lodcore.demo.page import Glyphs

__all__ = ["main"]

ACTS = {"vowels": vowels.play, "glosses": glosses.play}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the word ``demo``; none if left out.

    Returns
    -------
    int
        The exit code.
    """
    parser = argparse.ArgumentParser(
        prog="python -m lodcore demo",
        description="Tell nine speakers apart by two vowels; then find the topics of dictionary entries.",
    )
    parser.add_argument("--only", choices=ACTS, help="play one of the two acts")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="networks to try in each act (default: 5)")
    parser.add_argument("--pronounce", action="store_true", help="learn to pronounce words instead (has more options)")
    if "--pronounce" in (argv or []):
        return pronounce.train(argv or [])
    options = parser.parse_args(argv or [])
    glyphs = Glyphs.for_encoding(sys.stdout.encoding)
    for name, play in ACTS.items():
        if options.only in (None, name):
            play(glyphs, max(1, options.seeds))
    return 0
