"""The act of the demo with a reservoir: identify nine speakers by two vowels, without gradients."""

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from lodcore.demo.page import Glyphs, describe, print_heading
from lodcore.demo.vowels import page
from lodcore.demo.vowels.data import Recordings, load
from lodcore.demo.vowels.reservoir import BASELINE_RIDGE, SETTINGS, Network, Readout, mean_and_deviation

__all__ = ["play"]


def play(glyphs: Glyphs, num_seeds: int) -> None:
    """Play the act.

    Parameters
    ----------
    glyphs : Glyphs
        The characters to draw with.
    num_seeds : int
        The number of networks to train.
    """
    started = perf_counter()
    train, test = load()
    method = f"A random recurrent network of 2 x {SETTINGS.num_units} units reads them both ways;\n"
    method += "  only a ridge regression on its pooled states learns."
    page.print_task(train, test, method, glyphs)
    baseline = measure_baseline(train, test)
    print(f"  no recurrence   {describe(baseline, len(test.speakers))}", flush=True)
    accuracies, rates = [], []
    for seed in range(num_seeds):
        accuracy, rate, seconds = measure_network(train, test, seed)
        print(f"  seed {seed}          {describe(accuracy, len(test.speakers))}   {seconds:4.1f} s", flush=True)
        accuracies.append(accuracy)
        rates.append(rate)
    page.print_mistakes(accuracies, {"mean and deviation only": baseline}, glyphs)
    page.print_padding(train, test, glyphs)
    print_speed(float(np.median(rates)), perf_counter() - started, glyphs)


def measure_baseline(train: Recordings, test: Recordings) -> float:
    """Return the accuracy, in percent, of a readout of means and deviations."""
    readout = Readout.fit(mean_and_deviation(train.frames), train.speakers, BASELINE_RIDGE)
    return percent_right(readout.predict(mean_and_deviation(test.frames)), test)


def measure_network(train: Recordings, test: Recordings, seed: int) -> tuple[float, float, float]:
    """Draw a network, train it on one part and test it on the other.

    Returns
    -------
    accuracy : float
        The accuracy in percent.
    rate : float
        Frames per second through both directions of the network.
    seconds : float
        The total time.
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
    """Return the share of recordings, in percent, whose speaker is identified correctly."""
    return 100 * float(np.mean(speakers == test.speakers))


def print_speed(rate: float, seconds: float, glyphs: Glyphs) -> None:
    """Print the speed of the network, and the total time."""
    print_heading("Speed", glyphs)
    print(f"  {rate:,.0f} frames per second through both directions of the network")
    print(f"  {seconds:.1f} s in total\n")
