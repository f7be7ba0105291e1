"""The two commands: `demo --pronounce` trains a network and answers queries, `pronounce` answers with a trained one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from lodcore.demo.page import Glyphs, print_heading
from lodcore.demo.pronounce import data, model
from lodcore.demo.pronounce.network import Network
from lodcore.demo.pronounce.picture import progress_line, word_lines
from lodcore.demo.pronounce.programs import programs
from lodcore.demo.pronounce.speaker import Speaker
from lodcore.demo.pronounce.training import Training

__all__ = ["pronounce", "train"]

MINUTES = 18.0
SAVED_EVERY = 30.0  # seconds of processor time, in addition to the end of each epoch


def pronounce(arguments: Sequence[str]) -> int:
    """Print the pronunciations of words, by the network that comes with the package.

    Parameters
    ----------
    arguments : sequence of str
        Words, or none for a prompt.

    Returns
    -------
    int
        The exit code: 0, or 1 if a word has a character that is not a letter.
    """
    parser = argparse.ArgumentParser(
        prog="lodcore pronounce",
        description="Find the most probable pronunciations of English words, in the phonemes of CMUdict.",
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="of letters a to z and apostrophes; none for a prompt")
    _add_search(parser)
    parser.add_argument("--attention", action="store_true", help="draw which letters each phoneme was found by")
    options = parser.parse_args(arguments)
    glyphs, speaker = Glyphs.for_encoding(sys.stdout.encoding), model.load()
    if not options.words:
        return _prompt(speaker, glyphs, options)
    for word in options.words:
        try:
            lines = word_lines(speaker, word, glyphs, options.beam, options.best, options.attention)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        print("\n".join(line.rstrip() for line in lines), flush=True)
    return 0


def train(arguments: Sequence[str]) -> int:
    """Train a network, and answer queries with it.

    Parameters
    ----------
    arguments : sequence of str

    Returns
    -------
    int
        The exit code: 0, or 1 if the dictionary is missing or the checkpoint is from other settings.
    """
    parser = argparse.ArgumentParser(
        prog="lodcore demo --pronounce",
        description="Learn to pronounce English words from CMUdict, in one thread, and answer.",
    )
    parser.add_argument("--pronounce", action="store_true", help="this act")
    parser.add_argument("--minutes", type=_minutes, default=MINUTES, help="processor time to train (default: 18)")
    parser.add_argument("--width", type=_count, default=256, help="of the network's states (default: 256)")
    parser.add_argument("--test", action="store_true", help="judge on the 12,525 words for the test, too")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=Path("lodcore-pronounce.npz"),
        metavar="FILE",
        help="saved during training, which continues from it (default: lodcore-pronounce.npz)",
    )
    _add_search(parser)
    options = parser.parse_args(arguments)
    glyphs = Glyphs.for_encoding(sys.stdout.encoding)
    try:
        words = data.load()
        training = Training(Network(options.width, max(1, options.width // 2)), words)
        if options.checkpoint.exists():
            training.resume(options.checkpoint)
    except (ImportError, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    _print_task(words, options, glyphs)
    try:
        _run(training, options.minutes, options.checkpoint, glyphs)
    except KeyboardInterrupt:  # the interrupted step may be incomplete, so it is not saved
        print(f"\n  stopped; the same command continues from {options.checkpoint}")
    speaker = Speaker(programs(training.network, training.parameters))
    if options.test:
        started = process_time()
        found = speaker.judge(words["test"], options.beam)
        count, seconds = len(words["test"].letters), process_time() - started
        print(f"\n  test, beam {options.beam}: {found}   {1e3 * seconds / count:.2f} ms per word")
    return _prompt(speaker, glyphs, options)


def _run(training: Training, minutes: float, checkpoint: Path, glyphs: Glyphs) -> None:
    """Train, and print the progress: a line that is overwritten, and a permanent one per epoch."""
    live, saved = sys.stdout.isatty(), training.seconds
    for progress in training.run(minutes):
        line = f"  {progress_line(progress, minutes, glyphs)}"
        if progress.dev is not None:
            print(f"\r{line}\n           dev: {progress.dev}", flush=True)
        elif live:
            print(f"\r{line}", end="", flush=True)
        if progress.dev is not None or progress.seconds - saved > SAVED_EVERY:
            training.save(checkpoint)
            saved = progress.seconds


def _prompt(speaker: Speaker, glyphs: Glyphs, options: argparse.Namespace) -> int:
    """Answer queries until there are no more."""
    print("\n  Type a word; an empty line ends.")
    while True:
        try:
            word = input("\n  word: ").strip()
        except (EOFError, KeyboardInterrupt):
            word = ""
        if not word:
            print()
            return 0
        try:
            lines = word_lines(speaker, word, glyphs, options.beam, options.best, picture=True)
        except ValueError as error:
            lines = [str(error)]
        print("\n".join(f"  {line}".rstrip() for line in lines), flush=True)


def _print_task(words: dict[str, data.Words], options: argparse.Namespace, glyphs: Glyphs) -> None:
    """Print the data and the task."""
    counts = {part: len(found.letters) for part, found in words.items()}
    print_heading("How is it pronounced?", glyphs)
    print(f"  {counts['train']:,} words of CMUdict to learn from, {counts['dev']:,} to watch,", end=" ")
    print(f"{counts['test']:,} for the test.")
    print(f"  An LSTM reads the letters both ways, {options.width} numbers each; another says phonemes")
    print("  and attends to the letters. Words of all lengths together, nothing is padded.\n", flush=True)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--beam", type=_count, default=4, help="branches of the search (default: 4)")
    parser.add_argument("--best", type=_count, default=3, help="pronunciations of a word (default: 3)")


def _count(text: str) -> int:
    """Parse a number from 1 to 9999."""
    count = int(text)
    if not 0 < count < 10_000:
        raise argparse.ArgumentTypeError(f"is {count}; a number from 1 to 9999 is needed")
    return count


def _minutes(text: str) -> float:
    """Parse a number of minutes."""
    minutes = float(text)
    if not 0 <= minutes < 1e6:
        raise argparse.ArgumentTypeError(f"is {minutes:g}; 0 minutes or more are needed")
    return minutes
