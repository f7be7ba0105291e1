"""The output that both methods for the vowels share."""

from collections.abc import Mapping, Sequence

import numpy as np

from lodcore.demo.page import Glyphs, bar, padding_picture, print_heading
from lodcore.demo.vowels.data import Recordings

__all__ = ["print_mistakes", "print_padding", "print_task"]

LITERATURE = (("5-state hidden Markov model *", 96.2), ("passing-through regions *", 94.1))


def print_task(train: Recordings, test: Recordings, method: str, glyphs: Glyphs) -> None:
    """Print the data, the task, and the method."""
    lengths = np.concatenate([train.frames.lengths, test.frames.lengths])
    print_heading("Nine speakers, two vowels", glyphs)
    print(f"  {len(lengths)} recordings of {lengths.min()} to {lengths.max()} frames, 12 numbers per frame.")
    print(f"  Learn from {len(train.speakers)}; say who speaks in the other {len(test.speakers)}.")
    print(f"  {method} Nothing is padded.\n", flush=True)


def print_mistakes(accuracies: Sequence[float], baselines: Mapping[str, float], glyphs: Glyphs) -> None:
    """Print the error rates of networks, of baselines, and of others as bars."""
    average = float(np.mean(accuracies))
    print_heading("Mistakes", glyphs)
    print(f"  Average of the networks: {average:.2f} % right, ", end="")
    print(f"from {min(accuracies):.2f} to {max(accuracies):.2f}, deviation {np.std(accuracies):.2f}.\n")
    for name, accuracy in (("these networks", average), *baselines.items(), *LITERATURE):
        print(f"  {name:30}{100 - accuracy:5.1f} %  {bar(5 * (100 - accuracy), glyphs)}")
    print("\n  * as reported by the authors of the recordings, 1999")


def print_padding(train: Recordings, test: Recordings, glyphs: Glyphs) -> None:
    """Print the size of padded batches of the same recordings."""
    batches = (train.frames.lengths, test.frames.lengths)
    real = sum(int(lengths.sum()) for lengths in batches)
    padded = sum(len(lengths) * int(lengths.max()) for lengths in batches)
    print_heading("What padding would have cost", glyphs)
    for line in padding_picture(test.frames.lengths, 12, 2, glyphs):
        print(f"  {line}")
    print(f"\n  {glyphs.solid * 2} frame   {glyphs.padding * 2} padding", end="")
    print(f"   (a sample of the {len(test.speakers)}, by length)\n")
    for name, num_frames in (("two padded batches", padded), ("as they are", real)):
        size = f"{num_frames:6,} frames   {12 * num_frames:7,} numbers"
        print(f"  {name:20}{size}   {num_frames / real:5.2f} x")
