"""The demo, ``lodcore demo``: real data, in two acts."""

import argparse
import sys
from collections.abc import Callable, Sequence

from lodcore.demo import glosses, pronounce
from lodcore.demo.page import Glyphs
from lodcore.demo.vowels import learning, listening, picture

__all__ = ["main"]

ACTS = ("vowels", "glosses")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the word ``demo``; none if left out.

    Returns
    -------
    int
        The exit code: 0, or 1 if a picture cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog="lodcore demo",
        description="Tell nine speakers apart by two vowels; then find the topics of dictionary entries.",
    )
    parser.add_argument("--only", choices=ACTS, help="play one of the two acts")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="networks to try in each act (default: 5)")
    parser.add_argument(
        "--reservoir", action="store_true", help="tell speakers apart by a network that stays random, and nothing else"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw how the networks of the vowels learn, to a file (needs matplotlib)"
    )
    parser.add_argument("--pronounce", action="store_true", help="learn to pronounce words instead (has more options)")
    if "--pronounce" in (argv or []):
        return pronounce.train(argv or [])
    options = parser.parse_args(argv or [])
    if options.plot is not None and (options.reservoir or options.only == "glosses"):
        parser.error("--plot: draws networks of the vowels that learn; leave out --reservoir and --only glosses")
    if options.reservoir and options.only == "glosses":
        parser.error("--reservoir: is of the vowels; leave out --only glosses")
    glyphs, num_seeds = Glyphs.for_encoding(sys.stdout.encoding), max(1, options.seeds)
    if options.reservoir:
        listening.play(glyphs, num_seeds)
        return 0
    if options.plot is not None and not told(lambda: picture.check_file(options.plot)):
        return 1
    if options.only != "glosses":
        found = learning.play(glyphs, num_seeds)
        if options.plot is not None:
            if not told(lambda: picture.write(found, options.plot)):
                return 1
            print(f"  {options.plot} shows it.\n")
    if options.only != "vowels":
        glosses.play(glyphs, num_seeds)
    return 0


def told(act: Callable[[], None]) -> bool:
    """Run an act and return True; on an error, print it and return False."""
    try:
        act()
    except (ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return False
    return True
