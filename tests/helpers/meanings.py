"""The meaning of a program on its inputs: results, arrays, errors, and the directional derivative of a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.graph import programs
from reference.graph.values import Array, Nested, Unsized, rows

STEP = 1e-4


@dataclass
class Meaning:
    """The meaning of a program on a feed: an error, or results, arrays from outside, and a directional derivative."""

    error: str | None
    results: list[Any]
    arrays: dict[str, Array]
    directions: dict[str, Any]
    derivative: float = 0.0
    is_smooth: bool = True


def meaning(program, feed):
    """Run the interpreter."""
    try:
        results, arrays = programs.run(program, feed)
    except programs.ERRORS as error:
        return Meaning(type(error).__name__, [], programs.run_until_error(program, feed), {})
    random = np.random.default_rng(0)
    directions = {name: direction(random, value) for name, value in feed.items() if is_floating(value)}
    found, close = derivative(program, feed, directions)
    return Meaning(None, results, arrays, directions, found, close and abs(loss_of(results)) < 1e4)


def is_floating(value):
    return value.dtype == "float64" if isinstance(value, Nested) else np.asarray(value).dtype == np.float64


def direction(random, value):
    """Draw a value of the same structure."""
    if isinstance(value, Nested):
        return value.made([direction(random, part) for part in value.sequences], value.num_levels)
    return random.uniform(-1, 1, np.shape(value))


def moved(value, by, along):
    """Add a multiple of a direction."""
    if isinstance(value, Nested):
        parts = zip(value.sequences, along.sequences, strict=True)
        return value.made([moved(part, by, way) for part, way in parts], value.num_levels)
    return value + by * along


def derivative(program, feed, directions):
    """Differentiate the loss along directions of inputs by central differences; return also whether it is smooth."""

    def at(by):
        there = {name: moved(feed[name], by, along) for name, along in directions.items()}
        return loss_of(programs.run(program, {**feed, **there})[0])

    near, far = (at(STEP) - at(-STEP)) / (2 * STEP), (at(2 * STEP) - at(-2 * STEP)) / (4 * STEP)
    return (4 * near - far) / 3, abs(near - far) < 1e-5 * (1 + abs(near))


def weight(number):
    return 0.5 + 0.25 * (number % 3)


def loss_of(results):
    """Compute one number from all results."""
    total = 0.0
    for number, value in enumerate(results):
        if not isinstance(value, (Unsized, Array)) and is_floating(value):
            values = rows(value)
            total += weight(number) * float(np.sum(values * values + values))
    return total
