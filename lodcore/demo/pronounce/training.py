"""Training within a budget of processor time, with a checkpoint to continue from.

Each epoch processes all pronunciations once, in batches of words of one length, in an order that depends only on the
seed and the epoch; so training continues in the middle of an epoch as if it had never stopped. The learning rate rises
for some steps and then decreases with the spent part of the budget, along half a period of a cosine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lodcore
from lodcore import LoDTensor, nn
from lodcore.demo.pronounce.data import Words
from lodcore.demo.pronounce.network import Network, Parameters, with_ends
from lodcore.demo.pronounce.programs import programs
from lodcore.demo.pronounce.scoring import Score
from lodcore.demo.pronounce.speaker import Speaker

__all__ = ["SETTINGS", "Progress", "Settings", "Training", "batches_of"]

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Settings:
    """All choices of the method, except the sizes of the network."""

    batch_size: int = 64  # pronunciations
    rate: float = 1.5e-3  # peak learning rate
    warmup_steps: int = 200
    least: float = 0.02  # final learning rate, relative to the peak
    limit: float = 2.0  # limit of the global norm of gradients
    seed: int = 1


SETTINGS = Settings()


class Progress(NamedTuple):
    """The progress of training.

    Parameters
    ----------
    epoch : int
        The number of the epoch, from 1.
    part : float
        The completed part of the epoch, 0 .. 1.
    seconds : float
        The processor time of training so far.
    tokens : int
        The number of letters, phonemes and ends processed so far.
    loss : float
        The mean loss of this epoch so far.
    dev : Score or None
        The score on the words for development, at the end of an epoch and of training.
    """

    epoch: int
    part: float
    seconds: float
    tokens: int
    loss: float
    dev: Score | None


class Training:
    """The training of parameters.

    Parameters
    ----------
    network : Network
    words : dict of Words
        "train" and "dev".
    settings : Settings
    clock : callable
        Returns seconds; processor time by default.
    """

    def __init__(
        self,
        network: Network,
        words: dict[str, Words],
        settings: Settings = SETTINGS,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.network, self.words, self.settings, self.clock = network, words, settings, clock
        self.letters, phonemes = words["train"].pairs()
        self.given, self.wanted = with_ends(phonemes)
        self.random = np.random.default_rng(settings.seed)
        self.parameters: Parameters = network.init(self.random)
        self.optimizer = nn.Adam(self._rate)
        self.state = self.optimizer.init(self.parameters)
        self.epoch, self.batch, self.seconds, self.tokens = 0, 0, 0.0, 0
        self.losses: tuple[float, int] = (0.0, 0)  # the sum in this epoch, and its number of batches
        self._spent = 0.0  # the spent part of the budget

    def run(self, minutes: float) -> Iterator[Progress]:
        """Train until a total processor time is spent; yield after each step.

        Parameters
        ----------
        minutes : float
            The total time, including that before the checkpoint, excluding that for the words for development.

        Yields
        ------
        Progress
            Has the score on the words for development after each epoch, and at the end.
        """
        budget, step = 60 * minutes, lodcore.value_and_grad(self.network.loss)
        while self.seconds < budget:
            batches = batches_of(self.letters, self.settings.batch_size, self.settings.seed + self.epoch)
            for index in batches[self.batch :]:
                started, self._spent = self.clock(), min(1.0, self.seconds / budget)
                letters, given, wanted = (
                    lodcore.gather_sequences(x, index) for x in (self.letters, self.given, self.wanted)
                )
                loss, gradients = step(self.parameters, letters, given, given.with_values(wanted.values), self.random)
                gradients, _ = nn.clip_by_global_norm(gradients, self.settings.limit)
                self.parameters, self.state = self.optimizer.step(self.parameters, gradients, self.state, in_place=True)
                self.batch += 1
                self.losses = self.losses[0] + float(loss), self.losses[1] + 1
                self.tokens += letters.num_rows + given.num_rows
                self.seconds += self.clock() - started
                if self.seconds >= budget:
                    break
                yield self._progress(self.batch / len(batches), None)
            progress = self._progress(self.batch / len(batches), self.dev_score())
            if self.batch == len(batches):
                self.epoch, self.batch, self.losses = self.epoch + 1, 0, (0.0, 0)
            yield progress

    def dev_score(self) -> Score:
        """Compute the errors of a greedy search on the words for development."""
        return Speaker(programs(self.network, self.parameters)).judge(self.words["dev"], 1)

    def _rate(self, step: int) -> float:
        settings = self.settings
        wave = settings.least + (1 - settings.least) * (1 + math.cos(math.pi * self._spent)) / 2
        return settings.rate * min(1.0, (step + 1) / settings.warmup_steps) * wave

    def _progress(self, part: float, dev: Score | None) -> Progress:
        mean = self.losses[0] / max(1, self.losses[1])
        return Progress(self.epoch + 1, part, self.seconds, self.tokens, mean, dev)

    # -- checkpoints ---------------------------------------------------------------------------------------------------

    def save(self, file: Path) -> None:
        """Save the state of training; an existing file is replaced atomically."""
        lodcore.save(file, {
            "network": asdict(self.network), "settings": asdict(self.settings), "parameters": self.parameters,
            "state": self.state, "random": self.random.bit_generator.state, "epoch": self.epoch, "batch": self.batch,
            "seconds": self.seconds, "tokens": self.tokens, "losses": self.losses,
        })  # fmt: skip

    def resume(self, file: Path) -> None:
        """Continue from a checkpoint.

        Raises
        ------
        ValueError
            If the checkpoint is from another network, or from other settings.
        """
        found: Any = lodcore.load(file)
        for name, mine in (("network", asdict(self.network)), ("settings", asdict(self.settings))):
            theirs = found.get(name) if isinstance(found, dict) else None
            if theirs != mine:
                raise ValueError(f"pronounce: checkpoint: {file} has {name} {theirs}; {mine} is needed")
        self.parameters, self.state = found["parameters"], found["state"]
        self.random.bit_generator.state = found["random"]
        self.epoch, self.batch, self.seconds = found["epoch"], found["batch"], found["seconds"]
        self.tokens, self.losses = found["tokens"], tuple(found["losses"])


def batches_of(letters: LoDTensor, size: int, seed: int) -> list[Int64]:
    """Divide words into batches of one length, in a random order.

    Examples
    --------
    >>> words = lodcore.array([[1], [2, 3], [4], [5], [6, 7]])
    >>> sorted(sorted(batch.tolist()) for batch in batches_of(words, 2, seed=0))
    [[0], [1, 4], [2, 3]]
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(letters))
    order = order[np.argsort(letters.lengths[order], kind="stable")]
    cuts = np.flatnonzero(np.diff(letters.lengths[order])) + 1
    batches = [part[start : start + size] for part in np.split(order, cuts) for start in range(0, len(part), size)]
    return [batches[j] for j in random.permutation(len(batches))]
