"""The first act of the demo: tell nine speakers apart by two vowels, on real recordings."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from lodcore.demo.page import Glyphs, bar, describe, padding_picture, print_heading
from lodcore.demo.vowels.data import Recordings, load
from lodcore.demo.vowels.reservoir import BASELINE_RIDGE, SETTINGS, Network, Readout, mean_and_deviation

__all__ = ["play"]

LITERATURE = (("5-state hidden Markov model *", 96.2), ("passing-through regions *", 94.1))


def play(glyphs: Glyphs, num_seeds: int) -> None:
    """Play the act.

    Parameters
    ----------
    glyphs : Glyphs
        What to draw with.
    num_seeds : int
        Networks to try.
    """
    started = perf_counter()
    train, test = load()
    print_task(train, test, glyphs)
    baseline = measure_baseline(train, test)
    print(f"  no recurrence   {describe(baseline, len(test.speakers))}", flush=True)
    accuracies, rates = [], []
    for seed in range(num_seeds):
        accuracy, rate, seconds = measure_network(train, test, seed)
        print(f"  seed {seed}          {describe(accuracy, len(test.speakers))}   {seconds:4.1f} s", flush=True)
        accuracies.append(accuracy)
        rates.append(rate)
    print_comparison(accuracies, baseline, glyphs)
    print_padding(train, test, glyphs)
    print_speed(float(np.median(rates)), perf_counter() - started, glyphs)


def measure_baseline(train: Recordings, test: Recordings) -> float:
    """Give the accuracy, in percent, of a readout of means and deviations."""
    readout = Readout.fit(mean_and_deviation(train.frames), train.speakers, BASELINE_RIDGE)
    return percent_right(readout.predict(mean_and_deviation(test.frames)), test)


def measure_network(train: Recordings, test: Recordings, seed: int) -> tuple[float, float, float]:
    """Draw a network, learn from one part and judge on the other.

    Returns
    -------
    accuracy : float
        In percent.
    rate : float
        Frames a second through both directions of the network.
    seconds : float
        For everything.
    """
    started = perf_counter()
    network = Network.draw(train.frames, SETTINGS, seed)
    drawn = perf_counter()
    features, test_features = network.features(train.frames), network.features(test.frames)
    rate = (train.frames.num_rows + test.frames.num_rows) / (perf_counter() - drawn)
    readout = Readout.fit(features, train.speakers, SETTINGS.ridge)
    accuracy = percent_right(readout.predict(test_features), test)
    return accuracy, rate, perf_counter() - started


def percent_right(speakers: NDArray[np.int64], test: Recordings) -> float:
    """Give the share of recordings, in percent, whose speaker is named rightly."""
    return 100 * float(np.mean(speakers == test.speakers))


def print_task(train: Recordings, test: Recordings, glyphs: Glyphs) -> None:
    """Print what is given and what is asked."""
    lengths = np.concatenate([train.frames.lengths, test.frames.lengths])
    print_heading("Nine speakers, two vowels", glyphs)
    print(f"  {len(lengths)} recordings of {lengths.min()} to {lengths.max()} frames, 12 numbers a frame.")
    print(f"  Learn from {len(train.speakers)}; say who speaks in the other {len(test.speakers)}.")
    print(f"  A random recurrent network of 2 x {SETTINGS.num_units} units reads them both ways;")
    print("  only a ridge regression on its pooled states learns. Nothing is padded.\n", flush=True)


def print_comparison(accuracies: Sequence[float], baseline: float, glyphs: Glyphs) -> None:
    """Print the mistakes of this method and of others as bars."""
    average = float(np.mean(accuracies))
    print_heading("Mistakes", glyphs)
    print(f"  Average of the networks: {average:.2f} % right, ", end="")
    print(f"from {min(accuracies):.2f} to {max(accuracies):.2f}, deviation {np.std(accuracies):.2f}.\n")
    for name, accuracy in (("these networks", average), ("mean and deviation only", baseline), *LITERATURE):
        print(f"  {name:30}{100 - accuracy:5.1f} %  {bar(5 * (100 - accuracy), glyphs)}")
    print("\n  * as reported by the authors of the recordings, 1999")


def print_padding(train: Recordings, test: Recordings, glyphs: Glyphs) -> None:
    """Print what padded batches of the same recordings would have held."""
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


def print_speed(rate: float, seconds: float, glyphs: Glyphs) -> None:
    """Print how fast the network ran, and how long everything took."""
    print_heading("Speed", glyphs)
    print(f"  {rate:,.0f} frames a second through both directions of the network")
    print(f"  {seconds:.1f} s in all\n")
