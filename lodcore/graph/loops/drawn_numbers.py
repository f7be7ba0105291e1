"""Random numbers of compiled steps: drawn for all steps before they run, as the operators draw them one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from lodcore.operators.operands import Array
from lodcore.ops.networks.gates import Bundle

__all__ = ["Draw", "drawn"]


class Draw(NamedTuple):
    """A random number of float32, 0 or more and less than 1, for each number of the rows of a step.

    Attributes
    ----------
    generator : numpy.random.Generator
    width : int
        The numbers of a row.
    """

    generator: Any
    width: int


def drawn(draws: list[Draw], offsets: Array, is_reverse: bool, dtype: Any) -> list[Array]:
    """Draw the numbers of all steps: an array with a row for each row of the batch, for each draw.

    The order is that of the steps; in a step it is that of the draws, each for all rows of the step, longest sequence
    first.
    """
    bundle = Bundle(offsets, 0, len(offsets) - 1, is_reverse)
    steps, n_rows = bundle.steps, int(offsets[-1])
    counts = np.diff(steps)
    number = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(n_rows) - steps[number]
    rows = bundle.starts[place] + (-number if is_reverse else number)
    made = [np.empty((n_rows, one.width), dtype) for one in draws]
    for some in _by_source(draws):
        widths = [draws[j].width for j in some]
        whole = sum(widths)
        numbers = draws[some[0]].generator.random(n_rows * whole, np.float32)
        if len(some) == 1:
            made[some[0]][rows] = numbers.reshape(n_rows, whole)
            continue
        before = 0
        for j, width in zip(some, widths, strict=True):
            first = steps[number] * whole + counts[number] * before + place * width
            made[j][rows] = numbers[first[:, None] + np.arange(width)]
            before += width
    return made


def _by_source(draws: Iterable[Draw]) -> list[list[int]]:
    """Return the numbers of the draws from each source of random bits."""
    found: dict[int, list[int]] = {}
    for j, one in enumerate(draws):
        found.setdefault(id(one.generator.bit_generator), []).append(j)
    return list(found.values())
