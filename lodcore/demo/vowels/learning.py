"""The act of the demo with gradients: identify nine speakers by two vowels, on real recordings."""

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lodcore.demo.page import Glyphs, describe, matrix_picture, print_heading, progress_bar
from lodcore.demo.vowels import page
from lodcore.demo.vowels.data import Recordings, load
from lodcore.demo.vowels.network import SETTINGS, Epoch, Network, Scale, Settings, confusion_matrix, percent_right

__all__ = ["Trained", "play", "train_network"]

REPORTS = 4  # lines that a network prints during training if a line cannot be overwritten


class Trained(NamedTuple):
    """The results of one network.

    Parameters
    ----------
    epochs : list of Epoch
    accuracy : float
        The accuracy in percent, on the test recordings.
    confusions : int64 ndarray, shape (9, 9)
        How often each speaker (row) was identified as each speaker (column).
    seconds : float
        The total time.
    """

    epochs: list[Epoch]
    accuracy: float
    confusions: NDArray[np.int64]
    seconds: float


def play(glyphs: Glyphs, num_seeds: int) -> list[Trained]:
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
    page.print_task(train, test, "A GRU reads them from both ends; all of it learns by gradients.\n ", glyphs)
    found = [train_network(train, test, SETTINGS, seed, glyphs) for seed in range(num_seeds)]
    page.print_mistakes([one.accuracy for one in found], {}, glyphs)
    print_confusions(np.sum([one.confusions for one in found], axis=0), num_seeds, glyphs)
    page.print_padding(train, test, glyphs)
    frames = SETTINGS.num_epochs * train.frames.num_rows + test.frames.num_rows
    rates = [frames / one.seconds for one in found]
    print_heading("Speed", glyphs)
    print(f"  {np.median(rates):,.0f} frames per second, forward and backward, in training")
    print(f"  {perf_counter() - started:.1f} s in total\n")
    return found


def train_network(train: Recordings, test: Recordings, settings: Settings, seed: int, glyphs: Glyphs) -> Trained:
    """Train on one part, and test once on the other after the last epoch; print the progress."""
    started = perf_counter()
    scale = Scale.of(train.frames, settings.whitening)
    network = Network(train.frames.values.shape[1], settings, np.random.default_rng(seed))
    epochs: list[Epoch] = []
    for epoch in network.learn(train._replace(frames=scale.apply(train.frames))):
        epochs.append(epoch)
        print_progress(seed, epochs, settings.num_epochs, glyphs, sys.stdout.isatty())
    named = network.name_speakers(scale.apply(test.frames))
    accuracy, seconds = percent_right(named, test.speakers), perf_counter() - started
    print(f"  seed {seed}   {describe(accuracy, len(test.speakers))}   {seconds:4.1f} s", flush=True)
    return Trained(epochs, accuracy, confusion_matrix(named, test.speakers), seconds)


def print_progress(seed: int, epochs: Sequence[Epoch], count: int, glyphs: Glyphs, writes_anew: bool) -> None:
    """Print a bar, and the loss and accuracy of the last epoch, in a line that is overwritten, or in a few lines."""
    done = len(epochs)
    line = f"  seed {seed}   {progress_bar(done, count, 20, glyphs)} epoch {done:3d} of {count}"
    line += f"   loss {epochs[-1].loss:.3f}   learnt {epochs[-1].accuracy:5.1f} %"
    if writes_anew:
        print(f"\r{line}", end="\n" if done == count else "", flush=True)
    elif done * REPORTS // count > (done - 1) * REPORTS // count:
        print(line, flush=True)


def print_confusions(confusions: NDArray[np.int64], num_networks: int, glyphs: Glyphs) -> None:
    """Print the confusion matrix."""
    print_heading("Who is taken for whom", glyphs)
    networks = "the network" if num_networks == 1 else f"{num_networks} networks together"
    print(f"  A row for each speaker; columns: who {networks} said it was.\n")
    for line in matrix_picture(confusions, glyphs):
        print(f"  {line}")
