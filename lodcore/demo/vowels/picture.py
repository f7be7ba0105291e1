"""Plots of training and of the confusion matrix, with matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lodcore.base.drafts import replace
from lodcore.base.libraries import library
from lodcore.demo.vowels.learning import Trained

__all__ = ["check_file", "draw", "write"]

WHERE = "lodcore demo: --plot"


def check_file(file: str) -> None:
    """Check, before training, that a picture can be written.

    Raises
    ------
    ImportError
        If matplotlib is not installed; the message names the extra.
    ValueError
        If matplotlib does not write files with this ending.
    FileNotFoundError
        If the folder does not exist.
    """
    figure = library("matplotlib.figure", "plots", WHERE)
    library("matplotlib.backends.backend_agg", "plots", WHERE)
    ending, known = Path(file).suffix[1:].lower(), figure.Figure().canvas.get_supported_filetypes()
    if ending and ending not in known:
        raise ValueError(f"{WHERE}: {file}: ends with .{ending}; one of {', '.join(sorted(known))} is needed")
    if not Path(file).resolve().parent.is_dir():
        raise FileNotFoundError(f"{WHERE}: {file}: is in a folder that does not exist")


def draw(found: Sequence[Trained]) -> Any:
    """Plot losses and accuracies by epoch, one line per network, and the confusion matrix of all networks together.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = library("matplotlib.figure", "plots", WHERE).Figure(figsize=(12, 4), layout="constrained")
    losses, accuracies, matrix = figure.subplots(1, 3)
    for seed, one in enumerate(found):
        epochs = np.arange(1, len(one.epochs) + 1)
        losses.plot(epochs, [epoch.loss for epoch in one.epochs], label=f"seed {seed}")
        accuracies.plot(epochs, [epoch.accuracy for epoch in one.epochs])
    losses.set(title="loss", xlabel="epoch")
    losses.legend()
    average = np.mean([one.accuracy for one in found])
    accuracies.axhline(average, color="black", linestyle=":")
    accuracies.set(title=f"training accuracy (%); dotted: {average:.2f} in the test", xlabel="epoch")
    counts = np.sum([one.confusions for one in found], axis=0)
    speakers = range(len(counts))
    matrix.imshow(counts, cmap="Blues")
    matrix.set(title="confusion matrix", xlabel="predicted speaker", ylabel="speaker")
    matrix.set_xticks(speakers, [str(speaker + 1) for speaker in speakers])
    matrix.set_yticks(speakers, [str(speaker + 1) for speaker in speakers])
    for row, column in np.argwhere(counts).tolist():
        color = "white" if counts[row, column] > counts.max() / 2 else "black"
        matrix.text(column, row, str(counts[row, column]), ha="center", va="center", color=color, fontsize=8)
    return figure


def write(found: Sequence[Trained], file: str) -> None:
    """Plot to a file; its ending determines the format, by default PNG."""
    made = draw(found)
    replace(WHERE, file if Path(file).suffix else f"{file}.png", lambda draft: made.savefig(draft))
